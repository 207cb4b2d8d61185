"""Typed terms of a clause: a value (`refund.window_days = 30`) or a decision rule (CEL)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from policies.facts import FactType, FactValue
from policies.version import Better, Clause

UNITS: Final[dict[str, FactType]] = {"_days": "days", "_hours": "hours", "_minor": "money", "_bp": "basis_points"}


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


def type_of(name: str, value: FactValue) -> FactType:
    """The type of the value term `name`; a bool is no int, a datetime no date."""
    match value:
        case bool():
            return "bool"
        case int():
            return unit_of(name) or "int"
        case datetime():
            return "instant"
        case date():
            return "date"
        case tuple():
            return "list"
        case _:
            return "string"


def unit_of(name: str) -> FactType | None:
    """The type that the name's ending promises."""
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), None)
