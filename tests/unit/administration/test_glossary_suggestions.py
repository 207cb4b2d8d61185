from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.text import question_tokens
from support_agent.administration.glossary_suggestions import unknown_phrases, words_in

#: What documents have, in both languages.
HELD = frozenset(question_tokens("delete account card refund warranty days 发票 退款 账户 手 慢"))


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("Can I pay with plastic money by card?", ["pay", "plastic money"]),
        ("How do I delete my account?", []),
        ("How long does it take, please?", []),
        ("Is it ok to scrub, nuke it?", ["scrub", "nuke"]),
        ("手慢了还能退款吗", ["手慢"]),
        ("麻烦问一下能开小票吗？", ["小票"]),
        ("有没有退款", []),
        ("", []),
    ],
    ids=["neighbours", "all known", "talk", "comma", "new word", "Chinese", "Chinese known", "nothing"],
)
def test_what_no_document_has_is_named(question: str, phrases: list[str]) -> None:
    assert unknown_phrases(words_in(question), HELD) == phrases


def test_word_whose_meaning_a_document_has_is_known() -> None:
    assert unknown_phrases(words_in("怎么保修"), HELD) == []
    assert unknown_phrases(words_in("怎么保修"), HELD - {"warranti"}) == ["保修"]


@given(st.text(alphabet="abc é退款小票手慢了? ,'", max_size=30))
def test_phrases_stand_in_the_question_and_are_unknown(question: str) -> None:
    compact = "".join(question.split())
    for phrase in unknown_phrases(words_in(question), HELD):
        assert "".join(phrase.split()) in compact
        assert unknown_phrases(words_in(phrase), HELD) in ([phrase], [])


@given(st.text(alphabet="abc 退款小票手慢了", max_size=30))
def test_nothing_is_unknown_where_everything_is_held(question: str) -> None:
    held = {token for row in words_in(question) for word in row for token in word.tokens}

    assert unknown_phrases(words_in(question), held) == []
