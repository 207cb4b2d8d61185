"""Numbers of units, in either language: counted back from today, as a window that ends today, or as a duration."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from policies.version import Period, start_of_day
from support_agent.domain.reading import EARLIEST, DurationUnit
from support_agent.language.dates import ONE_DAY, Asked, Found, Unit, back, one_day, rolling, shift, unit_around, whole
from support_agent.language.grammar import Count, Length

#: "about" is one unit either way, "odd" up to one more (一年多前), "more" is anything before, "less" anything since.
Hedge: TypeAlias = Literal["exact", "about", "odd", "more", "less"]

_INSTANT = timedelta(microseconds=1)
# A unit and a half in the next smaller unit: its name, how many make a whole, how many a half.
_HALVES: Final[dict[DurationUnit, tuple[DurationUnit, int, int]]] = {
    "year": ("month", 12, 6),
    "quarter": ("day", 91, 45),
    "month": ("day", 30, 15),
    "week": ("day", 7, 4),
    "day": ("hour", 24, 12),
    "working_day": ("hour", 24, 12),
    "hour": ("minute", 60, 30),
}
# Half a month back is no single day: days to either side.
_DAYS_AROUND_A_HALF: Final = {"quarter": 15, "month": 3, "week": 1}
_CALENDAR_UNITS: Final[dict[DurationUnit, Unit]] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Between `low` and `high` units, each with another half when `half`."""

    low: int
    high: int
    unit: DurationUnit
    half: bool = False

    def in_wholes(self) -> Amount:
        """The same without halves."""
        if not self.half or self.unit not in _HALVES:
            return self
        unit, whole_unit, half = _HALVES[self.unit]
        return Amount(low=self.low * whole_unit + half, high=self.high * whole_unit + half, unit=unit)


def length(amount: Amount) -> Length:
    """The amount as a duration; of "3 to 5 days" the longer."""
    wholes = amount.in_wholes()
    return Length(amount=wholes.high, unit=wholes.unit, least=wholes.low)


def ago(asked: Asked, amount: Amount, hedge: Hedge = "exact") -> Found | None:
    """The whole unit that lies that far back: a calendar day, week, month or year; hours and minutes give their day."""
    wholes = amount.in_wholes()
    if wholes.unit in ("hour", "minute"):
        then = asked.at - timedelta(minutes=wholes.low * (60 if wholes.unit == "hour" else 1))
        return whole(asked, one_day(then.astimezone(asked.zone).date()), "day")
    unit = _CALENDAR_UNITS.get(wholes.unit)
    if unit is None:
        return None
    if hedge == "more":
        _, end = unit_around(shift(asked.today, -wholes.low, unit), unit)
        return Found(period=Period(start=EARLIEST, end=start_of_day(end, asked.zone)), precision="range")
    if hedge == "less":
        return rolling(asked, wholes.high, unit)
    around = _DAYS_AROUND_A_HALF.get(amount.unit, 0) if amount.half else int(hedge == "about")
    nearest = max(wholes.low - around, 0 if wholes.low == 0 else 1)
    return back(asked, nearest, wholes.high + around + int(hedge == "odd"), unit)


def from_now(asked: Asked, amount: Amount) -> Found | None:
    """The whole unit that lies that far ahead."""
    wholes = amount.in_wholes()
    unit = _CALENDAR_UNITS.get(wholes.unit)
    if unit is None:
        return None
    first, _ = unit_around(shift(asked.today, wholes.low, unit), unit)
    _, end = unit_around(shift(asked.today, wholes.high, unit), unit)
    return whole(asked, (first, end), unit if wholes.low == wholes.high else "range")


def counted(asked: Asked, found: Found, count: Count) -> Found | None:
    """The day so far from a day, the whole unit so far from a longer time, or everything between."""
    # Which days are worked on nobody here knows, and an hour moves no date.
    unit = _CALENDAR_UNITS.get(count.length.unit)
    if unit is None or found.period is None or found.period.end is None:
        return None
    first, last = (edge.astimezone(asked.zone).date() for edge in (found.period.start, found.period.end - _INSTANT))
    sign, start = (1, last) if count.ahead else (-1, first)
    nearest = start if count.throughout else shift(start, sign * count.length.least, unit)
    farthest = shift(start, sign * count.length.amount, unit)
    around: Unit = "day" if first == last or count.throughout else unit
    edges = sorted((nearest, farthest))
    days = unit_around(edges[0], around)[0], unit_around(edges[1], around)[1]
    return whole(asked, days, around if nearest == farthest else "range")


def window(asked: Asked, amount: Amount, *, ahead: bool = False) -> Found | None:
    """The last or the next so many units, today included."""
    wholes = amount.in_wholes()
    if wholes.unit in ("hour", "minute"):
        minutes = timedelta(minutes=wholes.high * (60 if wholes.unit == "hour" else 1))
        edge = (asked.at + minutes if ahead else asked.at - minutes).astimezone(asked.zone).date()
        return whole(asked, (min(edge, asked.today), max(edge, asked.today) + ONE_DAY), "range")
    unit = _CALENDAR_UNITS.get(wholes.unit)
    return None if unit is None else rolling(asked, -wholes.high if ahead else wholes.high, unit)
