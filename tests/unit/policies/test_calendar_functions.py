from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.calendar_functions import FUNCTIONS
from tests.soak import examples

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = (
    "UTC Europe/Berlin Europe/Lisbon America/New_York America/St_Johns America/Santiago Asia/Shanghai Asia/Kathmandu "
    "Australia/Lord_Howe Pacific/Auckland"
).split()


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    """A local time as an instant."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


@pytest.mark.parametrize(
    ("function", "instant", "asked_at", "expected"),
    [
        ("days_since", "2025-03-05T23:59", "2025-03-05T23:59", 0),
        ("days_since", "2025-03-05T23:59", "2025-03-06T00:00", 1),
        ("days_since", "2025-03-05T00:00", "2025-03-04T23:59", -1),
        ("days_since", "2024-02-28T12:00", "2024-03-01T12:00", 2),
        ("days_since", "2025-03-29T23:30", "2025-03-31T00:30", 2),
        ("days_until", "2025-03-06T00:00", "2025-03-05T23:59", 1),
        ("days_until", "2025-03-05T00:00", "2025-03-06T00:00", -1),
        ("hours_since", "2025-03-05T10:00", "2025-03-05T10:00", 0),
        ("hours_since", "2025-03-05T10:00", "2025-03-05T10:00:00.000001", 1),
        ("hours_since", "2025-03-05T10:00", "2025-03-06T10:00", 24),
        ("hours_since", "2025-03-05T10:00", "2025-03-06T10:00:00.000001", 25),
        ("hours_since", "2025-03-30T00:00", "2025-03-31T00:00", 23),
        ("hours_since", "2025-03-05T10:30", "2025-03-05T10:00", 0),
    ],
)
def test_counting(function: str, instant: str, asked_at: str, expected: int) -> None:
    assert FUNCTIONS[function](at(asked_at), BERLIN, at(instant)) == expected


@pytest.mark.parametrize(
    ("function", "instant", "amount", "expected"),
    [
        ("add_days", "2025-03-29T12:00", 1, "2025-03-30T12:00"),
        ("add_days", "2025-10-25T12:00", 1, "2025-10-26T12:00"),
        ("add_days", "2025-03-01T12:00", -1, "2025-02-28T12:00"),
        ("add_hours", "2025-03-29T12:00", 24, "2025-03-30T13:00"),
        ("add_months", "2025-01-31T12:00", 1, "2025-02-28T12:00"),
        ("add_months", "2024-01-31T12:00", 1, "2024-02-29T12:00"),
        ("add_months", "2025-03-31T12:00", -1, "2025-02-28T12:00"),
        ("add_months", "2025-12-15T12:00", 1, "2026-01-15T12:00"),
        ("add_months", "2025-01-15T12:00", -13, "2023-12-15T12:00"),
        ("add_years", "2024-02-29T12:00", 1, "2025-02-28T12:00"),
        ("add_years", "2024-02-29T12:00", 4, "2028-02-29T12:00"),
        # The clock skips 02:30 that night; the offset before the change gives 03:30 after it.
        ("add_days", "2025-03-29T02:30", 1, "2025-03-30T03:30"),
    ],
)
def test_moving(function: str, instant: str, amount: int, expected: str) -> None:
    assert FUNCTIONS[function](at(instant), BERLIN, at(instant), amount) == at(expected)


def test_day_that_the_clock_repeats_takes_the_first_offset() -> None:
    moved = FUNCTIONS["add_days"](at("2025-10-25T02:30"), BERLIN, at("2025-10-25T02:30"), 1)

    assert moved == datetime(2025, 10, 26, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(("day", "hours"), [("2025-03-30", 23), ("2025-10-26", 25), ("2025-06-01", 24)])
def test_a_day_is_as_long_as_the_clock_says(day: str, hours: int) -> None:
    noon = at(f"{day}T12:00")
    start, end = (FUNCTIONS[name](noon, BERLIN, noon) for name in ("start_of_day", "end_of_day"))

    assert start == at(f"{day}T00:00")
    assert end == start + timedelta(hours=hours) - timedelta(microseconds=1)
    assert end.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M") == f"{day} 23:59"


@settings(max_examples=examples(default=300, soak=20_000))
@given(
    st.sampled_from(ZONES).map(ZoneInfo),
    st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)).map(lambda value: value.replace(tzinfo=UTC)),  # noqa: DTZ001 - naive on purpose
    st.integers(0, 4_000),
)
def test_moving_agrees_with_counting(zone: ZoneInfo, instant: datetime, days: int) -> None:
    later = FUNCTIONS["add_days"](instant, zone, instant, days)

    assert FUNCTIONS["days_since"](later, zone, instant) == days
    assert FUNCTIONS["days_until"](instant, zone, later) == days
    assert (
        FUNCTIONS["start_of_day"](instant, zone, instant) <= instant <= FUNCTIONS["end_of_day"](instant, zone, instant)
    )


@pytest.mark.parametrize("function", ["add_hours", "add_days", "add_months", "add_years"])
@pytest.mark.parametrize("amount", [2**63 - 1, -(2**63), 10_000_000, -10_000_000])
def test_the_calendar_ends_without_an_error(function: str, amount: int) -> None:
    moved = FUNCTIONS[function](at("2025-01-01T00:00"), BERLIN, at("2025-01-01T00:00"), amount)

    assert isinstance(moved, datetime)
    for name in ("start_of_day", "end_of_day", "days_since"):
        assert FUNCTIONS[name](at("2025-01-01T00:00"), BERLIN, moved) is not None
