"""References in a clause's text to clauses: `policy#clause`, or `policy@version#clause`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, LiteralString

from policies.session import TenantSession
from policies.version import Reference

# Chinese has no spaces: a name in Latin letters ends where they do.
REFERENCE: Final = re.compile(
    r"(?<![A-Za-z0-9_/.-])(?P<policy>[a-z0-9][A-Za-z0-9_.-]*)(?:@(?P<version>[A-Za-z0-9_.-]*[A-Za-z0-9_]))?"
    r"#(?P<clause>[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|[\w-]+)"
)

# What looks like a reference and names no policy is none.
_GONE: Final[LiteralString] = """
select r.place from unnest(%(policies)s::text[], %(versions)s::text[], %(clauses)s::text[]) with ordinality
    as r (policy_id, version, clause, place)
where exists (select from policy_versions v where v.tenant_id = %(tenant)s and v.policy_id = r.policy_id)
  and not exists (
      select from policy_versions v
      join policy_clauses c on c.tenant_id = v.tenant_id and c.document_id = v.document_id and c.anchor = r.clause
      where v.tenant_id = %(tenant)s and v.policy_id = r.policy_id and v.recorded_to is null
        and (v.version = r.version or (r.version is null and exists (
            select from unnest(%(instants)s::timestamptz[]) as i (instant)
            where v.valid_from <= i.instant and (v.valid_to is null or v.valid_to > i.instant)))))
order by r.place
"""


def references_in(text: str) -> list[Reference]:
    """What `text` refers to, in its order."""
    return [
        Reference(policy=found["policy"], version=found["version"], clause=found["clause"])
        for found in REFERENCE.finditer(text)
    ]


async def gone(
    session: TenantSession, references: Iterable[Reference], *, instants: Iterable[datetime]
) -> list[Reference]:
    """Those of `references` that name a policy of the store, but no clause that it has.

    Args:
        session: A session of the tenant.
        references: What a text refers to.
        instants: Where no version is named, one that is in force at any of these has the clause.
    """
    asked: Sequence[Reference] = list(dict.fromkeys(references))
    parameters = {
        "tenant": session.tenant_id,
        "policies": [reference.policy for reference in asked],
        "versions": [reference.version for reference in asked],
        "clauses": [reference.clause for reference in asked],
        "instants": list(instants),
    }
    return [asked[row[0] - 1] for row in await session.fetch(_GONE, parameters)]
