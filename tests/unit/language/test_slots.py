from __future__ import annotations

import pytest

from support_agent.domain.reading import Reading
from support_agent.language.reading import read
from support_agent.language.slots import Phrases
from tests.unit.language.expectations import ASKED_AT, ZONE


def reading(text: str) -> Reading:
    return read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")


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
