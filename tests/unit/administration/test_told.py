from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from support_agent.administration.told import Told, difference, told_json

NO = Told(
    status="answered",
    reason=None,
    decision=False,
    values={"refund.window_days": (14,)},
    clauses=("refund-eu@2025-02-01#window",),
    answer="It can no longer be refunded [1].",
    next_step="Reply here.",
    time_zone="Europe/Berlin",
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"decision": True, "values": {}, "answer": "It can."}, "outcome", id="decision"),
        pytest.param({"status": "no_answer"}, "outcome", id="status"),
        pytest.param({"status": "escalated", "reason": "conflict", "decision": None}, "outcome", id="handed over"),
        pytest.param({"values": {"refund.window_days": (30,)}, "answer": "Too late."}, "value", id="value"),
        pytest.param({"clauses": ("refund-eu@2026-01-01#window",), "answer": "No."}, "clause", id="clause"),
        pytest.param({"answer": "不能退款了[1]。"}, "wording", id="words"),
        pytest.param({"next_step": None}, "wording", id="next step"),
    ],
)
def test_what_differs_most_is_named(change: dict[str, Any], expected: str | None) -> None:
    assert difference(NO, replace(NO, **change)) == expected
    assert difference(replace(NO, **change), NO) == expected


def test_two_reasons_to_hand_over_are_two_endings() -> None:
    gap = replace(NO, status="escalated", reason="policy_gap", decision=None)

    assert gap.ending == "escalated (policy_gap)"
    assert difference(gap, replace(gap, reason="conflict")) == "outcome"


@pytest.mark.parametrize(
    ("decision", "ending"), [(True, "answered yes"), (False, "answered no"), (None, "answered"), (3, "answered")]
)
def test_ending_says_yes_or_no_only_of_a_decision(decision: int | bool | None, ending: str) -> None:
    assert replace(NO, decision=decision).ending == ending


def test_values_are_json_in_the_policys_zone() -> None:
    several = replace(NO, values={"a.days": (14, 30), "a.until": (datetime(2025, 1, 31, 23, tzinfo=UTC),)})

    assert told_json(several)["values"] == {"a.days": [14, 30], "a.until": "2025-02-01"}
