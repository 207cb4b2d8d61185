"""Runs in the database: one write a question, with what it cited and the escalation it may have made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from typing import Any, cast
from uuid import UUID

import orjson

from connectors.base import Evidence
from policies.session import TenantSession
from policies.version import Period
from support_agent.domain.conflict import Candidate, Conflict, Resolution
from support_agent.domain.question import Earlier, Language, Question
from support_agent.domain.run import Run

#: Version of the receipt's layout, for readers of old runs.
RECEIPT_FORMAT = 1

_RECORD = """
WITH run AS (
    INSERT INTO runs (tenant_id, run_id, asked_at, status, customer_id, conversation, revision, receipt)
    VALUES (%(tenant)s, %(run)s, %(asked_at)s, %(status)s, %(customer)s, %(conversation)s, %(revision)s,
            %(receipt)s::json)
    RETURNING run_id, recorded_at
), cited AS (
    INSERT INTO run_citations (tenant_id, run_id, policy_id, version, clause, role, recording_from, recorded_at)
    SELECT %(tenant)s, run.run_id, c.policy_id, c.version, c.clause, c.role, c.recording_from, run.recorded_at
      FROM run, unnest(%(policies)s::text[], %(versions)s::text[], %(clauses)s::text[], %(roles)s::text[],
                       %(recordings)s::timestamptz[]) AS c (policy_id, version, clause, role, recording_from)
)
INSERT INTO escalations (tenant_id, escalation_id, run_id, reason, need)
SELECT %(tenant)s, %(escalation)s, %(run)s, %(reason)s, %(need)s
 WHERE %(escalation)s::uuid IS NOT NULL
"""

_QUESTIONS = """
SELECT r.run_id, r.recorded_at, r.customer_id, r.conversation, r.receipt->>'format', r.receipt->'question', p.total
  FROM (SELECT run_id, recorded_at, count(*) OVER () AS total
          FROM runs
         WHERE tenant_id = %(tenant)s
           AND (%(since)s::timestamptz IS NULL OR recorded_at >= %(since)s)
           AND (%(customer)s::text IS NULL OR customer_id = %(customer)s)
         ORDER BY recorded_at DESC, run_id DESC
         LIMIT %(limit)s) AS p
 CROSS JOIN LATERAL (
    -- Only of these runs is the receipt unpacked.
    SELECT * FROM runs WHERE tenant_id = %(tenant)s AND run_id = p.run_id OFFSET 0
 ) AS r
 ORDER BY p.recorded_at DESC, p.run_id DESC
"""

_UNRECOGNISED = """
SELECT receipt->'question'->>'text', receipt->'reading'->>'language', status, receipt->'plan'->>'topic'
  FROM runs
 WHERE tenant_id = %(tenant)s
   AND (%(since)s::timestamptz IS NULL OR recorded_at >= %(since)s)
   AND status IN ('answered', 'answered_with_conflict', 'needs_clarification', 'no_answer')
   AND receipt->'plan'->>'playbook' IS NULL
   AND json_array_length(receipt->'plan'->'sub_questions') > 0
 ORDER BY recorded_at DESC, run_id DESC
 LIMIT %(limit)s
"""

_UNANSWERED = """
SELECT run_id, asked_at, receipt->'reading'->>'text', receipt->'reading'->>'language'
  FROM runs
 WHERE tenant_id = %(tenant)s AND status = 'no_answer' AND json_array_length(receipt->'rounds') > 0
   AND (%(since)s::timestamptz IS NULL OR recorded_at >= %(since)s)
 ORDER BY recorded_at DESC, run_id DESC
 LIMIT %(limit)s
"""

_EARLIER = """
SELECT receipt->'reading'->>'text', asked_at, status, receipt->'evidence'
  FROM runs
 WHERE tenant_id = %(tenant)s
   AND conversation = %(conversation)s
   AND customer_id IS NOT DISTINCT FROM %(customer)s
   AND receipt->'question'->'principal'->>'kind' = %(kind)s
   AND asked_at <= %(asked_at)s
 ORDER BY recorded_at DESC, run_id DESC
 LIMIT 1
"""

_LOAD = "SELECT receipt, recorded_at FROM runs WHERE tenant_id = %(tenant)s AND run_id = %(run)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedQuestion:
    """A question as its run kept it."""

    run_id: UUID
    recorded_at: datetime
    customer: str | None
    conversation: str | None
    #: Layout of the receipt, `RECEIPT_FORMAT` of its time.
    format: int
    #: Text, locale, instant, principal and stated facts, as JSON values.
    question: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrecognisedQuestion:
    """A question that was looked into without a playbook."""

    text: str
    language: Language
    #: How it ended.
    status: str
    topic: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A question for which nothing was found."""

    run_id: UUID
    asked_at: datetime
    #: As it was understood.
    text: str
    language: Language


async def record(session: TenantSession, run: Run, outcome: Mapping[str, Any]) -> None:
    """Store the run with `outcome`, its contract object, what it cited and its escalation, in one statement."""
    escalation = run.outcome.escalation
    await session.fetch(
        _RECORD,
        {
            "tenant": session.tenant_id,
            "run": UUID(run.outcome.run_id),
            "asked_at": run.question.asked_at,
            "status": run.outcome.status,
            "customer": run.question.principal.customer_id,
            "conversation": run.question.conversation,
            "revision": run.revision,
            "receipt": orjson.dumps(receipt(run, outcome), default=_plain, option=orjson.OPT_NON_STR_KEYS).decode(),
            **_cited(run),
            "escalation": UUID(escalation.id) if escalation else None,
            "reason": escalation.reason if escalation else None,
            "need": escalation.need if escalation else None,
        },
    )


async def load(session: TenantSession, run_id: UUID) -> dict[str, Any] | None:
    """The receipt of a run, with `recorded_at` (UTC, ISO 8601) beside it; None when the tenant has no such run."""
    rows = await session.fetch(_LOAD, {"tenant": session.tenant_id, "run": run_id})
    return {**rows[0][0], "recorded_at": rows[0][1].isoformat()} if rows else None


async def earlier(session: TenantSession, question: Question) -> Earlier | None:
    """The last question of the same conversation by the same caller, before this one; None where it is the first."""
    principal = question.principal
    rows = await session.fetch(
        _EARLIER,
        {
            "tenant": session.tenant_id,
            "conversation": question.conversation,
            "customer": principal.customer_id,
            "kind": principal.kind,
            "asked_at": question.asked_at,
        },
    )
    if not rows or rows[0][0] is None:
        return None
    text, asked_at, status, evidence = rows[0]
    orders = dict.fromkeys(e["locator"].partition("#")[0] for e in evidence if e["source"] == "orders")
    return Earlier(text=text, asked_at=asked_at, status=status, orders=tuple(orders))


async def questions(
    session: TenantSession, *, since: datetime | None, customer: str | None, limit: int
) -> tuple[list[RecordedQuestion], int]:
    """The newest `limit` questions, newest first, and how many there are without that limit."""
    parameters = {"tenant": session.tenant_id, "since": since, "customer": customer, "limit": limit}
    rows = await session.fetch(_QUESTIONS, parameters)
    found = [
        RecordedQuestion(
            run_id=row[0],
            recorded_at=row[1],
            customer=row[2],
            conversation=row[3],
            format=int(row[4] or 0),
            question=row[5],
        )
        for row in rows
    ]
    return found, rows[0][6] if rows else 0


async def unrecognised(session: TenantSession, *, since: datetime | None, limit: int) -> list[UnrecognisedQuestion]:
    """The newest `limit` questions that no playbook recognised, newest first."""
    rows = await session.fetch(_UNRECOGNISED, {"tenant": session.tenant_id, "since": since, "limit": limit})
    return [UnrecognisedQuestion(text=row[0], language=row[1], status=row[2], topic=row[3]) for row in rows]


async def unanswered(session: TenantSession, *, since: datetime | None, limit: int) -> list[Unanswered]:
    """The newest questions for which nothing was found though it was looked for, newest first."""
    parameters = {"tenant": session.tenant_id, "since": since, "limit": limit}
    rows = await session.fetch(_UNANSWERED, parameters)
    return [Unanswered(run_id=row[0], asked_at=row[1], text=row[2], language=row[3]) for row in rows]


def _cited(run: Run) -> dict[str, list[Any]]:
    """The clauses that the answer cited, each once in each role, as columns."""
    read_from = {
        (e.locator.document, e.locator.version, e.locator.clause): e.clause.version.recorded.start
        for e in run.evidence
        if e.clause is not None
    }
    rows = {
        (c.document, c.version, c.clause, c.role, read_from[c.document, c.version, c.clause])
        for c in run.outcome.citations
        if (c.document, c.version, c.clause) in read_from
    }
    names = ("policies", "versions", "clauses", "roles", "recordings")
    return {name: [row[place] for row in sorted(rows)] for place, name in enumerate(names)}


def receipt(run: Run, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that lets the run be explained and replayed, as JSON values."""
    numbers = {evidence.key: number for number, evidence in enumerate(run.evidence, start=1)}
    question = run.question
    return {
        "format": RECEIPT_FORMAT,
        "question": {
            "text": question.text,
            "locale": question.locale,
            "asked_at": question.asked_at,
            "principal": question.principal,
            "conversation": question.conversation,
            "earlier": question.earlier,
            "stated_facts": question.stated_facts,
        },
        "reading": {
            # With what it took over from an earlier question.
            "text": run.reading.text,
            "language": run.reading.language,
            "time_expressions": [
                {"text": e.text, "role": e.role, "period": e.period} for e in run.reading.time_expressions
            ],
            "order_numbers": run.reading.order_numbers,
            # As they were entered: with these alone the question is read the same way again.
            "glossary": [entry for gloss in run.reading.glosses for entry in gloss.entries],
        },
        "revision": run.revision,
        "plan": run.outcome.plan,
        "rounds": run.rounds,
        "evidence": [_evidence(evidence, number) for number, evidence in enumerate(run.evidence, start=1)],
        "resolutions": [_resolution(resolution, numbers) for resolution in run.resolutions],
        "draft": run.draft,
        "timings_ms": run.timings,
        "outcome": outcome,
    }


def _evidence(evidence: Evidence, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "key": evidence.key,
        "source": evidence.source,
        "locator": str(evidence.locator),
        "lines": evidence.locator.lines,
        "need": evidence.need,
        "value": evidence.value,
        "quote": evidence.quote,
        "authority": evidence.authority,
        "score": evidence.score,
        "words": evidence.words,
        "similarity": evidence.similarity,
        "found_by": evidence.found_by,
        "valid": evidence.clause.valid if evidence.clause else None,
        "rule": evidence.term.rule if evidence.term else None,
    }


def _resolution(resolution: Resolution, numbers: Mapping[str, int]) -> dict[str, Any]:
    def numbered(candidate: Candidate | None) -> int | None:
        return numbers.get(candidate.evidence.key) if candidate else None

    return {
        "need": resolution.need,
        "status": resolution.status,
        "winner": numbered(resolution.winner),
        "agreeing": [numbered(candidate) for candidate in resolution.agreeing],
        "governing_date": resolution.governing_date,
        "needs_facts": resolution.needs_facts,
        "conflict": _conflict(resolution.conflict, numbers) if resolution.conflict else None,
    }


def _conflict(conflict: Conflict, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "need": conflict.need,
        "settled_by": conflict.settled_by,
        "candidates": [
            {
                "evidence": numbers.get(judged.candidate.evidence.key),
                "locator": str(judged.candidate.evidence.locator),
                "value": judged.candidate.value,
                "removed_by": judged.removed_by,
            }
            for judged in conflict.candidates
        ],
    }


def _plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """What orjson does not know by itself."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Period):
        return [value.start, value.end]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(cast("Any", value))}
    raise TypeError(f"a receipt cannot hold {type(value).__name__}")
