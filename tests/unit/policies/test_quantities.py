"""What counts as the same figure, in English and Chinese, and what does not."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.quantities import keys_of_text, keys_of_value, quantities, unsupported
from tests.soak import examples

SUPPORTED = [
    # Numbers and units.
    ("within 14 days", "14 days"),
    ("within 14 days", "fourteen days"),
    ("within fourteen days", "14 days"),
    ("a 14-day window", "within 14 days of purchase"),
    ("14 days", "two weeks"),
    ("14天", "14 days"),
    ("十四天", "14 天"),
    ("14 days", "十四日内"),
    ("三十天内", "30 days"),
    ("30日", "三十天"),
    ("一百二十天", "120 days"),
    ("两周", "14 天"),
    ("3个月", "three months"),
    ("三个月", "3 months"),
    ("one year", "12 months"),
    ("1 年", "twelve months"),
    ("二十四小时", "24 hours"),
    ("24 h", "24小时"),
    ("十分钟", "10 minutes"),
    ("5 working days", "5个工作日"),
    ("five business days", "5 working days"),
    ("30 calendar days", "30 days"),
    ("14", "within 14 days"),
    ("14 days", "| days | 14 |"),
    ("１４ 天", "14 days"),
    ("one hundred and twenty", "120"),
    ("two thousand", "2,000"),
    ("1.5万元", "15,000 yuan"),
    ("2 万元", "20,000 yuan"),
    ("¥ 3 万", "30,000 yuan"),
    ("the 14th day", "14"),
    ("第十四条", "第14条"),
    ("twenty-one days", "21 days"),
    # Shares.
    ("25%", "25 percent"),
    ("25%", "2500 bp"),
    ("12.5%", "1250 basis points"),
    ("百分之二十五", "25%"),
    ("25％", "百分之25"),
    ("ten per cent", "10%"),
    ("10%", "1000个基点"),
    # Amounts.
    ("$25", "$25.00"),
    ("$25", "25 dollars"),
    ("$25", "USD 25"),
    ("US$25.00", "$25"),
    ("$1,234.50", "1234.50 USD"),
    ("€1,234.50", "1.234,50 €"),
    ("25 euros", "€25"),
    ("25 元", "¥25.00"),
    ("25元人民币", "CN¥25"),
    ("人民币 25", "25 yuan"),
    ("二十五元", "¥25"),
    ("$25", "| fee (USD) | 25 |"),
    # Dates and times.
    ("4 April 2025", "2025-04-04"),
    ("April 4, 2025", "4 April 2025"),
    ("2025年4月4日", "2025-04-04"),
    ("2025 年 4 月 4 日", "4 Apr 2025"),
    ("二〇二五年四月四日", "2025-04-04"),
    ("4月4日", "4 April"),
    ("4 April", "2025-04-04"),
    ("April 2025", "2025-04-04"),
    ("2025年4月", "4 April 2025"),
    ("in 2025", "4 April 2025"),
    ("2025年", "2025-04-04"),
    ("the 4th of April 2025", "2025/04/04"),
    ("2025-04-04", "2025-04-04T14:03:00+02:00"),
    ("04/04/2025", "2025-04-04"),
    ("29 February", "2024-02-29"),
    ("at 23:59", "23:59:59"),
    ("10 p.m.", "22:00"),
    # Codes.
    ("order SO-1182", "SO-1182"),
    ("order so-1182", "SO-1182"),
    ("订单SO-1182", "SO-1182"),
    ("section 4.2.1", "4.2.1"),
    # No figure at all.
    ("This one is open, as are both of them.", ""),
    ("一般情况下十分方便，最后一天也可以，周三照常。", ""),
    ("May I return it? The second one, Sat or Sun.", ""),
    ("万一不行，请联系我们的一个同事。", ""),
]
UNSUPPORTED = [
    ("14 days", "30 days", ["14 days"]),
    ("14 days", "14 months", ["14 days"]),
    ("14 days", "14 hours", ["14 days"]),
    ("5 working days", "5 days", ["5 working days"]),
    ("十四天", "四十天", ["十四天"]),
    ("三个月", "三十天", ["三个月"]),
    ("25%", "25 days", ["25%"]),
    ("25%", "25", ["25%"]),
    ("25%", "250 bp", ["25%"]),
    ("$25", "€25", ["$25"]),
    ("$25", "$26", ["$25"]),
    ("¥25", "$25", ["¥25"]),
    ("25元", "25天", ["25元"]),
    ("4 April 2025", "2025-04-05", ["4 April 2025"]),
    ("4 April 2025", "April 2025", ["4 April 2025"]),
    ("4 April 2025", "4 April", ["4 April 2025"]),
    ("2025年4月4日", "2024年4月4日", ["2025年4月4日"]),
    ("in 2025", "in 2024", ["2025"]),
    ("03/04/2025", "2025-05-03", ["03/04/2025"]),
    ("at 23:59", "at 11:59", ["23:59"]),
    ("order SO-1182", "SO-1183", ["SO-1182"]),
    ("order SO-1182", "1182", ["SO-1182"]),
    ("see [9]", "14 days", ["9"]),
    ("第十四条", "第四条", ["第十四条"]),
    ("30 days, 10% and $5", "30 days", ["10%", "$5"]),
    ("退款期限为30天，可退百分之五十", "14天", ["30天", "百分之五十"]),
    ("两次", "three times", ["两次"]),
]


@pytest.mark.parametrize(("said", "quoted"), SUPPORTED)
def test_the_same_figure_is_known_however_it_is_written(said: str, quoted: str) -> None:
    assert unsupported(said, keys_of_text(quoted)) == []


@pytest.mark.parametrize(("said", "quoted", "figures"), UNSUPPORTED)
def test_another_figure_is_named_as_it_was_written(said: str, quoted: str, figures: list[str]) -> None:
    assert unsupported(said, keys_of_text(quoted)) == figures


@pytest.mark.parametrize(
    ("value", "zone", "said"),
    [
        (datetime.fromisoformat("2025-03-04T23:30:00+00:00"), "Europe/Berlin", "5 March 2025, 00:30"),
        (datetime.fromisoformat("2025-03-04T23:30:00+00:00"), "UTC", "4 March 2025, 23:30"),
        (date(2025, 3, 5), "UTC", "2025年3月5日"),
        (14, "UTC", "14 days"),
        ("SO-1182", "UTC", "order SO-1182"),
        (("team 5", "team 6"), "UTC", "6"),
    ],
)
def test_a_value_says_what_its_type_says(value: object, zone: str, said: str) -> None:
    assert unsupported(said, keys_of_value(value, ZoneInfo(zone))) == []


def test_true_says_no_number() -> None:
    assert keys_of_value(True, ZoneInfo("UTC")) == frozenset()
    assert unsupported("1", keys_of_value(1, ZoneInfo("UTC"))) == []


def test_a_date_that_no_calendar_has_is_no_date() -> None:
    assert unsupported("2025-02-30", keys_of_text("2025-02-30")) == []
    assert quantities("30 February 2025") == ()


def test_a_quantity_stands_where_it_says() -> None:
    text = "İn Köln：１４ 天，费用 ￥25.50。"

    assert [text[q.start :].startswith(q.text) for q in quantities(text)] == [True, True]


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.dates(min_value=date(1000, 1, 1), max_value=date(9999, 12, 31)))
def test_every_way_to_write_a_date_is_the_same_date(on: date) -> None:
    written = [
        on.isoformat(),
        f"{on.day} {on:%B} {on.year}",
        f"{on:%b} {on.day}, {on.year}",
        f"{on.year}年{on.month}月{on.day}日",
    ]

    assert all(unsupported(one, keys_of_text(other)) == [] for one in written for other in written)


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.integers(min_value=0, max_value=10**9))
def test_digits_with_and_without_commas_are_the_same_number(n: int) -> None:
    assert unsupported(f"{n:,}", keys_of_text(str(n))) == []
    assert unsupported(f"{n} days", keys_of_text(f"{n:,}天")) == []
    assert unsupported(f"{n}", keys_of_text(f"{n + 1}")) == [str(n)]


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.text(max_size=200))
def test_any_text_can_be_read_and_supports_itself(text: str) -> None:
    assert unsupported(text, keys_of_text(text)) == []
