"""Candidate terms as English and Chinese policies word them, and their comparison across units."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.candidates import CandidateTerm, candidate_terms, compare, proposed_name, term_value
from tests.soak import examples


def only(text: str) -> CandidateTerm:
    (found,) = candidate_terms(text)
    return found


@pytest.mark.parametrize(
    ("text", "written", "value", "unit"),
    [
        ("within thirty (30) days of purchase", "thirty (30) days", 30, "day"),
        ("within 30 days", "30 days", 30, "day"),
        ("a 30-day window", "30-day", 30, "day"),
        ("a fourteen-day trial", "fourteen-day", 14, "day"),
        ("for twenty-one (21) days", "twenty-one (21) days", 21, "day"),
        ("two weeks after delivery", "two weeks", 14, "day"),
        ("after 1 week", "1 week", 7, "day"),
        ("at least 24 hours", "24 hours", 24, "hour"),
        ("forty-eight (48) hours", "forty-eight (48) hours", 48, "hour"),
        ("for 90 minutes", "90 minutes", 90, "minute"),
        ("a 12-month plan", "12-month", 12, "month"),
        ("for one year", "one year", 12, "month"),
        ("for two (2) years", "two (2) years", 24, "month"),
        ("each quarter of 1 quarter", "1 quarter", 3, "month"),
        ("three (3) business days", "three (3) business days", 3, "business day"),
        ("five working days", "five working days", 5, "business day"),
        ("30 天内", "30 天", 30, "day"),
        ("三十天内退款", "三十天", 30, "day"),
        ("收到之日起七日内", "七日", 7, "day"),
        ("三十（30）日内", "三十（30）日", 30, "day"),
        ("十五(15)日内", "十五(15)日", 15, "day"),
        ("两周之内", "两周", 14, "day"),
        ("兩週內", "兩週", 14, "day"),
        ("一个月以内", "一个月", 1, "month"),
        ("6个月", "6个月", 6, "month"),
        ("三年内", "三年", 36, "month"),
        ("72小时", "72小时", 72, "hour"),
        ("至少3个工作日", "3个工作日", 3, "business day"),
        ("15分钟", "15分钟", 15, "minute"),
    ],
)
def test_duration_is_read(text: str, written: str, value: int, unit: str) -> None:
    found = only(text)

    assert (found.kind, found.text, found.value, found.unit) == ("duration", written, Decimal(value), unit)


@pytest.mark.parametrize(
    ("text", "written", "value", "currencies"),
    [
        ("a fee of $25", "$25", "25", {"USD", "CAD", "AUD", "HKD", "SGD", "NZD", "TWD"}),
        ("a fee of 25 USD", "25 USD", "25", {"USD"}),
        ("US$ 1,200.50", "US$ 1,200.50", "1200.50", {"USD"}),
        ("€9.99 a month", "€9.99", "9.99", {"EUR"}),
        ("EUR 40", "EUR 40", "40", {"EUR"}),
        ("25 euros", "25 euros", "25", {"EUR"}),
        ("£7", "£7", "7", {"GBP"}),
        ("286.00 元", "286.00 元", "286.00", {"CNY"}),
        ("收取 15 元手续费", "15 元", "15", {"CNY"}),
        ("¥99", "¥99", "99", {"CNY", "JPY"}),
        ("十元", "十元", "10", {"CNY"}),
        ("30美元", "30美元", "30", {"USD"}),
    ],
)
def test_amount_is_read(text: str, written: str, value: str, currencies: set[str]) -> None:
    found = only(text)

    assert (found.kind, found.text, found.value) == ("amount", written, Decimal(value))
    assert found.currencies == currencies


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10% of the quota", 10),
        ("ten percent", 10),
        ("2.5 %", "2.5"),
        ("百分之二十五", 25),
        ("25％", 25),
        ("500 bp", 5),
    ],
)
def test_percentage_is_read(text: str, value: int | str) -> None:
    found = only(text)

    assert (found.kind, found.value) == ("percentage", Decimal(value))


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("20 emails per hour", 20, "email"),
        ("up to 5,000 users", 5000, "user"),
        ("three (3) attempts", 3, "attempt"),
        ("五次机会", 5, None),
        ("最多 3 台设备", 3, None),
    ],
)
def test_count_is_read(text: str, value: int, unit: str | None) -> None:
    found = only(text)

    assert (found.kind, found.value, found.unit) == ("count", Decimal(value), unit)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("from 4 April 2025", (2025, 4, 4)),
        ("from April 4, 2025", (2025, 4, 4)),
        ("from 2025-04-04 on", (2025, 4, 4)),
        ("自2025年4月4日起", (2025, 4, 4)),
        ("until April 2025", (2025, 4, None)),
        ("每年 3 月 15 日", (None, 3, 15)),
    ],
)
def test_date_is_read(text: str, day: tuple[int | None, int | None, int | None]) -> None:
    found = only(text)

    assert (found.kind, found.day) == ("date", day)


@pytest.mark.parametrize(
    ("text", "written", "low", "high"),
    [
        ("3 to 5 business days", "3 to 5 business days", 3, 5),
        ("3-5 days", "3-5 days", 3, 5),
        ("3–5 weeks", "3–5 weeks", 3, 35),
        ("3至5天", "3至5天", 3, 5),
        ("$5 to $10", "$5 to $10", 5, 10),
        ("5 - 10 %", "5 - 10 %", 5, 10),
    ],
)
def test_range_is_one_candidate(text: str, written: str, low: int, high: int) -> None:
    found = only(text)

    assert (found.text, found.value, found.upper) == (written, Decimal(low), Decimal(high))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("within 14 days", "at_most"), ("up to 14 days", "at_most"), ("14 days or less", "at_most"),
        ("less than 14 days", "at_most"), ("不足 14 天", "at_most"), ("不到14天", "at_most"), ("14 天以下", "at_most"),
        ("14 天内", "at_most"), ("不超过 14 天", "at_most"), ("at least 14 days", "at_least"),
        ("14 or more days", "at_least"), ("不少于 14 天", "at_least"), ("14 天以上", "at_least"), ("14 days", None),
    ],
)  # fmt: skip
def test_limit_is_told_from_a_plain_value(text: str, bound: str | None) -> None:
    assert only(text).bound == bound


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no number here",
        "this one",
        "section 4.2.1",
        "第三条",
        "第 0 天",
        "day 0",
        "section 4",
        "the 3rd attempt",
        "in 2025",
        "同一天",
        "一般",
    ],
)
def test_what_is_no_value_is_left_out(text: str) -> None:
    assert [found for found in candidate_terms(text) if found.kind != "date"] == []


@pytest.mark.parametrize(
    ("one", "other", "comparison"),
    [
        ("14 days", "two weeks", "same"), ("14 days", "两周", "same"), ("14 天", "fourteen (14) days", "same"),
        ("24 hours", "1 day", "same"), ("48 小时", "two days", "same"), ("60 minutes", "1 hour", "same"),
        ("12 months", "one year", "same"), ("一年", "12个月", "same"), ("14 days", "30 天", "different"),
        ("30 days", "1 month", "incomparable"), ("30 days", "two months", "different"),
        ("14 days", "1 month", "different"), ("3 business days", "3 days", "incomparable"),
        ("3 business days", "5 working days", "different"), ("3 to 5 days", "3-5天", "same"),
        ("3 to 5 days", "5 days", "different"), ("$25", "25 USD", "same"), ("$25", "$30", "different"),
        ("$25", "25 元", "incomparable"), ("25.00 元", "25 元", "same"), ("10%", "百分之十", "same"),
        ("10%", "15 percent", "different"), ("10%", "10 days", "incomparable"),
        ("20 emails", "30 emails", "different"), ("20 emails", "30 users", "incomparable"),
        ("4 April 2025", "2025年4月4日", "same"), ("4 April 2025", "2025年4月5日", "different"),
        ("April 2025", "4 April 2025", "incomparable"), ("April 2025", "May 2025", "different"),
    ],
)  # fmt: skip
def test_values_are_compared_across_units(one: str, other: str, comparison: str) -> None:
    first, second = only(one), only(other)

    assert compare(first, second) == comparison
    assert compare(second, first) == comparison


def test_passage_with_several_values_gives_them_in_order() -> None:
    text = "Within thirty (30) days we refund 50% of the price, at most $40; after that, nothing until 1 May 2026."

    assert [found.text for found in candidate_terms(text)] == ["thirty (30) days", "50%", "$40", "1 May 2026"]


_DAYS = st.integers(min_value=2, max_value=98)
_ENGLISH = st.sampled_from(["You have {} days to return it.", "within {} days", "a {}-day period", "for {} days, then"])
_CHINESE = st.sampled_from(["您可在 {} 天内退货。", "{}日内", "签收后{}天"])


@given(days=_DAYS, english=_ENGLISH, chinese=_CHINESE)
@settings(max_examples=examples(default=100, soak=5_000))
def test_languages_say_the_same(days: int, english: str, chinese: str) -> None:
    assert compare(only(english.format(days)), only(chinese.format(days))) == "same"


@given(
    pieces=st.lists(
        st.sampled_from(
            [
                "within thirty (30) days",
                "三十（30）日内",
                "$25",
                "3 to 5 business days",
                "  ",
                "，",
                "10 %",
                " or ",
                "十(十)天",
            ]
        ),
        max_size=8,
    )
)
@settings(max_examples=examples(default=200, soak=10_000))
def test_spans_point_at_what_they_say(pieces: list[str]) -> None:
    text = " ".join(pieces)
    found = candidate_terms(text)

    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "heading", "name", "value"),
    [
        ("within 14 days", "Window", "refund.window_days", 14),
        ("within two weeks", "Window", "refund.window_days", 14),
        ("$25", "Restocking fee", "refund.restocking_fee_minor", 2500),
        ("10%", "Quota used", "refund.quota_used_bp", 1000),
        ("24 hours", "Notice", "refund.notice_hours", 24),
        ("6 months", "Warranty", "refund.warranty_months", 6),
        ("4 April 2025", "Deadline", "refund.deadline_on", date(2025, 4, 4)),
        ("14 天", "退款期限", "refund.value_days", 14),
        ("2.5 days", "Window", "refund.window_days", None),
    ],
)
def test_name_and_value_of_a_term_are_proposed(text: str, heading: str, name: str, value: int | date | None) -> None:
    found = only(text)

    assert proposed_name("refund", found, heading=heading) == name
    assert term_value(found) == value
