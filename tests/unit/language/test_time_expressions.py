from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import opencc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.version import Period, instant_period
from support_agent.domain.reading import Duration, OrderNumber, TimeExpression
from support_agent.language.dates import DateOrder
from support_agent.language.reading import read
from tests.soak import examples
from tests.unit.language.expectations import (
    ASKED_AT,
    ZONE,
    days,
    expected_roles,
    expected_values,
    found_values,
    rows,
)

BERLIN, NEW_YORK, AUCKLAND = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Pacific/Auckland")
TABLES = [*rows("english"), *rows("chinese")]


def times(
    text: str, *, at: datetime = ASKED_AT, zone: ZoneInfo = ZONE, order: DateOrder | None = "DMY"
) -> list[object]:
    return [one.period for one in read(text, asked_at=at, zone=zone, date_order=order).time_expressions]


@pytest.mark.parametrize(("text", "expected"), TABLES, ids=[text for text, _ in TABLES])
def test_words_mean_what_the_table_says(text: str, expected: str) -> None:
    reading = read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")

    assert found_values(reading) == expected_values(expected)
    if roles := expected_roles(expected):
        assert [time.role for time in reading.time_expressions] == roles


@pytest.mark.parametrize("variant", ["s2t", "s2tw", "s2hk"])
def test_traditional_characters_mean_the_same(variant: str) -> None:
    convert = opencc.OpenCC(variant).convert

    different = [text for text, _ in rows("chinese") if _said(convert(text)) != _said(text)]

    assert different == []


def _said(text: str) -> tuple[list[object], list[object]]:
    reading = read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")
    return found_values(reading), [time.role for time in reading.time_expressions]


def _is_dateless(expected: str) -> bool:
    return expected == "-" or all(" " in part for part in expected.split(", "))


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_table_is_long_enough(language: str) -> None:
    table = rows(language)
    dateless = [expected for _, expected in table if _is_dateless(expected)]

    assert len(table) - len(dateless) >= 150
    assert len(dateless) >= 30


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        pytest.param("2026-01-01T00:00", "last year", "2025", id="new year"),
        pytest.param("2026-01-01T00:00", "yesterday", "2025-12-31", id="new year, the day before"),
        pytest.param("2026-01-01T12:00", "last month", "2025-12", id="new year, the month before"),
        pytest.param("2026-01-01T12:00", "上个季度", "2025-10..2025-12", id="new year, the quarter before"),
        pytest.param("2026-01-01T12:00", "last week", "2025-12-22..2025-12-28", id="new year, the week before"),
        pytest.param("2026-01-01T12:00", "this week", "2025-12-29..2026-01-04", id="a week over two years"),
        pytest.param("2026-01-01T12:00", "on 31 December", "2025-12-31", id="new year, a date without its year"),
        pytest.param("2026-01-01T12:00", "去年双十一", "2025-11-11", id="new year, a holiday"),
        pytest.param("2025-12-31T23:59", "last year", "2024", id="last minute of the year"),
        pytest.param("2025-12-31T23:59", "去年", "2024", id="last minute of the year, zh"),
        pytest.param("2025-12-31T23:59", "tomorrow", "2026-01-01", id="last minute of the year, tomorrow"),
        pytest.param("2025-12-31T12:00", "in December", "2025-12", id="the month that is on"),
        pytest.param("2025-12-31T12:00", "六个月前", "2025-06", id="six months before the 31st"),
        pytest.param("2024-02-29T12:00", "a year ago today", "2023-02-28", id="leap day, a year ago"),
        pytest.param("2024-02-29T12:00", "去年今天", "2023-02-28", id="leap day, a year ago, zh"),
        pytest.param("2024-02-29T12:00", "today", "2024-02-29", id="leap day"),
        pytest.param("2024-02-29T12:00", "on 29 February", "2024-02-29", id="leap day, by its date"),
        pytest.param("2024-02-29T12:00", "last month", "2024-01", id="leap day, the month before"),
        pytest.param("2024-02-29T12:00", "四年前的今天", "2020-02-29", id="leap day, four years ago"),
        pytest.param("2024-03-01T12:00", "昨天", "2024-02-29", id="day after a leap day"),
        pytest.param("2023-03-01T12:00", "昨天", "2023-02-28", id="no leap day"),
        pytest.param("2024-02-28T12:00", "on 29 February", "2020-02-29", id="day before a leap day"),
        pytest.param("2024-03-31T12:00", "a month ago", "2024-02", id="a month before the 31st"),
        pytest.param("2024-03-31T12:00", "in the last month", "2024-02-29..2024-03-31", id="rolling from the 31st"),
        pytest.param("2026-05-10T12:00", "last week", "2026-04-27..2026-05-03", id="asked on a Sunday"),
        pytest.param("2026-05-11T00:00", "last week", "2026-05-04..2026-05-10", id="asked on a Monday at midnight"),
        pytest.param("2026-05-10T12:00", "last Sunday", "2026-05-03", id="today's weekday is not the last one"),
        pytest.param("2026-05-10T12:00", "on Sunday", "2026-05-10", id="today's weekday"),
        pytest.param("2026-05-10T12:00", "上周日", "2026-05-03", id="asked on a Sunday, zh"),
        pytest.param(
            "2026-05-09T12:00", "the last day, over the weekend", "2026-05-09..2026-05-10", id="the weekend that is on"
        ),
        pytest.param("2027-01-15T12:00", "this winter", "2026-12..2027-02", id="a winter over two years"),
        pytest.param("2027-01-15T12:00", "last winter", "2025-12..2026-02", id="the winter before"),
    ],
)
def test_calendar_edges(asked: str, text: str, expected: str) -> None:
    at = datetime.fromisoformat(asked).replace(tzinfo=BERLIN)

    assert times(text, at=at) == [days(expected)]


@pytest.mark.parametrize(
    ("asked", "zone", "text", "expected"),
    [
        pytest.param("2026-01-01T02:00", NEW_YORK, "last year", "2024", id="still the old year in New York"),
        pytest.param("2026-01-01T02:00", NEW_YORK, "昨天", "2025-12-30", id="still the day before in New York"),
        pytest.param("2025-12-31T12:00", AUCKLAND, "last year", "2025", id="already the new year in Auckland"),
        pytest.param("2025-12-31T12:00", AUCKLAND, "今天", "2026-01-01", id="already the next day in Auckland"),
        pytest.param("2026-04-30T22:30", BERLIN, "上个月", "2026-04", id="already May in Berlin"),
        pytest.param("2026-04-30T21:30", BERLIN, "上个月", "2026-03", id="still April in Berlin"),
    ],
)
def test_days_are_those_of_the_tenants_zone(asked: str, zone: ZoneInfo, text: str, expected: str) -> None:
    at = datetime.fromisoformat(asked).replace(tzinfo=UTC)

    assert times(text, at=at, zone=zone) == [days(expected, zone)]


@pytest.mark.parametrize(
    ("text", "zone", "start", "hours"),
    [
        pytest.param("29 March 2026", BERLIN, "2026-03-28T23:00", 23, id="clocks go forward"),
        pytest.param("25 October 2026", BERLIN, "2026-10-24T22:00", 25, id="clocks go back"),
        pytest.param("2026年3月29日", BERLIN, "2026-03-28T23:00", 23, id="clocks go forward, zh"),
        pytest.param("2026-03-08", NEW_YORK, "2026-03-08T05:00", 23, id="New York forward"),
        pytest.param("2026-11-01", NEW_YORK, "2026-11-01T04:00", 25, id="New York back"),
        pytest.param(
            "8 September 2024", ZoneInfo("America/Santiago"), "2024-09-08T04:00", 23, id="midnight is skipped"
        ),
        pytest.param("3 November 2024", ZoneInfo("America/Havana"), "2024-11-03T04:00", 25, id="midnight comes twice"),
        pytest.param("6 October 2024", ZoneInfo("Australia/Lord_Howe"), "2024-10-05T13:30", 23.5, id="half an hour"),
        pytest.param("in March 2026", BERLIN, "2026-02-28T23:00", 31 * 24 - 1, id="a month with a change"),
    ],
)
def test_a_day_has_the_hours_it_had_there(text: str, zone: ZoneInfo, start: str, hours: float) -> None:
    first = datetime.fromisoformat(start).replace(tzinfo=UTC)

    assert times(text, zone=zone) == [Period(start=first, end=first + timedelta(hours=hours))]


def test_a_day_that_was_left_out_is_no_date() -> None:
    # Samoa went from 29 to 31 December 2011.
    assert times("30 December 2011", zone=ZoneInfo("Pacific/Apia")) == []


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2025-03-05T10:00:00Z", "2025-03-05T10:00+00:00"),
        ("2025-03-05T10:00:00+08:00", "2025-03-05T02:00+00:00"),
        ("2025-03-05 10:00", "2025-03-05T09:00+00:00"),
        ("2025-03-05 10:00:30.5+0100", "2025-03-05T09:00:30.500000+00:00"),
        # Once at +02:00, once at +01:00: the first.
        ("2026-10-25 02:30", "2026-10-25T00:30+00:00"),
        # Never shown by any clock there: counted on from the offset before.
        ("2026-03-29 02:30", "2026-03-29T01:30+00:00"),
    ],
)
def test_an_instant_is_one_microsecond(text: str, instant: str) -> None:
    assert times(f"bought {text}") == [instant_period(datetime.fromisoformat(instant))]


@pytest.mark.parametrize(
    ("text", "order", "readings"),
    [
        ("03/04/2025", "DMY", ["2025-04-03"]),
        ("03/04/2025", "MDY", ["2025-03-04"]),
        ("03/04/2025", "YMD", ["2025-04-03", "2025-03-04"]),
        ("03/04/2025", None, ["2025-04-03", "2025-03-04"]),
        ("03/03/2025", None, ["2025-03-03"]),
        ("13/04/2025", None, ["2025-04-13"]),
        ("13/04/2025", "MDY", ["2025-04-13"]),
        ("25/03/04", "YMD", ["2025-03-04"]),
        ("03.04.2025", "MDY", ["2025-04-03"]),
        ("2025/03/04", "DMY", ["2025-03-04"]),
    ],
)
def test_order_of_a_numeric_date_is_the_tenants(text: str, order: DateOrder | None, readings: list[str]) -> None:
    (time,) = read(f"bought on {text}", asked_at=ASKED_AT, zone=ZONE, date_order=order).time_expressions

    expected = [days(one) for one in readings]
    assert time.period == (expected[0] if len(expected) == 1 else None)
    assert list(time.alternatives) == (expected if len(expected) > 1 else [])


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("now", "instant"),
        ("三天前", "day"),
        ("last week", "week"),
        ("上个月", "month"),
        ("Q3 2024", "quarter"),
        ("last summer", "season"),
        ("去年", "year"),
        ("since March", "range"),
        ("几个月前", "range"),
    ],
)
def test_precision_is_the_unit_that_was_said(text: str, precision: str) -> None:
    assert [time.precision for time in read(text, asked_at=ASKED_AT, zone=ZONE, date_order=None).time_expressions] == [
        precision
    ]


def test_an_order_number_is_no_date() -> None:
    reading = read("order SO-2024 and RF-20240305 from last year", asked_at=ASKED_AT, zone=ZONE, date_order="DMY")

    assert [time.text for time in reading.time_expressions] == ["last year"]


VOCABULARY = """
last next this may march May 5 5th 31 2024 2023-02-29 03/04/2025 since before after until from to and between in on
week month year days ago two a half couple of few within Wed Sunday Q3 quarter early end the now today SO-1182 9999 0 99
years 去年 前年 三 两 半 个 月 天 年 日 号 前 后 内 周 星期 上 下 这 到 至 从 3月 5日 二〇二四年 双十一 初 底 多 几 十
百 零 第 每 现在 买 尾 之前 坏 以前 以来 截至 - – ~ 之 ' % . , ？ İ ﬁ é 😀
"""
PIECES = st.tuples(st.sampled_from(VOCABULARY.split()), st.sampled_from(["", " "])).map("".join)
SENTENCES = st.lists(PIECES, max_size=14).map("".join)
FIRST, LAST = datetime(1980, 1, 1), datetime(2100, 1, 1)  # noqa: DTZ001 The strategy adds the zone.
INSTANTS = st.datetimes(FIRST, LAST, timezones=st.just(UTC))
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kolkata", "Pacific/Apia"]
)


@settings(max_examples=examples(default=600, soak=50_000))
@given(text=SENTENCES | st.text(), at=INSTANTS, zone=ZONES, order=st.sampled_from(["DMY", "MDY", "YMD", None]))
def test_any_text_is_read_with_spans_inside_it_and_no_empty_period(
    text: str, at: datetime, zone: str, order: DateOrder | None
) -> None:
    reading = read(text, asked_at=at, zone=ZoneInfo(zone), date_order=order)

    assert len(reading.folded) == len(reading.text)
    mentions: list[TimeExpression | Duration | OrderNumber] = [
        *reading.time_expressions,
        *reading.durations,
        *reading.order_numbers,
    ]
    spans = sorted(one.span for one in mentions)
    assert all(0 <= start < end <= len(reading.text) for start, end in spans)
    assert all(one.text == reading.text[slice(*one.span)] for one in mentions)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    for time in reading.time_expressions:
        assert (time.period is None) == (len(time.alternatives) > 1)
        assert all(one.start.tzinfo is UTC for one in (time.period, *time.alternatives) if one is not None)
    assert all(one.amount >= 0 for one in reading.durations)


@settings(max_examples=examples(default=200, soak=5_000))
@given(text=st.text(st.sampled_from("bcfgjkpqvxz ?!.,的吗能退货套餐买")), at=INSTANTS)
def test_text_without_words_of_time_has_none(text: str, at: datetime) -> None:
    reading = read(text, asked_at=at, zone=ZONE, date_order="DMY")

    assert (reading.time_expressions, reading.durations) == ((), ())


@settings(max_examples=examples(default=300, soak=20_000))
@given(at=INSTANTS)
def test_a_purchase_without_a_year_is_not_in_the_future(at: datetime) -> None:
    yearless = [f"bought on {day} {month}" for day in (1, 28) for month in ("January", "May", "December")]

    for text in (*yearless, "9月5号买的", "下单是在12月"):
        (time,) = read(text, asked_at=at, zone=ZONE, date_order="DMY").time_expressions
        assert time.role == "purchase"
        assert time.period is not None
        assert time.period.start <= at
