"""Calendar arithmetic for what people say relative to the day they ask on.

Days are half-open pairs `(first, end)` of calendar dates in the tenant's zone; weeks start on Monday (ISO 8601),
seasons are the northern meteorological ones. A date that the calendar does not have raises ValueError (or
OverflowError).
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from policies.version import Period, instant_period, start_of_day
from support_agent.domain.reading import Precision

Days: TypeAlias = tuple[date, date]
Unit: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
DateOrder: TypeAlias = Literal["DMY", "MDY", "YMD"]
Part: TypeAlias = Literal["early", "mid", "late"]

ONE_DAY = timedelta(days=1)
_MONTHS_PER_UNIT = {"month": 1, "quarter": 3, "year": 12}
_FIRST_MONTH_OF_SEASON = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
# The rarest day of a calendar, 29 February, comes at most eight years after the one before.
_YEARS_TO_LOOK = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The moment and the place a time is relative to."""

    at: datetime
    zone: ZoneInfo
    today: date
    #: None: the tenant has not said what 03/04/2025 means.
    date_order: DateOrder | None
    #: A date without a year is the last one not after this day, or the first not before it when `future`.
    reference: date
    future: bool = False
    #: The preposition in front of the expression, folded; empty without one.
    operator: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an expression means."""

    period: Period | None
    precision: Precision
    alternatives: tuple[Period, ...] = ()


def whole(asked: Asked, days: Days, precision: Precision) -> Found:
    """The days as a period in the tenant's zone, with as many hours as they had there."""
    return Found(period=_period(asked, days), precision=precision)


def undecided(asked: Asked, readings: list[date]) -> Found:
    """One of several days."""
    periods = tuple(_period(asked, one_day(day)) for day in readings)
    return Found(period=None, alternatives=periods, precision="day")


def moment(instant: datetime) -> Found:
    return Found(period=instant_period(instant.astimezone(UTC)), precision="instant")


def one_day(day: date) -> Days:
    return day, day + ONE_DAY


def month_of(year: int, month: int) -> Days:
    return unit_around(date(year, month, 1), "month")


def year_of(year: int) -> Days:
    return date(year, 1, 1), date(year + 1, 1, 1)


def quarter_of(year: int, quarter: int) -> Days:
    return unit_around(date(year, 3 * quarter - 2, 1), "quarter")


def half_of(year: int, half: int) -> Days:
    return quarter_of(year, 2 * half - 1)[0], quarter_of(year, 2 * half)[1]


def season_of(year: int, season: str) -> Days:
    """The season that starts in `year`; a winter ends in the next one."""
    first = date(year, _FIRST_MONTH_OF_SEASON[season], 1)
    return first, shift(first, 3, "month")


def part_of_month(year: int, month: int, part: Part) -> Days:
    """The first ten days, the second ten, or the rest."""
    first, end = month_of(year, month)
    tenth, twentieth = first + timedelta(days=10), first + timedelta(days=20)
    return {"early": (first, tenth), "mid": (tenth, twentieth), "late": (twentieth, end)}[part]


def part_of_year(year: int, part: Part) -> Days:
    """The first quarter, the two in the middle, or the last."""
    quarters = {"early": (1, 1), "mid": (2, 3), "late": (4, 4)}[part]
    return quarter_of(year, quarters[0])[0], quarter_of(year, quarters[1])[1]


def shift(day: date, amount: int, unit: Unit) -> date:
    """The day `amount` units later; a month without that day gives its last one."""
    if unit in ("day", "week"):
        return day + timedelta(days=amount * (7 if unit == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 + amount * _MONTHS_PER_UNIT[unit], 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError("outside the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def unit_around(day: date, unit: Unit) -> Days:
    """The day, the week, the calendar month, quarter or year that `day` lies in."""
    first = {
        "day": lambda: day,
        "week": lambda: day - timedelta(days=day.weekday()),
        "month": lambda: day.replace(day=1),
        "quarter": lambda: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "year": lambda: day.replace(month=1, day=1),
    }[unit]()
    return first, shift(first, 1, unit)


def relative(asked: Asked, amount: int, unit: Unit) -> Found:
    """The whole unit that lies `amount` units from the one the question was asked in."""
    return whole(asked, unit_around(shift(asked.today, amount, unit), unit), unit)


def back(asked: Asked, nearest: int, farthest: int, unit: Unit) -> Found:
    """Everything between `farthest` and `nearest` units back, whole units at both ends."""
    first, _ = unit_around(shift(asked.today, -farthest, unit), unit)
    _, end = unit_around(shift(asked.today, -nearest, unit), unit)
    return whole(asked, (first, end), unit if nearest == farthest else "range")


def rolling(asked: Asked, amount: int, unit: Unit) -> Found:
    """The last (or, negative, the next) `amount` units counted from today, today included."""
    days = sorted((asked.today, shift(asked.today, -amount, unit)))
    return whole(asked, (days[0], days[1] + ONE_DAY), "range")


def week_day(asked: Asked, weeks: int, weekday: int) -> Found:
    """The day `weekday` (Monday is 0) of the week `weeks` from this one."""
    monday, _ = unit_around(shift(asked.today, weeks, "week"), "week")
    return whole(asked, one_day(monday + timedelta(days=weekday)), "day")


def weekend(asked: Asked, weeks: int) -> Found:
    """Saturday and Sunday of the week `weeks` from this one."""
    _, end = unit_around(shift(asked.today, weeks, "week"), "week")
    return whole(asked, (end - 2 * ONE_DAY, end), "range")


def nearest_week_day(asked: Asked, weekday: int, *, today_counts: bool = True) -> Found:
    """The last such day up to the reference, or the next one from it."""
    day = asked.reference if today_counts else asked.reference + (ONE_DAY if asked.future else -ONE_DAY)
    away = (weekday - day.weekday()) % 7 if asked.future else -((day.weekday() - weekday) % 7)
    return whole(asked, one_day(day + timedelta(days=away)), "day")


def yearless(asked: Asked, days_in: Callable[[int], Days], precision: Precision) -> Found:
    """The days in the last year in which they began by the reference, or the first in which they end after it."""
    reference = asked.reference
    years = range(reference.year - 1, reference.year + _YEARS_TO_LOOK)
    if not asked.future:
        years = range(reference.year, reference.year - _YEARS_TO_LOOK, -1)
    for year in years:
        try:
            first, end = days_in(year)
        except ValueError:
            continue
        if end > reference if asked.future else first <= reference:
            return whole(asked, (first, end), precision)
    raise ValueError("no year has these days")


def last_over(asked: Asked, days_in: Callable[[int], Days], precision: Precision) -> Found:
    """The days in the last year in which they are over."""
    for year in range(asked.today.year, asked.today.year - _YEARS_TO_LOOK, -1):
        if days_in(year)[1] <= asked.today:
            return whole(asked, days_in(year), precision)
    raise ValueError("no year has these days")


def monthless(asked: Asked, day_of_month: int) -> Found:
    """The last such day of a month up to the reference, or the next one from it."""
    for months in range(3):
        first = shift(asked.reference.replace(day=1), months if asked.future else -months, "month")
        if day_of_month <= monthrange(first.year, first.month)[1]:
            day = first.replace(day=day_of_month)
            if day >= asked.reference if asked.future else day <= asked.reference:
                return whole(asked, one_day(day), "day")
    raise ValueError("no month near has this day")


def _period(asked: Asked, days: Days) -> Period:
    return Period(start=start_of_day(days[0], asked.zone), end=start_of_day(days[1], asked.zone))
