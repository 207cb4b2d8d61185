from __future__ import annotations

import re

import pytest

from support_agent.domain.reading import OrderNumber, Reading
from support_agent.language.order_numbers import DEFAULT_ORDER_NUMBER, order_numbers
from support_agent.language.reading import read
from support_agent.language.slots import Phrases
from tests.unit.language.expectations import ASKED_AT, ZONE

DEFAULT = re.compile(DEFAULT_ORDER_NUMBER)
SIX_CHARACTERS = re.compile("[A-Z0-9]{6}")


def numbers(text: str, pattern: re.Pattern[str] = DEFAULT) -> list[str]:
    return [found.number for found in order_numbers(text, pattern)]


def reading(text: str) -> Reading:
    return read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")


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
    assert [found.number for found in reading("\u202eSO-\u200b1182\u202c").order_numbers] == ["SO-1182"]


PHRASES = Phrases(
    {
        "refund": ["refund", "money back", "退款", "能退"],
        "plan": ["plan", "annual plan", "套餐"],
        "vip": ["VIP 套餐"],
        "nothing": ["", "?!"],
    }
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Are plans refundable?", {"refund", "plan"}),
        ("I want my MONEY back", {"refund"}),
        ("money is back", set()),
        ("back my money", set()),
        ("planet", set()),
        ("我們的套餐還能退嗎", {"refund", "plan"}),
        ("vip套餐", {"plan", "vip"}),
        ("退 款", {"refund"}),
        ("退货", set()),
        ("", set()),
    ],
)
def test_phrases_match_stems_in_sequence_and_chinese_as_written(text: str, names: set[str]) -> None:
    assert PHRASES.names(reading(text)) == names


def test_the_longest_phrase_comes_first() -> None:
    found = PHRASES.find(reading("a refund for my annual plan"))

    assert [(match.phrase, match.weight) for match in found] == [("annual plan", 2), ("refund", 1), ("plan", 1)]
