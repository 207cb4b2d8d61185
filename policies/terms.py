"""Typed terms of a clause: a value (`refund.window_days = 30`) or a decision rule (CEL)."""

from __future__ import annotations

from dataclasses import dataclass

from policies.facts import FactValue
from policies.version import Better, Clause


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of one clause. Exactly one of `value` and `rule` speaks: a rule has `rule` set."""

    name: str
    clause: Clause
    value: FactValue = None
    #: CEL source over facts and other terms; None for a value term.
    rule: str | None = None
    #: Which direction is better for the customer; None when values are not comparable.
    better: Better | None = None
    #: The passage that says it, as an answer quotes it, and its lines.
    quote: str
    lines: tuple[int, int]
