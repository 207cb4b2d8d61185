"""Which words the documents in force have: what a glossary leads to, and what a question says that none has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from policies.session import TenantSession

_IN_FORCE: Final[LiteralString] = """
    select p.text_id
    from policy_versions v join policy_passages p on p.tenant_id = v.tenant_id and p.document_id = v.document_id
    where v.tenant_id = %(tenant)s and v.recorded_to is null and v.valid_from <= %(on)s
      and (v.valid_to is null or v.valid_to > %(on)s)
"""
_TEXTS: Final[LiteralString] = f"""
select o.token, array_agg(o.text_id) from passage_postings o
where o.tenant_id = %(tenant)s and o.token = any(%(tokens)s) and o.text_id in ({_IN_FORCE})
group by o.token
"""
_CHINESE: Final[LiteralString] = f"""
select distinct o.token from passage_postings o
where o.tenant_id = %(tenant)s and o.token ~ '^[\u3400-\u9fff]{{2,}}$' and o.text_id in ({_IN_FORCE})
"""
_SEARCHED: Final[LiteralString] = """
select text_id, text from passage_texts where tenant_id = %(tenant)s and text_id = any(%(ids)s)
"""


async def texts_in_force(
    session: TenantSession, tokens: Iterable[str], *, on: datetime
) -> Mapping[str, frozenset[UUID]]:
    """The passages in force `on` that have each of `tokens`, for whichever audience; a token of none is left out."""
    parameters = {"tenant": session.tenant_id, "tokens": sorted(set(tokens)), "on": on}
    return {token: frozenset(texts) for token, texts in await session.fetch(_TEXTS, parameters)}


async def chinese_in_force(session: TenantSession, *, on: datetime) -> list[str]:
    """The Chinese words, and pairs of neighbouring characters, of the passages in force `on`."""
    return [token for (token,) in await session.fetch(_CHINESE, {"tenant": session.tenant_id, "on": on})]


async def searched_texts(session: TenantSession, text_ids: Iterable[UUID]) -> Mapping[UUID, str]:
    """What is searched of passages: the headings above each, and its text."""
    rows = await session.fetch(_SEARCHED, {"tenant": session.tenant_id, "ids": list(text_ids)})
    return dict(rows)
