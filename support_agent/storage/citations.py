"""Who was told what: the runs whose answers cited a version of a policy, newest first and a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, LiteralString
from uuid import UUID

from policies.session import TenantSession

_RECORDINGS: Final[LiteralString] = """
SELECT v.recorded_from,
       v.document_id IN (SELECT s.document_id FROM policy_versions AS s
                          WHERE s.tenant_id = %(tenant)s AND s.policy_id = %(policy)s AND s.version = %(version)s
                            AND s.recorded_to IS NULL),
       %(clause)s::text IS NULL OR EXISTS (
           SELECT FROM policy_clauses AS c
            WHERE c.tenant_id = %(tenant)s AND c.document_id = v.document_id AND c.anchor = %(clause)s)
  FROM policy_versions AS v
 WHERE v.tenant_id = %(tenant)s AND v.policy_id = %(policy)s AND v.version = %(version)s
"""

_WHO_CITED: Final[LiteralString] = """
  FROM run_citations
 WHERE tenant_id = %(tenant)s AND policy_id = %(policy)s AND version = %(version)s
   AND (%(clause)s::text IS NULL OR clause = %(clause)s)
   AND (%(role)s::text IS NULL OR role = %(role)s)
   AND recorded_at >= coalesce(%(since)s::timestamptz, '-infinity')
   AND recorded_at < coalesce(%(before)s::timestamptz, 'infinity')
   AND (NOT %(only_outdated)s OR recording_from = ANY(%(outdated)s::timestamptz[]))
"""
_COUNT: Final[LiteralString] = f"SELECT count(DISTINCT run_id) {_WHO_CITED}"
_PAGE: Final[LiteralString] = f"""
SELECT p.run_id, p.recorded_at, p.clauses, p.governs, p.outdated, r.asked_at, r.status, r.customer_id, r.conversation,
       r.receipt #>> '{{question,text}}', r.receipt #>> '{{outcome,answer}}'
  FROM (SELECT recorded_at, run_id, array_agg(DISTINCT clause) AS clauses, bool_or(role = 'governing') AS governs,
               bool_or(recording_from = ANY(%(outdated)s::timestamptz[])) AS outdated
        {_WHO_CITED}
           AND (recorded_at, run_id) < (%(last_at)s, %(last_run)s)
         GROUP BY recorded_at, run_id
         ORDER BY recorded_at DESC, run_id DESC
         LIMIT %(limit)s) AS p
 CROSS JOIN LATERAL (
    -- A look-up by key for each run, whatever the planner believes of their number.
    SELECT * FROM runs WHERE tenant_id = %(tenant)s AND run_id = p.run_id OFFSET 0
 ) AS r
 ORDER BY p.recorded_at DESC, p.run_id DESC
"""
#: After every run.
END: Final = (datetime(9000, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recordings:
    """What the store has held of one version."""

    #: Starts of the recordings whose text is no longer the one that stands.
    outdated: tuple[datetime, ...]
    #: Whether any of them has the clause that was asked about.
    has_clause: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationsWanted:
    """Which answers are looked for: those that cited a version, or one clause of it."""

    policy: str
    version: str
    clause: str | None = None
    role: Literal["governing", "considered"] | None = None
    #: Recorded from then on, and before.
    since: datetime | None = None
    before: datetime | None = None
    #: Starts of outdated recordings, and whether only answers that read one are wanted.
    outdated: tuple[datetime, ...] = ()
    only_outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CitingRun:
    """A run whose answer cited what was asked about."""

    run_id: UUID
    recorded_at: datetime
    clauses: tuple[str, ...]
    role: Literal["governing", "considered"]
    #: Whether it read a text that was corrected since.
    outdated: bool
    asked_at: datetime
    status: str
    customer: str | None
    conversation: str | None
    question: str
    answer: str


async def recordings(
    session: TenantSession, policy: str, version: str, *, clause: str | None = None
) -> Recordings | None:
    """What the store has held of a version, also one that it holds no longer; None when it never had it."""
    parameters = {"tenant": session.tenant_id, "policy": policy, "version": version, "clause": clause}
    rows = await session.fetch(_RECORDINGS, parameters)
    if not rows:
        return None
    outdated = tuple(start for start, stands, _ in rows if not stands)
    return Recordings(outdated=outdated, has_clause=any(has_clause for _, _, has_clause in rows))


async def count(session: TenantSession, wanted: CitationsWanted) -> int:
    """How many runs cited it."""
    return int((await session.fetch(_COUNT, _wanted(session, wanted)))[0][0])


async def citing(
    session: TenantSession, wanted: CitationsWanted, *, after: tuple[datetime, UUID] = END, limit: int
) -> list[CitingRun]:
    """The runs that cited it, newest first, from the one after `after` (when it was recorded, and its id)."""
    page = {**_wanted(session, wanted), "last_at": after[0], "last_run": after[1], "limit": limit}
    return [
        CitingRun(
            run_id=row[0],
            recorded_at=row[1],
            clauses=tuple(row[2]),
            role="governing" if row[3] else "considered",
            outdated=row[4],
            asked_at=row[5],
            status=row[6],
            customer=row[7],
            conversation=row[8],
            question=row[9],
            answer=row[10],
        )
        for row in await session.fetch(_PAGE, page)
    ]


def _wanted(session: TenantSession, wanted: CitationsWanted) -> dict[str, Any]:
    return {
        "tenant": session.tenant_id,
        "policy": wanted.policy,
        "version": wanted.version,
        "clause": wanted.clause,
        "role": wanted.role,
        "since": wanted.since,
        "before": wanted.before,
        "outdated": list(wanted.outdated),
        "only_outdated": wanted.only_outdated,
    }
