"""Facts a tenant declares in `facts.yaml`, and the values that facts and terms may take.

Money is an integer in minor units, a share an integer in basis points, a duration a whole number of days or hours; an
instant is aware UTC, a date is a calendar day without a zone. There are no decimals, floats or naive datetimes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias

FactValue: TypeAlias = bool | int | str | datetime | date | tuple[str, ...] | None
FactType: TypeAlias = Literal[
    "bool", "string", "int", "money", "basis_points", "days", "hours", "instant", "date", "list"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDeclaration:
    """One fact: its type, where it comes from, and how people call it."""

    #: Dotted name, e.g. `order.purchased_at`.
    name: str
    type: FactType
    #: The connector that states it, or `customer` for an assertion that nobody else can make.
    source: str
    null: bool = False
    #: ISO 4217 code of a money fact, or the name of the string fact that holds it.
    currency: str | None = None
    #: The closed set of a string fact; empty when open.
    values: tuple[str, ...] = ()
    #: Language -> words for this fact, used when it is asked for or named in an answer.
    label: Mapping[str, str] = field(default_factory=dict)


#: Name -> declaration.
Facts: TypeAlias = Mapping[str, FactDeclaration]
