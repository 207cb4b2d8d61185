from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support_agent.language.locale import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Can I get a refund?", "en"),
        ("我们去年买的套餐现在还能退吗？", "zh"),
        ("我們的套餐", "zh"),
        ("我的 order SO-1182 还能 refund 吗", "zh"),
        ("refund policy 是什么", "zh"),
        ("What does 七天无理由 mean?", "en"),
        ("What is the 双十一 policy?", "en"),
        ("SO-1182 退款", "zh"),
        ("SO-1182", "en"),
        ("Où est ma commande ?", "en"),
    ],
)
def test_most_of_the_text_decides(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(("locale", "language"), [("zh", "zh"), ("zh-Hant-TW", "zh"), ("zh_CN", "zh"), ("en-GB", "en")])
def test_the_callers_locale_wins(locale: str, language: str) -> None:
    assert language_of("refund 退款", locale=locale) == language


def test_a_locale_that_is_not_ours_is_left_to_the_text() -> None:
    assert language_of("我要退款", locale="de") == "zh"


@pytest.mark.parametrize("text", ["", "?!", "14 25", "😀", "возврат"])
def test_text_without_a_word_of_ours_takes_the_default(text: str) -> None:
    assert language_of(text, default="zh") == "zh"


@given(text=st.text())
def test_any_text_has_a_language(text: str) -> None:
    assert language_of(text) in ("en", "zh")
