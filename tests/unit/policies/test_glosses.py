from __future__ import annotations

import subprocess
import sys

import pytest

from policies.glosses import english, english_of_text
from policies.text import question_tokens
from policies.trade_words import TRADE_WORDS


@pytest.mark.parametrize(
    ("word", "token"),
    [
        ("退款", "refund"),
        ("证书", "certif"),
        ("俄亥俄州", "ohio"),
        # The dictionary has the meal of a restaurant.
        ("套餐", "plan"),
        ("网速", "speed"),
        # Known in its parts only.
        ("退款政策页", "refund"),
    ],
)
def test_word_is_met_by_what_it_means(word: str, token: str) -> None:
    assert token in english(word)


def test_unknown_and_latin_words_mean_nothing() -> None:
    assert english("龘龘") == english("vimeo") == english("") == frozenset()


@pytest.mark.parametrize("word", ["个", "退款", "发布", "年龄"])
def test_counters_spellings_and_words_of_dictionaries_are_no_meaning(word: str) -> None:
    assert english(word).isdisjoint({"cl", "classifi", "sth", "sb", "variant", "get", "make"})


def test_text_gives_the_meanings_of_its_words_without_those_that_every_text_has() -> None:
    assert {"refund", "invoic"} <= set(english_of_text("请问我可以退款吗？發票怎麼開？"))
    assert english_of_text("我们可以吗？") == []


def test_trade_words_are_simplified_and_mean_something() -> None:
    assert all(question_tokens(meanings) for meanings in TRADE_WORDS.values())
    assert len(TRADE_WORDS) > 100


def test_dictionary_is_read_only_for_chinese() -> None:
    script = (
        "import sys; from policies import glosses; glosses.english_of_text('Can I have a refund?');"
        "sys.exit(glosses._dictionary.cache_info().currsize)"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
