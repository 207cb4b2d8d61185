"""An outcome as the JSON object that scripts and bots rely on. Keys are added freely and never broken.

A date fact or an end of validity that is midnight in the policy's zone is written as the calendar date (`2025-03-05`),
any other instant with the offset of that zone. What the principal may not see was left out of the outcome before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from policies.facts import FactValue
from policies.version import Period
from support_agent.domain.conflict import Conflict, GoverningDate, JudgedCandidate
from support_agent.domain.outcome import Citation, Clarification, Decision, Escalation, Outcome, Usage
from support_agent.domain.plan import Plan
from support_agent.domain.verdict import Verdict

Json: TypeAlias = dict[str, Any]


def outcome_json(outcome: Outcome) -> Json:
    """The contract's object, in the contract's order of keys."""
    zone = ZoneInfo(outcome.time_zone)
    return {
        "run_id": outcome.run_id,
        "status": outcome.status,
        "answer": outcome.answer,
        "next_step": outcome.next_step,
        "decision": _decision(outcome.decision, zone),
        "governing_date": _governing_date(outcome.governing_date, zone),
        "citations": [_citation(citation) for citation in outcome.citations],
        "verdict": _verdict(outcome.verdict),
        "conflicts": [_conflict(conflict, zone) for conflict in outcome.conflicts],
        "uncertainties": list(outcome.uncertainties),
        "clarification": _clarification(outcome.clarification),
        "escalation": _escalation(outcome.escalation),
        "plan": _plan(outcome.plan),
        "rounds": outcome.rounds,
        "usage": _usage(outcome.usage),
    }


def value_json(value: FactValue, zone: ZoneInfo) -> Any:  # noqa: ANN401 - a JSON value
    """A fact or term as JSON: an instant as `point_json` writes it, everything else as it is."""
    match value:
        case datetime():
            return point_json(value, zone)
        case date():
            return value.isoformat()
        case tuple():
            return list(value)
        case _:
            return value


def point_json(instant: datetime, zone: ZoneInfo) -> str:
    """`2025-03-05` when `instant` begins that day in `zone`, else `2025-03-05T14:03:00+01:00`."""
    local = instant.astimezone(zone)
    return local.date().isoformat() if _begins_a_day(local) else local.isoformat()


def period_json(period: Period, zone: ZoneInfo) -> str:
    """A day as its date, an instant as `point_json` writes it, a range as `start/end` with its end outside."""
    if period.end is None:
        return f"{point_json(period.start, zone)}/.."
    start, end = period.start.astimezone(zone), period.end.astimezone(zone)
    whole_day = _begins_a_day(start) and _begins_a_day(end) and end.date() - start.date() == timedelta(days=1)
    if whole_day or period.end - period.start <= timedelta(microseconds=1):
        return point_json(period.start, zone)
    return f"{point_json(period.start, zone)}/{point_json(period.end, zone)}"


def _begins_a_day(local: datetime) -> bool:
    # Where clocks jump over midnight the day begins later, at the instant that midnight is taken for.
    midnight = datetime(local.year, local.month, local.day, tzinfo=local.tzinfo)
    return local.timestamp() == midnight.timestamp()


def _decision(decision: Decision | None, zone: ZoneInfo) -> Json | None:
    if decision is None:
        return None
    return {
        "term": decision.term,
        "value": value_json(decision.value, zone),
        "inputs": {name: value_json(value, zone) for name, value in sorted(decision.inputs.items())},
        "clause": decision.clause,
    }


def _governing_date(governing: GoverningDate | None, zone: ZoneInfo) -> Json | None:
    """The date is the day in the policy's zone, a range `start/end`; `at` tells an instant within the day apart."""
    if governing is None:
        return None
    start, end = governing.period.start, governing.period.end
    if end is None or end - start > timedelta(microseconds=1):
        return {"value": period_json(governing.period, zone), "from": governing.origin}
    return {"value": start.astimezone(zone).date().isoformat(), "from": governing.origin, "at": point_json(start, zone)}


def _citation(citation: Citation) -> Json:
    zone = ZoneInfo(citation.time_zone or "UTC")
    return {
        "marker": citation.marker,
        "source": citation.source,
        "document": citation.document,
        "version": citation.version,
        "clause": citation.clause,
        "lines": list(citation.lines) if citation.lines else None,
        "role": citation.role,
        "quote": citation.quote,
        "effective_from": point_json(citation.effective_from, zone) if citation.effective_from else None,
        "effective_to": point_json(citation.effective_to, zone) if citation.effective_to else None,
        "authority": citation.authority,
        "sha256": citation.sha256,
        "found_by": list(citation.found_by),
    }


def _verdict(verdict: Verdict) -> Json:
    return {
        "sufficient": verdict.sufficient,
        "missing": list(verdict.missing),
        "conflicts": list(verdict.conflicts),
        "next_action": verdict.next_action,
    }


def _conflict(conflict: Conflict, zone: ZoneInfo) -> Json:
    winner = conflict.winner
    return {
        "need": conflict.need,
        "candidates": [_candidate(judged, zone) for judged in conflict.candidates],
        "settled_by": conflict.settled_by,
        "winner": str(winner.locator) if winner else None,
    }


def _candidate(judged: JudgedCandidate, zone: ZoneInfo) -> Json:
    evidence = judged.candidate.evidence
    valid = evidence.clause.valid if evidence.clause else None
    own_zone = evidence.clause.version.zone if evidence.clause else zone
    return {
        "value": value_json(judged.candidate.value, own_zone),
        "clause": str(evidence.locator),
        "removed_by": judged.removed_by,
        "source": evidence.source,
        "authority": evidence.authority,
        "effective_from": point_json(valid.start, own_zone) if valid else None,
        "effective_to": point_json(valid.end, own_zone) if valid and valid.end else None,
        "missing": _names(judged.candidate.missing),
    }


def _clarification(clarification: Clarification | None) -> Json | None:
    if clarification is None:
        return None
    return {
        "need": clarification.need,
        "question": clarification.question,
        "options": list(clarification.options),
    }


def _escalation(escalation: Escalation | None) -> Json | None:
    return None if escalation is None else {"id": escalation.id, "reason": escalation.reason, "need": escalation.need}


def _plan(plan: Plan) -> Json:
    return {
        "route": plan.route,
        "playbook": plan.playbook,
        "sub_questions": [{"id": sub.id, "source": sub.source, "needs": list(sub.needs)} for sub in plan.sub_questions],
    }


def _usage(usage: Usage) -> Json:
    return {
        "lookups": usage.lookups,
        "statements": usage.statements,
        "model_calls": usage.model_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "elapsed_ms": round(usage.elapsed_ms, 1),
    }


def _names(names: Iterable[str]) -> list[str]:
    """Sets have no order of their own, and the same outcome must give the same bytes."""
    return sorted(names)
