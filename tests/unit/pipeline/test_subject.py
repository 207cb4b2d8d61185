"""What counts in a question, and how much."""

from __future__ import annotations

from support_agent.pipeline.subject import NAMED, subject_meanings


def test_latin_word_in_a_chinese_question_counts_more_and_digits_do_not() -> None:
    weights = {word: weight for word, (weight, _) in subject_meanings("用 Basecamp 的 17 个人怎么付款？").items()}

    assert weights["basecamp"] == NAMED * weights["17"]


def test_trade_word_has_the_meanings_of_the_trade() -> None:
    meanings = subject_meanings("多久答复电子邮件？")

    assert {"respons", "repli"} <= meanings["答复"][1]
    assert {"email", "mail"} <= meanings["电子邮件"][1]
