"""Calendar arithmetic of rules, in the policy's zone.

Days are calendar days and keep the time on the clock, so that a day with a change to summer time counts as one. A month
later is the same day of that month or, where it has none, its last (31 January + 1 month = 28 February, 29 February +
1 year = 28 February), as PostgreSQL counts. A time that the clock skips or repeats takes the first offset. The end of a
day is its last microsecond: it still shows as that day, and nothing the store can tell apart lies between it and the
next. Results beyond the years 1 to 9999 stop there.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from policies.version import start_of_day as first_instant

#: A day from the ends that Python knows, so that every zone can show them.
_EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
_LATEST: Final = datetime(9999, 12, 30, tzinfo=UTC)


def days_since(asked_at: datetime, zone: ZoneInfo, instant: datetime) -> int:
    """Calendar days from the day of `instant` to the day of the question; 0 on the same day, negative before it."""
    return (_day(asked_at, zone) - _day(instant, zone)).days


def days_until(asked_at: datetime, zone: ZoneInfo, instant: datetime) -> int:
    """Calendar days from the day of the question to the day of `instant`."""
    return (_day(instant, zone) - _day(asked_at, zone)).days


def hours_since(asked_at: datetime, zone: ZoneInfo, instant: datetime) -> int:  # noqa: ARG001 Hours are the same everywhere.
    """Hours begun since `instant`, so that `hours_since(x) <= 24` holds until exactly 24 hours have passed."""
    return -((instant - asked_at) // timedelta(hours=1))


def add_hours(asked_at: datetime, zone: ZoneInfo, instant: datetime, hours: int) -> datetime:  # noqa: ARG001 - all are called alike
    return _within(instant, hours, lambda: instant + timedelta(hours=hours))


def add_days(asked_at: datetime, zone: ZoneInfo, instant: datetime, days: int) -> datetime:  # noqa: ARG001 - all are called alike
    local = _local(instant, zone)
    return _within(instant, days, lambda: _instant(local.date() + timedelta(days=days), local.time(), zone))


def add_months(asked_at: datetime, zone: ZoneInfo, instant: datetime, months: int) -> datetime:  # noqa: ARG001 - all are called alike
    local = _local(instant, zone)
    return _within(instant, months, lambda: _instant(_month_later(local.date(), months), local.time(), zone))


def add_years(asked_at: datetime, zone: ZoneInfo, instant: datetime, years: int) -> datetime:
    return add_months(asked_at, zone, instant, 12 * years)


def start_of_day(asked_at: datetime, zone: ZoneInfo, instant: datetime) -> datetime:  # noqa: ARG001 - all are called alike
    return first_instant(_day(instant, zone), zone)


def end_of_day(asked_at: datetime, zone: ZoneInfo, instant: datetime) -> datetime:  # noqa: ARG001 - all are called alike
    return first_instant(_day(instant, zone) + timedelta(days=1), zone) - timedelta(microseconds=1)


#: All of them take the instant of the question and the policy's zone first.
FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    function.__name__: function
    for function in (
        days_since, days_until, hours_since, add_hours, add_days, add_months, add_years, start_of_day, end_of_day,
    )
}  # fmt: skip


def _local(instant: datetime, zone: ZoneInfo) -> datetime:
    return min(max(instant, _EARLIEST), _LATEST).astimezone(zone)


def _day(instant: datetime, zone: ZoneInfo) -> date:
    return _local(instant, zone).date()


def _instant(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock.replace(fold=0), zone).astimezone(UTC)


def _month_later(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _within(instant: datetime, amount: int, moved: Callable[[], datetime]) -> datetime:
    """What `moved` gives; the end of the calendar where there is no such day, and `instant` itself for no move."""
    # The library prints what a function raises, so none of these may.
    if amount == 0:
        return instant
    try:
        return min(max(moved(), _EARLIEST), _LATEST)
    except (OverflowError, ValueError):
        return _LATEST if amount > 0 else _EARLIEST
