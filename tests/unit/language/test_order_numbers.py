from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support_agent.domain.reading import OrderNumber
from support_agent.language.order_numbers import DEFAULT_ORDER_NUMBER, order_numbers
from support_agent.language.reading import read
from tests.soak import examples
from tests.unit.language.expectations import ASKED_AT, ZONE

DEFAULT = re.compile(DEFAULT_ORDER_NUMBER)
SIX_CHARACTERS = re.compile("[A-Z0-9]{6}")
SO = re.compile(r"SO-\d{4}")


def numbers(text: str, pattern: re.Pattern[str] = DEFAULT) -> list[str]:
    return [found.number for found in order_numbers(text, pattern)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Where is SO-1182?", ["SO-1182"], id="plain"),
        pytest.param("where is so-1182", ["SO-1182"], id="lower case"),
        pytest.param("ＳＯ－１１８２", ["SO-1182"], id="full width"),
        pytest.param("SO–1182 or LO—10421", ["SO-1182", "LO-10421"], id="other dashes"),
        pytest.param("订单SO-1182什么时候到", ["SO-1182"], id="no spaces"),
        pytest.param("SO-1182, SO-1183.", ["SO-1182", "SO-1183"], id="two"),
        pytest.param("XSO-1182", [], id="longer word"),
        pytest.param("SO-1182-7", [], id="longer code"),
        pytest.param("SO-1182A", [], id="longer number"),
        pytest.param("we-2024", ["WE-2024"], id="any two letters"),
        pytest.param("14-day, 30-50", [], id="no letters"),
        pytest.param("", [], id="empty"),
    ],
)
def test_order_numbers_are_read_in_any_width_and_case(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


def test_letters_that_look_alike_make_no_other_order() -> None:
    (found,) = order_numbers("Where is L\u041e-10421?", DEFAULT)

    assert found == OrderNumber(span=(9, 17), text="L\u041e-10421", number="L\u041e-10421")
    assert found.number != "LO-10421"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Can I cancel reservation PGAGLM?", ["PGAGLM"], id="capitals"),
        pytest.param("可以取消预订 PGAGLM 吗", ["PGAGLM"], id="among Chinese"),
        pytest.param("Can I cancel 4wqf3k?", ["4WQF3K"], id="lower case with a digit"),
        pytest.param("can i cancel my refund please", [], id="words as long as a number"),
        pytest.param("Please Cancel it", [], id="words with a capital"),
        pytest.param("PLEASE CANCEL MY FLIGHT", [], id="shouted"),
        pytest.param("CANCEL RESERVATION PGAGLM NOW", ["PGAGLM"], id="shouted, called a number"),
    ],
)
def test_number_of_letters_only_is_not_a_word(text: str, expected: list[str]) -> None:
    assert numbers(text, SIX_CHARACTERS) == expected


def test_invisible_characters_do_not_hide_a_number() -> None:
    reading = read("\u202eSO-\u200b1182\u202c", asked_at=ASKED_AT, zone=ZONE, date_order=None)

    assert [found.number for found in reading.order_numbers] == ["SO-1182"]


@pytest.mark.parametrize(
    "text",
    [
        "SO 1183",
        "SO1183",
        "so1183",
        "SO_1183",
        "SO#1183",
        "SO.1183",
        "SO/1183",
        "SO:1183",
        "SO\u00a01183",
        "order SO – 1183",
        "SO——1183",
        "ＳＯ　１１８３ 能退吗",
        "so 1183",
        "so 1183?",
        "hi, so 1183 please",
        "order so 1183",
        "my reservation: so 1183",
        "his number, so 1183. can it still be returned?",
        "Can so 1183 be returned",
        "where is so 1183",
        "status of so 1183",
        "is so 1183 covered",
        "So 1183 - refund?",
        "so 1183, can i return it?",
        "I want to return so 1183.",
        "CAN I RETURN SO 1183",
        "so 1183 还能退吗",
        "我想退so 1183",
        "訂單 so 1183",
        "單號：so 1183",
    ],
)
def test_anything_may_stand_in_place_of_the_dash(text: str) -> None:
    assert numbers(text, SO) == ["SO-1183"]


@pytest.mark.parametrize(
    "text",
    [
        "so 2024 was a good year",
        "So 2024 was fine",
        "that was so 2023!",
        "I forgot, so 2024 it is",
        "so 1183 people came",
        "I paid in March, so 1183 euros is wrong",
        "I earn so 1183.50",
        "so 1183 € is too much",
        "so 2024年的规定是什么",
        "also 1183",
        "SO 11834",
    ],
)
def test_the_word_so_before_a_number_is_no_order(text: str) -> None:
    assert numbers(text, SO) == []


def test_years_of_an_order_number_need_an_order_beside_them() -> None:
    assert numbers("order so 2024", SO) == ["SO-2024"]
    assert numbers("can I return SO 2024", SO) == ["SO-2024"]


def test_a_list_of_numbers_is_read_to_its_end() -> None:
    assert numbers("SO-1182, so 1183 and so 1184", SO) == ["SO-1182", "SO-1183", "SO-1184"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order SO 1183", ["SO-1183"]),
        ("order AB#1234", ["AB-1234"]),
        ("order in 2024", []),
        ("order no 1234", []),
        ("ORDER NO 1234", []),
        ("order ab 1234", []),
        ("ISO 9001, EU 2019, we 2024", []),
    ],
)
def test_any_letters_without_their_dash_must_be_called_a_number(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("so 1183, in 2024", SIX_CHARACTERS, []),
        ("can you", re.compile("[A-Z]{3}-[A-Z]{3}"), []),
        ("A 2024 0017", re.compile(r"A-\d{4}-\d{4}"), ["A-2024-0017"]),
        ("RF 1183", re.compile(r"(?:SO|RF)-\d{4}"), ["RF-1183"]),
        ("SO 1183", re.compile(r"SO-?\d{4}"), ["SO-1183"]),
        ("SO 1183", re.compile(r"SO-(?<=-)\d{4}"), []),
        ("SO 1183", re.compile(r"SO[-]\d{4}"), []),
    ],
)
def test_a_pattern_is_taken_apart_at_its_dashes_only(text: str, pattern: re.Pattern[str], expected: list[str]) -> None:
    assert numbers(text, pattern) == expected


PIECES = st.sampled_from([*"sSoO019 -–_#.:/ßİ１", "so", "SO", "1183", "order ", "订单", "还", "ﬀ", "О", "\n"])


@settings(max_examples=examples(default=300, soak=20_000))
@given(text=st.lists(PIECES, max_size=12).map("".join) | st.text())
def test_any_number_found_stands_in_the_text_and_looks_like_one(text: str) -> None:
    for pattern in (SO, DEFAULT, SIX_CHARACTERS):
        found = order_numbers(text, pattern)

        assert all(number.text == text[slice(*number.span)] for number in found)
        assert all(one.span[1] <= other.span[0] for one, other in pairwise(found))
        # What has another form was meant as a number all the same, and equals no order.
        assert all(pattern.fullmatch(n.number) or re.search("[0-9]", n.number) for n in found if n.number.isascii())


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("refund SO-11900", "SO-11900"),
        ("SO-119 能退吗", "SO-119"),
        ("Where is order 999999?", "999999"),
        ("订单 XY-1234 到哪了", "XY-1234"),
        ("my order AB-77 please", "AB-77"),
    ],
)
def test_what_is_meant_as_a_number_is_not_read_over(text: str, number: str) -> None:
    found = order_numbers(text, re.compile(r"SO-\d{4}"))

    assert [one.number for one in found] == [number]


@pytest.mark.parametrize(
    "text", ["I ordered 5 keyboards in 2025", "order 3 of them", "my id is C-2001", "RFC-2119 says so"]
)
def test_other_numbers_are_no_attempts(text: str) -> None:
    assert order_numbers(text, re.compile(r"SO-\d{4}")) == ()
