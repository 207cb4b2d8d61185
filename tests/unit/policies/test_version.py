from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.version import Period, Reference, day_period, instant_period, start_of_day
from tests.factories import at, make_clause, make_version, reference

INSTANT = timedelta(microseconds=1)
MARCH = Period(start=at("2025-03-01"), end=at("2025-04-01"))
OPEN = Period(start=at("2025-03-01"))


@pytest.mark.parametrize(
    ("period", "instant", "expected"),
    [
        pytest.param(MARCH, at("2025-03-01") - INSTANT, False, id="before"),
        pytest.param(MARCH, at("2025-03-01"), True, id="start"),
        pytest.param(MARCH, at("2025-04-01") - INSTANT, True, id="last instant"),
        pytest.param(MARCH, at("2025-04-01"), False, id="end"),
        pytest.param(OPEN, at("9999-12-31"), True, id="open end"),
    ],
)
def test_period_holds_its_start_and_not_its_end(period: Period, instant: datetime, expected: bool) -> None:
    assert period.contains(instant) is expected


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param(at("2025-03-01"), at("2025-03-01"), id="empty"),
        pytest.param(at("2025-03-02"), at("2025-03-01"), id="inverted"),
        pytest.param(datetime(2025, 3, 1), None, id="naive start"),  # noqa: DTZ001 - what is refused
        pytest.param(at("2025-03-01"), datetime(2025, 4, 1), id="naive end"),  # noqa: DTZ001 - what is refused
    ],
)
def test_period_that_is_none_is_refused(start: datetime, end: datetime | None) -> None:
    with pytest.raises(ValueError, match="period"):
        Period(start=start, end=end)


INSTANTS = st.integers(0, 12).map(lambda month: at("2025-01-01") + timedelta(days=30 * month))
PERIODS = st.builds(
    lambda start, length: Period(start=start, end=None if length is None else start + timedelta(days=30 * length)),
    INSTANTS,
    st.none() | st.integers(1, 6),
)


@given(PERIODS, PERIODS)
def test_periods_meet_where_they_share_an_instant(a: Period, b: Period) -> None:
    marks = [at("2025-01-01") + timedelta(days=30 * month) for month in range(40)]
    shared = [mark for mark in marks if a.contains(mark) and b.contains(mark)]

    cut = a.cut_to(b)

    assert a.overlaps(b) is b.overlaps(a) is bool(shared)
    assert [mark for mark in marks if cut is not None and cut.contains(mark)] == shared
    assert a.covers(b) is (cut == b)


@pytest.mark.parametrize(
    ("day", "zone", "start", "hours"),
    [
        pytest.param("2025-03-05", "Europe/Berlin", "2025-03-04T23:00", 24, id="plain"),
        pytest.param("2025-03-30", "Europe/Berlin", "2025-03-29T23:00", 23, id="clocks go forward"),
        pytest.param("2025-10-26", "Europe/Berlin", "2025-10-25T22:00", 25, id="clocks go back"),
        pytest.param("2023-04-28", "Africa/Cairo", "2023-04-27T22:00", 23, id="midnight is skipped"),
        pytest.param("2018-11-04", "America/Havana", "2018-11-04T04:00", 25, id="midnight comes twice"),
        pytest.param("2024-02-29", "Asia/Kathmandu", "2024-02-28T18:15", 24, id="leap day"),
        pytest.param("2011-12-29", "Pacific/Apia", "2011-12-29T10:00", 24, id="the day after is left out"),
    ],
)
def test_day_is_whole_in_its_zone(day: str, zone: str, start: str, hours: int) -> None:
    period = day_period(date.fromisoformat(day), ZoneInfo(zone))

    assert period == Period(start=at(start), end=at(start) + timedelta(hours=hours))


def test_day_that_a_zone_left_out_is_an_instant() -> None:
    assert day_period(date(2011, 12, 30), ZoneInfo("Pacific/Apia")) == instant_period(at("2011-12-30T10:00"))


def test_start_of_day_is_utc() -> None:
    assert start_of_day(date(2025, 7, 1), ZoneInfo("Asia/Shanghai")).isoformat() == "2025-06-30T16:00:00+00:00"


def test_instant_is_one_microsecond() -> None:
    assert instant_period(MARCH.start) == Period(start=MARCH.start, end=MARCH.start + INSTANT)


@pytest.mark.parametrize(
    "text", ["refund-eu", "refund-eu@2025-02-01", "refund-eu@2025-02-01#window", "refund-eu#window"]
)
def test_reference_reads_as_it_is_written(text: str) -> None:
    assert str(reference(text)) == text


def test_clause_without_a_version_is_referred_to() -> None:
    assert reference("refund-eu#window") == Reference(policy="refund-eu", clause="window")


def test_locator_of_a_clause() -> None:
    clause = make_clause(make_version("refund-eu", "2025-02-01"), "window")

    assert clause.locator == "refund-eu@2025-02-01#window"
    assert clause.version.zone == ZoneInfo("UTC")
