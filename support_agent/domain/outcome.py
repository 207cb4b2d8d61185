"""How a question ended: the value that every way out renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from policies.facts import FactValue
from support_agent.domain.conflict import Conflict, GoverningDate
from support_agent.domain.plan import Plan
from support_agent.domain.verdict import Verdict

Status: TypeAlias = Literal[
    "answered", "answered_with_conflict", "needs_clarification", "no_answer", "refused", "escalated"
]
EscalationReason: TypeAlias = Literal[
    "conflict",
    "policy_gap",
    "missing_evidence",
    "low_confidence",
    "source_unavailable",
    "person_requested",
    "risk",
    "model_output_invalid",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The exact passage of the exact version, or the field of a record, behind a marker of the answer."""

    marker: int
    source: str
    document: str
    version: str | None
    clause: str
    lines: tuple[int, int] | None
    role: Literal["governing", "considered"]
    quote: str
    effective_from: datetime | None
    effective_to: datetime | None
    #: IANA zone in which the two are meant; None for records.
    time_zone: str | None
    authority: str
    #: Of the quote, hexadecimal.
    sha256: str
    #: Whether words or only vectors found it; empty when it was looked up.
    found_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The result of the governing rule and the facts and values it used."""

    term: str
    value: FactValue
    inputs: Mapping[str, FactValue]
    #: `policy@version#clause` of the rule.
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarification:
    """One precise question back to the customer."""

    need: str
    question: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A case for the human queue."""

    id: str
    reason: EscalationReason
    need: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    lookups: int
    statements: int
    elapsed_ms: float
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The contract's object, as values; `support_agent.rendering` turns it into JSON and text."""

    run_id: str
    status: Status
    language: Literal["en", "zh"]
    #: Text for the customer with `[1]` markers.
    answer: str
    plan: Plan
    verdict: Verdict
    rounds: int
    usage: Usage
    next_step: str | None = None
    decision: Decision | None = None
    governing_date: GoverningDate | None = None
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    uncertainties: tuple[str, ...] = ()
    clarification: Clarification | None = None
    escalation: Escalation | None = None
    #: IANA zone that dates of this outcome are meant in: the deciding policy's, else the tenant's.
    time_zone: str = "UTC"
    #: Facts of this run by name, for rendering dates and amounts; not part of the contract.
    facts: Mapping[str, FactValue] = field(default_factory=dict)
