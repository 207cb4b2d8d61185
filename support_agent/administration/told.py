"""What a customer is told: the part of a run that a change of policy can change, two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from zoneinfo import ZoneInfo

from policies.facts import FactValue
from support_agent.domain.outcome import EscalationReason, Status
from support_agent.domain.run import Run
from support_agent.rendering.contract import value_json

#: What differs most: how the question ends, a value behind it, the clause that governs, or only the words.
Difference: TypeAlias = Literal["outcome", "value", "clause", "wording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How a question ended."""

    status: Status
    #: Why a person takes over.
    reason: EscalationReason | None
    decision: FactValue
    #: Of an answer: term -> the value that prevailed, for each order that was looked at.
    values: Mapping[str, tuple[FactValue, ...]]
    #: `policy@version#clause` of what governs, in the answer's order.
    clauses: tuple[str, ...]
    answer: str
    next_step: str | None
    #: IANA zone in which its dates are meant.
    time_zone: str

    @property
    def ending(self) -> str:
        """In a word or two: `answered yes`, `escalated (conflict)`."""
        if self.reason is not None:
            return f"{self.status} ({self.reason})"
        if isinstance(self.decision, bool):
            return f"{self.status} {'yes' if self.decision else 'no'}"
        return self.status


def told(run: Run) -> Told:
    """What `run` told."""
    outcome = run.outcome
    values: dict[str, tuple[FactValue, ...]] = {}
    for resolution in run.resolutions if outcome.status in {"answered", "answered_with_conflict"} else ():
        winner = resolution.winner
        if winner is not None and winner.evidence.term is not None and winner.evidence.term.rule is None:
            held = values.get(resolution.need, ())
            values[resolution.need] = held if winner.value in held else (*held, winner.value)
    governing = (c for c in outcome.citations if c.role == "governing" and c.version is not None)
    return Told(
        status=outcome.status,
        reason=outcome.escalation.reason if outcome.escalation else None,
        decision=outcome.decision.value if outcome.decision else None,
        values=values,
        clauses=tuple(dict.fromkeys(f"{c.document}@{c.version}#{c.clause}" for c in governing)),
        answer=outcome.answer,
        next_step=outcome.next_step,
        time_zone=outcome.time_zone,
    )


def difference(before: Told, after: Told) -> Difference | None:
    """What differs most between the two; None: a customer would be told the same."""
    if (before.ending, before.decision) != (after.ending, after.decision):
        return "outcome"
    if before.values != after.values:
        return "value"
    if before.clauses != after.clauses:
        return "clause"
    return None if (before.answer, before.next_step) == (after.answer, after.next_step) else "wording"


def told_json(said: Told) -> dict[str, Any]:
    """What was told, as JSON values."""
    zone = ZoneInfo(said.time_zone)
    values = {name: [value_json(value, zone) for value in found] for name, found in said.values.items()}
    return {
        "ending": said.ending,
        "status": said.status,
        "reason": said.reason,
        "decision": value_json(said.decision, zone),
        "values": {name: found[0] if len(found) == 1 else found for name, found in values.items()},
        "clauses": list(said.clauses),
        "answer": said.answer,
        "next_step": said.next_step,
    }
