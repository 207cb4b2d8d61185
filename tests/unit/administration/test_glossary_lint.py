from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support_agent.administration.glossary_lint import lint
from support_agent.domain.glossary import GlossaryEntry, Languages
from support_agent.language.glossary import phrase_key

TERMS = frozenset({"refund", "退款", "delete account", "warranty"})


def entry(says: str, means: str = "refund", language: Languages = "both") -> GlossaryEntry:
    return GlossaryEntry(says=says, means=means, language=language)


def rules(*entries: GlossaryEntry) -> list[tuple[str, str]]:
    """Phrase and rule of each finding."""
    return [(finding.entry.says, finding.rule) for finding in lint(entries, in_force=TERMS)]


def test_good_entries_give_nothing() -> None:
    assert rules(entry("cash back"), entry("cash back", "退款"), entry("薅羊毛"), entry("moolah", "退款")) == []


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([entry("moolah", "rebate")], [("moolah", "no-term")]),
        ([entry("warranty")], [("warranty", "own-term")]),
        ([entry("Refunds")], [("Refunds", "itself")]),
        ([entry("退 款", "退款")], [("退 款", "itself")]),
        ([entry("what about it")], [("what about it", "too-general")]),
        ([entry("怎么")], [("怎么", "too-general")]),
        ([entry("moolah", "多久")], [("moolah", "too-general"), ("moolah", "no-term")]),
        ([entry("Cash Back"), entry("cash backs")], [("cash backs", "duplicate")]),
        ([entry("a boon", "退款"), entry("a boon", "退款", "zh")], [("a boon", "duplicate")]),
        ([entry("a boon", "退款", "en"), entry("a boon", "退款", "zh")], []),
    ],
    ids=[
        "no document has the term",
        "a document has the phrase",
        "itself by its stem",
        "itself in Chinese",
        "stop words",
        "Chinese stop words",
        "general term",
        "alike by its stems",
        "read in the same questions",
        "read in others",
    ],
)
def test_fault_is_named(entries: list[GlossaryEntry], found: list[tuple[str, str]]) -> None:
    assert rules(*entries) == found


def test_circle_is_named_at_each_of_its_entries() -> None:
    circle = [
        entry("moolah", "cash back"),
        entry("cash back", "dough"),
        entry("dough", "moolah"),
        entry("bread", "dough"),
    ]

    assert [says for says, rule in rules(*circle) if rule == "cycle"] == ["moolah", "cash back", "dough"]


def test_terms_that_are_not_read_are_named() -> None:
    terms = ["refund", "退款", "delete account", "warranty"]

    assert rules(*(entry("moolah", term) for term in terms)) == [("moolah", "too-many-terms")]


words = st.sampled_from(["moolah", "cash back", "dough", "refund", "退款", "薅羊毛", "what"])


@given(st.lists(st.builds(entry, words, words, st.sampled_from(["en", "zh", "both"])), max_size=8))
def test_entries_without_errors_lead_nowhere_twice(entries: list[GlossaryEntry]) -> None:
    refused = {id(finding.entry) for finding in lint(entries, in_force=TERMS) if finding.severity == "error"}
    kept = [one for one in entries if id(one) not in refused]

    assert not [finding for finding in lint(kept, in_force=TERMS) if finding.severity == "error"]
    ahead = {
        phrase_key(one.says): {phrase_key(other.means) for other in kept if other.says == one.says} for one in kept
    }
    for start, led in ahead.items():
        reached = led
        for _ in kept:
            reached = reached | {key for step in reached for key in ahead.get(step, ())}
        assert start not in reached
