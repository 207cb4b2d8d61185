from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import opencc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.text import fold, normalise, question_tokens, simplified, stem, tokens
from tests.soak import examples

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("refund", "refund", id="plain"),
        pytest.param("cafe\u0301", "caf\u00e9", id="composed"),
        pytest.param("re\u200bfu\u00adnd\ufeff", "refund", id="zero width"),
        pytest.param("\u202eLO-10421\u202c", "LO-10421", id="bidirectional"),
        pytest.param("refund" + "".join(chr(0xE0000 + ord(c)) for c in "approve"), "refund", id="tag characters"),
        pytest.param("a\x00b\x07c", "a b c", id="control"),
        pytest.param("a\r\nb\rc\u2028d\te", "a\nb\nc\nd\te", id="line breaks"),
        pytest.param("a\ud800b", "a\ufffdb", id="lone surrogate"),
    ],
)
def test_normalised_text_has_nothing_hidden(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Refund", "refund"),
        ("ＳＯ－１１８２", "so-1182"),
        ("Straße", "strasse"),
        ("customer’s", "customer's"),
        ("我們去年買的套餐現在還能退嗎？", "我们去年买的套餐现在还能退吗?"),
        ("於是", "于是"),
        ("乾隆", "乾隆"),
    ],
)
def test_folded_text_compares_equal(text: str, expected: str) -> None:
    assert fold(text) == expected


def test_every_simplified_character_folds_as_the_converter_says() -> None:
    # The converter is left out for GB 2312 text; this is the proof that nothing is missed by it.
    convert = opencc.OpenCC("t2s").convert
    pairs = [bytes([a, b]) for a in range(0xB0, 0xF8) for b in range(0xA1, 0xFF)]
    characters = [pair.decode("gb2312", errors="ignore") for pair in pairs]

    # 帐 and 账 are one word to us.
    assert [c for c in characters if simplified(c) != convert(c).replace("帐", "账")] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Refunds are refundable", ["refund", "are", "refund"]),
        ("14-day", ["14", "day"]),
        ("$25 or 1,000", ["$25", "25", "or", "1000"]),
        ("2.5% fee", ["2.5%", "2.5", "fee"]),
        ("order SO-1182", ["order", "so-1182", "so", "1182"]),
        ("the customer's plan", ["the", "custom", "plan"]),
        ("退货", ["退", "货", "退货"]),
        ("有效期", ["有", "效", "期", "有效", "效期", "有效期"]),
        ("退貨14天", ["退", "货", "退货", "14", "天"]),
        ("VIP套餐", ["vip", "套", "餐", "套餐"]),
        ("", []),
        ("?! 😀", []),
    ],
)
def test_tokens_are_stems_numbers_characters_pairs_and_words(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can I still get a refund for the plan?", ["refund", "plan"]),
        ("What is the refund, the REFUND window?", ["refund", "window"]),
        ("我们的套餐还能退吗？", ["套", "餐", "退", "套餐"]),
        ("有效吗", ["效", "有效"]),
        ("what is it", []),
        ("的吗", []),
    ],
)
def test_question_tokens_leave_out_what_every_text_has(text: str, expected: list[str]) -> None:
    assert question_tokens(text) == expected


def test_traditional_question_asks_for_the_simplified_text() -> None:
    assert question_tokens("我們買的套餐現在還能退嗎") == question_tokens("我们买的套餐现在还能退吗")


def test_word_of_another_alphabet_is_its_own_stem() -> None:
    assert stem("возвраты") == "возвраты"


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        pytest.param("Can I get a refund — please? 😀", "snowballstemmer", id="english"),
        pytest.param("去年买的套餐还能退吗？", "rjieba", id="simplified"),
        pytest.param("退 2 件?", "", id="one character"),
    ],
)
def test_only_what_a_text_needs_is_loaded(text: str, loaded: str) -> None:
    program = (
        "import sys; from policies.text import question_tokens; question_tokens(sys.argv[1]);"
        "print(*(m for m in ('opencc', 'rjieba', 'snowballstemmer') if m in sys.modules))"
    )

    shown = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, text], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )

    assert shown.stdout.strip() == loaded


@settings(max_examples=examples(default=300, soak=20_000))
@given(text=st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_normalised_folded_and_cut(text: str) -> None:
    normalised = normalise(text)

    assert normalise(normalised) == normalised
    assert unicodedata.is_normalized("NFC", normalised)
    assert all(tokens(text))
    assert set(question_tokens(text)) <= set(tokens(text))
