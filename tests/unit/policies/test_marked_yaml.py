from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.errors import Fault
from policies.marked_yaml import Entry, entry_of, load_marked
from tests.soak import examples


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a: [NO, yes, on, true, False]", {"a": ["NO", "yes", "on", True, False]}),
        ("a: 012\nb: 0x1f\nc: 1_000\nd: 1:30\ne: 12", {"a": "012", "b": "0x1f", "c": "1_000", "d": "1:30", "e": 12}),
        ("a: 1.5\nb: ~\nc: null\nd: ''", {"a": 1.5, "b": None, "c": None, "d": ""}),
        ("a: 2025-02-01", {"a": date(2025, 2, 1)}),
        ("a: 2025-02-01T10:00:00Z", {"a": datetime(2025, 2, 1, 10, tzinfo=UTC)}),
        ("a: 2025-02-01 10:00:00", {"a": datetime(2025, 2, 1, 10)}),  # noqa: DTZ001 - naive on purpose
        ("2025-02-01: {x: 1}", {"2025-02-01": {"x": 1}}),
        ("", None),
    ],
)
def test_values(text: str, plain: Any) -> None:
    loaded = load_marked(text, path="x.yaml")

    assert isinstance(loaded, Entry)
    assert loaded.plain == plain


def test_places() -> None:
    loaded = load_marked("a:\n  - b: 1\n    c: two\n", path="x.yaml", first_line=10)

    assert loaded == Entry({"a": Entry([Entry({"b": Entry(1, 11, 8), "c": Entry("two", 12, 8)}, 11, 5)], 10, 1)}, 10, 1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2", "x.yaml:2:1: the key 'a' stands twice"),
        ("a:\n\tb: 1", "x.yaml:2:1: a tab in YAML"),
        ("a: &x [1]\nb: *x", "x.yaml:1:4: an alias"),
        ("a: !!python/object:x 1", "x.yaml:1:4: the tag 'python/object:x'"),
        ("a: !order.paid", "x.yaml:1:4: the tag '!order.paid'"),
        ("a: 2025-02-30", "x.yaml:1:4: '2025-02-30' is no date"),
        ("? [a]\n: 1", "x.yaml:1:3: a key that is not text"),
        ("a: [1", "x.yaml:2:1: not YAML (did not find expected ',' or ']')"),
        ("a: 1\n---\nb: 2", "x.yaml:2:1: not YAML (but found another document)"),
        ("[" * 25 + "]" * 25, "x.yaml:1:21: nested more than 20 deep"),
        ("[" * 100_000, "x.yaml:1:1001: not YAML (exceeded maximum nesting depth)"),
    ],
)
def test_refused_with_line_and_column(text: str, fault: str) -> None:
    loaded = load_marked(text, path="x.yaml")

    assert isinstance(loaded, Fault)
    assert str(loaded).startswith(fault)


def test_entries_of_a_plain_value() -> None:
    assert entry_of({"a": [1]}, line=3) == Entry({"a": Entry([Entry(1, 3, 1)], 3, 1)}, 3, 1)


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.text(max_size=40) | st.text("abc:-[]{}&*!?|>'\"\n #,1%@`\t.", max_size=40))
def test_any_text_is_yaml_or_a_fault(text: str) -> None:
    assert isinstance(load_marked(text, path="x.yaml"), (Entry, Fault))
