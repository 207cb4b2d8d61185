from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.diff import Diff, Mark, diff, marks
from policies.document import PolicyDocument
from tests.soak import examples
from tests.unit.policies.written import HEAD, document

WORDS = [
    "refund",
    "within",
    "30",
    "14",
    "days",
    "退款",
    "期限",
    "三十天",
    "**not**",
    "_only_",
    "$25",
    "don't",
    "，",
    "a-b",
]


def text_of(*clauses: tuple[str, str]) -> PolicyDocument:
    return document(HEAD + "".join(f"\n## {heading}\n{body}\n" for heading, body in clauses))


def kinds(found: Diff) -> list[tuple[str, str | None, str | None]]:
    return [(change.kind, change.old, change.new) for change in found.clauses]


def side(pieces: tuple[Mark, ...], *, without: str) -> str:
    return "".join(mark.text for mark in pieces if mark.operation != without)


def shown(pieces: tuple[Mark, ...]) -> str:
    left = {"equal": "", "delete": "[-", "insert": "{+"}
    right = {"equal": "", "delete": "-]", "insert": "+}"}
    return "".join(f"{left[mark.operation]}{mark.text}{right[mark.operation]}" for mark in pieces)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Within 30 days.", "Within 14 days.", "Within [-30-]{+14+} days."),
        ("You may not return it.", "You may return it.", "You may[- not-] return it."),
        ("自签收之日起三十天内退款。", "自签收之日起十四天内退款。", "自签收之日起[-三十天-]{+十四天+}内退款。"),
        ("费用为25元", "费用为30元", "费用为[-25-]{+30+}元"),
        ("a quick red fox", "a slow grey fox", "a [-quick red-]{+slow grey+} fox"),
        ("", "new", "{+new+}"),
        ("same", "same", "same"),
    ],
)
def test_marks_are_by_words(old: str, new: str, expected: str) -> None:
    assert shown(marks(old, new)) == expected


@given(st.lists(st.sampled_from(WORDS)), st.lists(st.sampled_from(WORDS)), st.sampled_from(["", " ", "\n"]))
def test_marks_give_both_sides_exactly(old: list[str], new: list[str], between: str) -> None:
    found = marks(between.join(old), between.join(new))

    assert side(found, without="insert") == between.join(old)
    assert side(found, without="delete") == between.join(new)


@given(st.text(max_size=40), st.text(max_size=40))
def test_marks_of_any_text_give_both_sides_exactly(old: str, new: str) -> None:
    found = marks(old, new)

    assert (side(found, without="insert"), side(found, without="delete")) == (old, new)


def test_marks_of_a_long_text_are_found_in_time() -> None:
    words = " ".join(f"word{n % 97} of the {n}" for n in range(8_000))

    found = marks(words, words.replace("of the 4000 ", "of the 4001 "))

    assert shown(tuple(mark for mark in found if mark.operation != "equal")) == "[-4000-]{+4001+}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Within **30** days.", "Within 30 days."),
        ("Within *30* days.", "Within _30_ days."),
        ("Within 30\ndays.", "Within 30 days."),
        ("- one thing\n- another", "* one thing\n\n* another"),
        ("退款期限为\n三十天。", "退款期限为三十天。"),
    ],
)
def test_blanks_and_emphasis_are_no_change(old: str, new: str) -> None:
    assert diff(text_of(("Window", old)), text_of(("Window", new))).is_empty


def test_added_removed_and_changed_clauses_are_named_in_their_order() -> None:
    old = text_of(("Window", "Within 30 days."), ("Fees", "We charge a fee of $5 for it."), ("How", "Write to us."))
    new = text_of(("Window", "Within 14 days."), ("How", "Write to us."), ("Exceptions", "Gift cards stay."))

    found = diff(old, new)

    assert kinds(found) == [("changed", "window", "window"), ("removed", "fees", None), ("added", None, "exceptions")]
    assert shown(found.clauses[0].marks) == "Window\nWithin [-30-]{+14+} days."
    assert shown(found.clauses[1].marks) == "[-Fees\nWe charge a fee of $5 for it.-]"
    assert found.n_unchanged == 1


@pytest.mark.parametrize(
    ("heading", "number"),
    [("第{}条", "一二三四五"), ("第{}条 期限", "一二三四五"), ("{}. Rules", "12345"), ("Part {}", "12345")],
)
def test_renumbered_clauses_are_moved_and_one_is_added(heading: str, number: str) -> None:
    bodies = [
        "退货须在签收后三十天内提出，逾期不予受理。",
        "Refunds are paid to the card that was used for the order.",
        "运费由买家承担，质量问题除外。",
        "Gift cards are never refunded, whatever their value.",
    ]
    added = "Orders of businesses are governed by their contract alone."
    old = text_of(*((heading.format(number[n]), body) for n, body in enumerate(bodies)))
    new = text_of(*((heading.format(number[n]), body) for n, body in enumerate([bodies[0], added, *bodies[1:]])))

    found = diff(old, new)

    assert Counter(change.kind for change in found.clauses)["added"] == 1
    assert {change.kind for change in found.clauses} <= {"added", "moved", "changed"}
    assert next(change for change in found.clauses if change.kind == "added").marks[0].text.endswith(added)
    bodies_changed = [change for change in found.clauses if change.kind == "changed" and change.old == change.new]
    assert bodies_changed == []


def test_author_s_anchor_holds_where_heading_and_text_are_new() -> None:
    old = document(HEAD + "\n## Refunds {#window}\nWithin 30 days.\n")
    new = document(HEAD + "\n## Money back {#window}\nAsk us and we decide.\n## Old orders\nWithin 30 days.\n")

    assert kinds(diff(old, new)) == [("changed", "window", "window"), ("added", None, "old-orders")]


def test_clause_that_changes_its_place_is_moved() -> None:
    clauses = [("One", "The first."), ("Two", "The second."), ("Three", "The third."), ("Four", "The fourth.")]

    found = diff(text_of(*clauses), text_of(*clauses[1:], clauses[0]))

    assert kinds(found) == [("moved", "one", "one")]


def test_heading_that_changes_around_a_clause_moves_it() -> None:
    old = document(HEAD + "\n## Europe\nAll of it.\n### Window\nWithin 30 days.\n")
    new = document(HEAD + "\n## Everywhere {#europe}\nAll of it.\n### Window\nWithin 30 days.\n")

    assert kinds(diff(old, new)) == [("changed", "europe", "europe"), ("moved", "window", "window")]


def test_attributes_and_keys_are_compared() -> None:
    old = document(HEAD + "\n## Window\n{audience: staff}\nWithin 30 days.\n")
    new = document(
        HEAD.replace("2025-02-01", "2026-02-01").replace("corporate", "law") + "\n## Window\nWithin 30 days.\n"
    )

    found = diff(old, new)

    assert {change.key: (change.old, change.new) for change in found.keys} == {
        "authority": ("corporate", "law"),
        "effect": ("mandatory", "minimum"),
        "effective_from": ("2025-02-01", "2026-02-01"),
    }
    (clause,) = found.clauses
    assert {change.key: (change.old, change.new) for change in clause.attributes} == {
        "effect": ("mandatory", "minimum"),
        "audience": ("staff", "public"),
    }
    assert clause.marks == ()


def terms(value: str, rule: str) -> str:
    return f"\n## Window\nWithin {value} days.\n```terms\nrefund.window_days: {value}\nrefund.eligible: {rule}\n```\n"


def test_terms_and_rules_are_compared() -> None:
    old = document(HEAD + terms("30", "days_since(order.purchased_at) <= refund.window_days"))
    new = document(HEAD + terms("14", "days_since(order.purchased_at) < refund.window_days"))

    found = {change.name: change for change in diff(old, new).terms}

    window, rule = found["refund.window_days"], found["refund.eligible"]
    assert window.old is not None
    assert window.new is not None
    assert (window.old.value, window.new.value) == (30, 14)
    assert rule.old is not None
    assert rule.new is not None
    assert (rule.old.rule, rule.new.rule) == (
        "days_since(order.purchased_at) <= refund.window_days",
        "days_since(order.purchased_at) < refund.window_days",
    )


def test_term_that_only_goes_to_another_clause_is_unchanged() -> None:
    block = "Within 30 days.\n```terms\nrefund.window_days: 30\n```"
    old = text_of(("Window", block), ("Other", "Nothing."))
    new = text_of(("Window", "See below."), ("Other", f"Nothing.\n\n{block}"))

    assert diff(old, new).terms == ()


HEADINGS = ["Window", "Fees", "第一条", "第二条", "1. Scope", "2. Scope", "Exceptions"]
BODIES = [" ".join(words) for words in (WORDS[:6], WORDS[3:9], WORDS[2:5], WORDS[7:])]
CLAUSES: st.SearchStrategy[list[tuple[str, str]]] = st.lists(
    st.tuples(st.sampled_from(HEADINGS), st.sampled_from(BODIES)), min_size=1, max_size=6
)


@settings(max_examples=examples(default=60, soak=2_000))
@given(clauses=CLAUSES)
def test_nothing_differs_from_itself(clauses: list[tuple[str, str]]) -> None:
    found = diff(text_of(*clauses), text_of(*clauses))

    assert found.is_empty
    assert found.n_unchanged == len(text_of(*clauses).clauses)


@settings(max_examples=examples(default=150, soak=5_000))
@given(old=CLAUSES, new=CLAUSES)
def test_both_directions_say_the_same_with_sides_exchanged(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    forth, back = diff(text_of(*old), text_of(*new)), diff(text_of(*new), text_of(*old))

    opposite = {"added": "removed", "removed": "added", "moved": "moved", "changed": "changed"}
    assert Counter(kinds(forth)) == Counter((opposite[kind], other, one) for kind, one, other in kinds(back))
    assert forth.n_unchanged == back.n_unchanged


@settings(max_examples=examples(default=150, soak=5_000))
@given(old=CLAUSES, new=CLAUSES)
def test_every_clause_of_both_sides_is_told_once(old: list[tuple[str, str]], new: list[tuple[str, str]]) -> None:
    one, other = text_of(*old), text_of(*new)

    found = diff(one, other)

    told = Counter(chain.from_iterable((("old", c.old), ("new", c.new)) for c in found.clauses))
    assert all(n == 1 for (_, anchor), n in told.items() if anchor is not None)
    added = sum(change.kind == "added" for change in found.clauses)
    removed = sum(change.kind == "removed" for change in found.clauses)
    both = len(found.clauses) - added - removed + found.n_unchanged
    assert (both + removed, both + added) == (len(one.clauses), len(other.clauses))


def test_ten_thousand_clauses_are_compared_in_time() -> None:
    def clauses(n: int) -> list[tuple[str, Any]]:
        return [(f"Section {i}", f"Text {i} of clause number {i}.") for i in range(n)]

    old, new = text_of(*clauses(9_000)), text_of(("Section zero", "Something else."), *clauses(9_000)[1:])

    assert Counter(change.kind for change in diff(old, new).clauses) == {"added": 1, "removed": 1}
