from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support_agent.domain.glossary import GlossaryEntry, Languages
from support_agent.domain.reading import Reading
from support_agent.language.glossary import Glossary, phrase_key
from support_agent.language.reading import read
from tests.factories import at

ASKED_AT = at("2026-11-30T12:00:00+01:00")
WORDS = ("cash", "back", "moolah", "last", "year", "手慢", "了", "羊毛", "退", "SO-1182", "2025")


def reading(text: str) -> Reading:
    return read(text, asked_at=ASKED_AT, zone=ZoneInfo("Europe/Berlin"), date_order="DMY")


def entry(says: str, means: str = "refund", language: Languages = "both") -> GlossaryEntry:
    return GlossaryEntry(says=says, means=means, language=language)


def found(text: str, *entries: GlossaryEntry) -> list[tuple[str, list[str]]]:
    """The words of each phrase found, and its terms."""
    question = reading(text)
    glosses = Glossary(entries).find(question)
    return [(question.text[slice(*gloss.span)], [one.means for one in gloss.entries]) for gloss in glosses]


@pytest.mark.parametrize(
    ("text", "says", "words"),
    [
        ("Any chance of cash back?", "cash back", "cash back"),
        ("Any CASH  backs here?", "cash back", "CASH  backs"),
        ("这次手慢了怎么办", "手慢了", "手慢了"),
        ("這次手慢 了怎麼辦", "手慢了", "手慢 了"),
        ("怎么薅羊毛", "薅羊毛", "薅羊毛"),
        ("你们的VIP客户有吗", "vip客户", "VIP客户"),
    ],
    ids=["English", "stems and case", "Chinese", "traditional and spaced", "at the end", "mixed"],
)
def test_phrase_is_found_where_it_stands(text: str, says: str, words: str) -> None:
    assert found(text, entry(says)) == [(words, ["refund"])]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Is the moolahcash here?", "cash"),
        ("cash or back?", "cash back"),
        ("What about last year?", "last year"),
        ("Where is SO-1182?", "so 1182"),
    ],
    ids=["inside a word", "not in a row", "a time", "an order number"],
)
def test_phrase_is_not_found(text: str, says: str) -> None:
    assert found(text, entry(says)) == []


def test_longest_phrase_is_read_and_terms_keep_their_order() -> None:
    entries = (entry("cash", "money"), entry("cash back", "refund"), entry("cash back", "退款"))

    assert found("cash back, or cash?", *entries) == [("cash back", ["refund", "退款"]), ("cash", ["money"])]


def test_entry_of_one_language_is_read_in_its_questions_only() -> None:
    assert found("Is cash back possible?", entry("cash back", language="zh")) == []
    assert found("你们有 cash back 吗，可以给我讲讲吗", entry("cash back", language="zh")) != []


phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
entries = st.lists(
    st.builds(entry, phrases, phrases, st.sampled_from(["en", "zh", "both"])), max_size=6, unique=True
).map(tuple)


@given(text=st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), entries=entries)
def test_what_was_read_is_read_again_from_the_entries_used_alone(text: str, entries: tuple[GlossaryEntry, ...]) -> None:
    question = reading(text)
    glosses = Glossary(entries).find(question)
    used = [one for gloss in glosses for one in gloss.entries]

    assert Glossary(dict.fromkeys(used)).find(question) == glosses


@given(text=st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), entries=entries)
def test_glosses_never_overlap_and_say_what_they_are_entered_for(text: str, entries: tuple[GlossaryEntry, ...]) -> None:
    question = reading(text)
    glosses = Glossary(entries).find(question)

    edges = [edge for gloss in glosses for edge in gloss.span]
    assert edges == sorted(edges)
    for gloss in glosses:
        words = question.text[slice(*gloss.span)]
        assert {phrase_key(one.says) for one in gloss.entries} == {phrase_key(words)}
