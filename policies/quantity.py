"""One number, percentage, amount, date, time or code, and which others it can stand for.

A quantity says some keys and needs one of some keys: it is supported by what says a key that it needs. `14` is
supported by `14 days`, `March 2025` by `5 March 2025`, `$25` by `25`; `14 days` not by `14 months`, `5%` not by `5`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["number", "percent", "amount", "date", "time", "code"]
Key: TypeAlias = tuple[object, ...]
#: Year, month, day; what a text leaves out is None.
Day: TypeAlias = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    kind: Kind
    #: Of a number, percent or amount; 0 for others.
    value: Decimal = Decimal(0)
    says: frozenset[Key]
    needs: frozenset[Key]
    #: As it stands in a text, and where it begins.
    text: str = ""
    start: int = 0

    def supported_by(self, known: Quantity) -> bool:
        """Whether `known` says this quantity, or a more precise one that contains it."""
        return not self.needs.isdisjoint(known.says)


def number(value: Decimal, unit: str | None = None) -> Quantity:
    """A number of `unit` (`day`, `business day`, `month`, `hour`, `minute`), or of anything."""
    bare, of_any_unit, of_unit = ("number", value, None), ("any", value), ("number", value, unit)
    if unit is None:
        return Quantity(kind="number", value=value, says=frozenset({bare, of_any_unit}), needs=frozenset({bare}))
    return Quantity(
        kind="number", value=value, says=frozenset({bare, of_unit}), needs=frozenset({of_unit, of_any_unit})
    )


def percent(value: Decimal) -> Quantity:
    keys = frozenset({("percent", value)})
    return Quantity(kind="percent", value=value, says=keys, needs=keys)


def amount(value: Decimal, currencies: Iterable[str]) -> Quantity:
    """An amount in major units of any of `currencies` (ISO 4217): `$` stands for several."""
    keys = frozenset(("amount", value, currency) for currency in currencies)
    return Quantity(kind="amount", value=value, says=keys | {("number", value, None)}, needs=keys | {("any", value)})


def day(*readings: Day) -> Quantity | None:
    """A date, or part of one, by its readings that a calendar has; None when it has none of them."""
    days = [reading for reading in readings if _exists(reading)]
    if not days:
        return None
    says: set[Key] = set()
    needs: set[Key] = set()
    for reading in days:
        says |= {("date", *part) for part in product(*((component, None) for component in reading))}
        needs.add(("date", *reading))
        if reading[0] is not None:
            says.add(("number", Decimal(reading[0]), None))
            if reading[1:] == (None, None):
                needs.add(("any", Decimal(reading[0])))
    return Quantity(kind="date", says=frozenset(says) - {("date", None, None, None)}, needs=frozenset(needs))


def clock(hour: int, minute: int) -> Quantity:
    keys = frozenset({("time", hour, minute)})
    return Quantity(kind="time", says=keys, needs=keys)


def code(text: str) -> Quantity:
    """Letters and digits together, such as an order number; in lower case."""
    keys = frozenset({("code", text)})
    return Quantity(kind="code", says=keys, needs=keys)


def _exists(reading: Day) -> bool:
    year, month, number_of_day = reading
    try:
        # A leap year lets 29 February stand without its year.
        date(year or 2000, month or 1, number_of_day or 1)
    except ValueError:
        return False
    return True
