from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from support_agent.rendering.policy_impact import MAX_SHOWN, print_answers, print_impact

SIDE = {
    "ending": "answered no",
    "values": {"refund.window_days": 14},
    "clauses": ["refund-eu@2025-02-01#window"],
    "answer": "不能退款了[1]。",
    "next_step": None,
}
CHANGE = {
    "differs": "outcome",
    "run_id": "0192",
    "n_runs": 3,
    "customer": None,
    "question": "[bold]SO-1182[/bold] 还能退款吗？",
    "asked_at": "2025-03-25T11:00:00+00:00",
    "before": SIDE,
    "after": {**SIDE, "ending": "answered yes", "values": {"refund.window_days": 30}, "next_step": "请申请退款。"},
}
FOUND = {
    "draft": ["refund-eu@2025-02-01"],
    "effective_from": "2025-02-01T00:00:00+01:00",
    "newest_asked_at": "2025-03-25T11:00:00+00:00",
    "n_recorded": 1_200,
    "n_runs": 1_000,
    "n_questions": 998,
    "n_done": 998,
    "n_changed": 1,
    "skipped": {"other_topic": 40, "source_unavailable": 2},
    "unavailable": ["orders"],
    "counts": [
        {"differs": "outcome", "before": "answered no", "after": "answered yes", "n": 12},
        {"differs": "wording", "before": "answered no", "after": "answered no", "n": 3},
    ],
    "changes": [CHANGE],
}


def shown(**changes: Any) -> str:
    written = io.StringIO()
    print_impact({**FOUND, **changes}, console=Console(file=written, width=160, highlight=False))
    return written.getvalue()


def test_counts_come_before_the_changes() -> None:
    lines = [line.strip() for line in shown().splitlines()]

    assert lines[:6] == [
        "With refund-eu@2025-02-01, 1 of 998 questions change.",
        "12  answered no -> answered yes",
        "3  answered no, in other words",
        "40  looked up other topics only",
        "2  could not be compared (orders is down)",
        "200  older runs left out; --limit takes more",
    ]


def test_both_sides_stand_beside_each_other() -> None:
    text = shown()

    for left, right in (
        ("answered no", "answered yes"),
        ("refund.window_days = 14", "refund.window_days = 30"),
        ("不能退款了[1]。", "不能退款了[1]。"),
    ):
        assert any(left in line and right in line.partition(left)[2] for line in text.splitlines())
    assert "请申请退款。" in text
    assert "asked 3 times" in text
    assert "[bold]SO-1182[/bold]" in text


def test_what_was_stopped_says_how_far_it_came() -> None:
    assert "1 of 25 of 998 questions change" in shown(n_done=25)


@pytest.mark.parametrize(
    ("newest", "hinted"), [("2025-01-01T11:00:00+00:00", True), ("2025-03-25T11:00:00+00:00", False)]
)
def test_draft_that_begins_later_is_hinted_at(newest: str, hinted: bool) -> None:
    text = shown(newest_asked_at=newest, n_changed=0, counts=[], changes=[])

    assert ("before the draft begins, on 2025-02-01" in text) is hinted


def test_long_list_names_what_it_leaves_out() -> None:
    text = shown(n_changed=MAX_SHOWN + 7, changes=[CHANGE] * (MAX_SHOWN + 7))

    assert text.count("run 0192") == MAX_SHOWN
    assert "and 7 more; --json lists all of them." in text


def test_answer_names_whom_it_was_given() -> None:
    console = Console(file=io.StringIO(), width=160, highlight=False)
    answer = {
        "run_id": "0192", "recorded_at": "2026-03-01T10:20:30+00:00", "customer": "C-2001", "conversation": "T-7",
        "role": "considered", "clauses": ["how", "window"], "outdated": True, "question": "q [x]", "answer": "a [1]",
    }  # fmt: skip

    print_answers([answer, {**answer, "conversation": None, "customer": None, "outdated": False}], console=console)

    lines = [line.strip() for line in console.file.getvalue().splitlines() if line.strip()]  # type: ignore[attr-defined]  # the buffer above
    assert lines == [
        "2026-03-01 10:20  customer C-2001  conversation T-7  run 0192  (corrected since; considered: how, window)",
        "q [x]",
        "a [1]",
        "2026-03-01 10:20  customer unknown  run 0192  (considered: how, window)",
        "q [x]",
        "a [1]",
    ]
