"""Items with what leads them in, and lists of names as one passage."""

from __future__ import annotations

import pytest

from policies.blocks import Passage, read_blocks
from policies.lists import MAX_LIST, with_lists


def passages(text: str, *, first_line: int = 1) -> list[Passage]:
    lines = text.split("\n")
    blocks = with_lists(read_blocks(text, first_line=first_line), lines, first_line=first_line)
    return [block for block in blocks if isinstance(block, Passage)]


def shown(text: str) -> list[tuple[str, str | None]]:
    """Text and header of each passage."""
    return [(passage.text, passage.table_header) for passage in passages(text)]


def test_names_are_one_passage_with_the_sentence_that_leads_them_in() -> None:
    text = "We ship to:\n\n- France\n- Spain\n\n- Malta"

    found = passages(text, first_line=11)

    assert found == [Passage(text="We ship to:\n\n- France\n- Spain\n\n- Malta", kind="item", lines=(11, 16))]


def test_short_paragraph_leads_in_as_a_whole() -> None:
    text = "Parcels are insured. We ship to:\n- France\n- Spain"

    assert shown(text) == [(text, None)]


def test_long_paragraph_stays_and_its_last_sentence_leads_in() -> None:
    paragraph = "Parcels are insured by us, e.g. against loss. " * 6 + "We ship to:"

    assert shown(f"{paragraph}\n- France\n- Spain") == [
        (paragraph, None),
        ("We ship to:\n- France\n- Spain", None),
    ]


def test_sentences_and_figures_stay_items_under_their_lead_in() -> None:
    text = "You may return:\n\n- shoes within 30 days\n- what does not fit.\n- anything else within 14 days"

    assert shown(text) == [
        ("You may return:", None),
        ("shoes within 30 days", "You may return:"),
        ("what does not fit.", "You may return:"),
        ("anything else within 14 days", "You may return:"),
    ]


def test_chinese_items_have_their_lead_in() -> None:
    text = "以下情况可以退货。" * 30 + "具体期限如下：\n\n- 年付套餐：30 天\n- 月付套餐：5 天"

    assert shown(text)[1:] == [("年付套餐：30 天", "具体期限如下："), ("月付套餐：5 天", "具体期限如下：")]


def test_inner_items_are_led_in_by_the_item_around_them() -> None:
    text = "We may close accounts:\n\n- On trial:\n  - mail: after 60 days\n- Frozen: after 180 days"

    assert shown(text) == [
        ("We may close accounts:", None),
        ("On trial:", "We may close accounts:"),
        ("mail: after 60 days", "On trial:"),
        ("Frozen: after 180 days", "We may close accounts:"),
    ]


@pytest.mark.parametrize(
    "text",
    ["We ship to:\n\n- France", "France\n\nSpain", "1. France", "| a | b |\n|---|---|\n| France | Spain |"],
    ids=["one name", "paragraphs", "one numbered", "rows"],
)
def test_what_is_no_list_of_names_stays_apart(text: str) -> None:
    assert [passage.text for passage in passages(text)] == [
        block.text for block in read_blocks(text) if isinstance(block, Passage)
    ]


def test_names_under_two_headings_are_two_lists() -> None:
    text = "# In Europe\n\n- France\n- Spain\n\n# In Asia\n\n- Japan\n- Korea"

    assert shown(text) == [("France\n- Spain", None), ("Japan\n- Korea", None)]


def test_long_list_is_cut_between_names_and_every_part_has_its_lead_in() -> None:
    names = [f"Country of the {letter * 12}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    text = "We ship to:\n\n" + "\n".join(f"- {name}" for name in names)

    found = passages(text)

    assert len(found) == 2 + sum(len(name) for name in names) // MAX_LIST
    assert all(len(passage.text) <= MAX_LIST for passage in found)
    assert all("We ship to:" in (passage.table_header or passage.text) for passage in found)
    assert [name for passage in found for name in names if name in passage.text] == names


def test_every_passage_stands_in_the_text_as_it_is() -> None:
    text = "# Where\n\nWe ship to:\n\n* France\n* Spain\n\nNot yet to:\n\n1. Japan\n2. Korea\n\n- Ask us.\n- We answer."

    assert all(passage.text in text for passage in passages(text))
