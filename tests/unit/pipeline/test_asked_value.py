"""Which kind of value a question asks for, and which texts give one."""

from __future__ import annotations

import pytest

from support_agent.pipeline.asked_value import asked_value, gives, place_of_value, values_given


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("How many days do I have to cancel?", {"duration"}),
        ("How soon will you answer me?", {"duration"}),
        ("Is she old enough to join?", {"duration"}),
        ("Am I still inside the window for a return?", {"duration"}),
        ("What is the collection fee?", {"amount"}),
        ("How much notice do I get?", {"duration"}),
        ("What percentage is the late fee?", {"percentage"}),
        ("How many seats are included?", {"figure"}),
        ("Who owns the data?", set()),
        ("多久能退款？", {"duration"}),
        ("最晚要提前几天申请？", {"duration"}),
        ("罚款是多少？", {"amount"}),
        ("单个文件上限是多少？", {"figure"}),
        ("数据归谁所有？", set()),
    ],
)
def test_kind_of_value_a_question_asks_for(question: str, kinds: set[str]) -> None:
    assert asked_value(question).kinds == kinds


def test_figure_that_a_question_names_says_what_would_judge_it() -> None:
    asked = asked_value("Is delivery free for an order of €20?")

    assert asked.named == {"amount"}
    assert gives("Free delivery on orders over €25.", asked) == 1.0
    assert gives("Free delivery within 25 minutes.", asked) == 0.0


@pytest.mark.parametrize(
    ("text", "fit"),
    [
        ("You may cancel within thirty (30) days.", 1.0),
        ("You may cancel within two months.", 0.7),
        ("A fee of $30 applies.", 0.0),
        ("4.7. You may cancel.", 0.0),
        ("您可以在 30 天内取消。", 1.0),
    ],
)
def test_value_fits_by_its_kind_and_best_by_its_unit(text: str, fit: float) -> None:
    assert gives(text, asked_value("Within how many days may I cancel?")) == fit


def test_place_is_that_of_the_first_value_that_fits_best() -> None:
    text = "A fee of $30 applies after two months, or 14 days for guests."

    assert place_of_value(text, asked_value("After how many days?")) == text.index("14")
    assert place_of_value(text, asked_value("What is the fee?")) == text.index("$30")
    assert place_of_value("A fee applies.", asked_value("What is the fee?")) is None


def test_texts_that_give_the_same_values_agree_whatever_else_they_give() -> None:
    asked = asked_value("After how many days is my content deleted?")
    one, other = (
        "Deleted within 30 days; backups keep it 60 days.",
        "Kept 60 days in backups, 30 days elsewhere, for $5.",
    )

    assert values_given(one, asked) == values_given(other, asked)
    assert values_given(one, asked) != values_given("Deleted within 30 days.", asked)


def test_question_that_asks_twice_is_told_from_one_that_asks_once() -> None:
    assert asked_value("How soon do you answer, and how long does a repair take?").twice
    assert asked_value("多久内要转交处理、多久出结果？").twice
    assert not asked_value("How many days do I have?").twice
    assert not asked_value("合同没写付款期限，多少天内付款？").twice
