"""Who was told what a clause says: the recorded answers that cited it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final, Literal

from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.request import first_instant
from support_agent.storage import citations
from support_agent.storage.citations import END, CitationsWanted, CitingRun

#: Answers read in one transaction.
PAGE: Final = 500
#: `policy@version`, `policy@version#clause` or `policy#clause@version`.
_CITED: Final = re.compile(
    r"(?P<policy>[^@#]+)(?:@(?P<version>[^@#]+)(?:#(?P<clause>[^@#]+))?|#(?P<anchor>[^@#]+)@(?P<of>[^@#]+))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """Answers of one page, as JSON values."""

    #: In all pages.
    n_total: int
    answers: list[dict[str, Any]]


async def affected(
    application: Application,
    tenant: str,
    cited: str,
    *,
    role: Literal["governing", "considered"] | None = None,
    since: str | None = None,
    recorded_before: str | None = None,
    only_outdated: bool = False,
) -> AsyncGenerator[Affected, None]:
    """The recorded answers that cited a clause of a version, or any of its clauses.

    Args:
        application: The application.
        tenant: Its slug.
        cited: `policy@version` or `policy@version#clause`.
        role: Only where it governed the answer, or was only considered.
        since: Only answers recorded from then on.
        recorded_before: Only answers recorded before.
        only_outdated: Only answers that read a text which was corrected since.

    Yields:
        Pages, newest first; one without answers when there are none.

    Raises:
        InvalidRequestError: `cited` is neither.
        NotFoundError: The store never had such a version or clause.
    """
    policy, version, clause = _read(cited)
    async with application.open_tenant(tenant) as (session, settings):
        held = await citations.recordings(session, policy, version, clause=clause)
        if held is None:
            raise NotFoundError("policy version", f"{policy}@{version}", hint="`support-agent policy list` shows them")
        if not held.has_clause:
            hint = f"`support-agent policy show {policy}@{version}` shows its clauses"
            raise NotFoundError("clause", f"{policy}@{version}#{clause}", hint=hint)
        wanted = CitationsWanted(
            policy=policy,
            version=version,
            clause=clause,
            role=role,
            since=first_instant("--since", since, zone=settings.zone),
            before=first_instant("--recorded-before", recorded_before, zone=settings.zone),
            outdated=held.outdated,
            only_outdated=only_outdated,
        )
        n_total = await citations.count(session, wanted)
    after = END
    while True:
        # A transaction a page: whoever reads slowly keeps nothing open.
        async with application.open_session(tenant) as session:
            found = await citations.citing(session, wanted, after=after, limit=PAGE)
        if found or after == END:
            yield Affected(n_total=n_total, answers=[_answer_json(one) for one in found])
        if len(found) < PAGE:
            return
        after = found[-1].recorded_at, found[-1].run_id


def _read(cited: str) -> tuple[str, str, str | None]:
    match = _CITED.fullmatch(cited)
    if match is None:
        raise InvalidRequestError("CLAUSE", "must be POLICY@VERSION or POLICY@VERSION#CLAUSE")
    return match["policy"], match["version"] or match["of"], match["clause"] or match["anchor"]


def _answer_json(run: CitingRun) -> dict[str, Any]:
    return {
        "run_id": str(run.run_id),
        "recorded_at": run.recorded_at.isoformat(),
        "asked_at": run.asked_at.isoformat(),
        "customer": run.customer,
        "conversation": run.conversation,
        "status": run.status,
        "role": run.role,
        "clauses": list(run.clauses),
        "outdated": run.outdated,
        "question": run.question,
        "answer": run.answer,
    }
