from __future__ import annotations

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from policies.version import Period, day_period, instant_period
from support_agent.domain.outcome import Clarification, Escalation, Outcome, Usage
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.question import Language
from support_agent.domain.verdict import Verdict
from support_agent.pipeline.citation import finish
from support_agent.pipeline.composition import worded_draft
from support_agent.rendering.contract import outcome_json, period_json, point_json, value_json
from tests.factories import PURCHASED_AT, at
from tests.unit.pipeline.refund import CONFLICT, DECISION, GOVERNING, GROUNDS, REFUSAL, RESOLUTIONS, ZONE, voice

BERLIN = ZoneInfo(ZONE)


def refund_outcome(language: Language = "en") -> Outcome:
    draft = worded_draft([REFUSAL], GROUNDS, voice(language), decision=DECISION, resolutions=RESOLUTIONS)
    made = finish(draft, GROUNDS, language=language, zone=BERLIN)
    assert made.answer is not None
    return Outcome(
        run_id="0192-7f",
        status="answered",
        language=language,
        answer=made.answer,
        next_step="Reply here." if language == "en" else "请直接回复。",
        plan=Plan(
            route="playbook",
            playbook="refund-eligibility",
            sub_questions=(SubQuestion(id="q1", source="orders", needs=(PURCHASED_AT,)),),
        ),
        verdict=Verdict(sufficient=True, missing=(), conflicts=(), next_action="answer"),
        rounds=2,
        usage=Usage(lookups=3, statements=5, elapsed_ms=14.04),
        decision=DECISION,
        governing_date=GOVERNING,
        citations=made.citations,
        conflicts=(CONFLICT,),
        time_zone=ZONE,
    )


def test_the_contract_has_all_its_keys_in_order() -> None:
    made = outcome_json(refund_outcome())

    assert list(made) == [
        "run_id",
        "status",
        "answer",
        "next_step",
        "decision",
        "governing_date",
        "citations",
        "verdict",
        "conflicts",
        "uncertainties",
        "clarification",
        "escalation",
        "plan",
        "rounds",
        "usage",
    ]
    assert json.loads(json.dumps(made)) == made


def test_a_decision_names_its_inputs_and_its_clause() -> None:
    midnight = replace(DECISION, inputs={**DECISION.inputs, PURCHASED_AT: at("2025-03-05T00:00:00+01:00")})

    made = outcome_json(replace(refund_outcome(), decision=midnight))

    assert made["decision"] == {
        "term": "refund.eligible",
        "value": False,
        "inputs": {"order.purchased_at": "2025-03-05", "order.quota_used_bp": 250, "refund.window_days": 14},
        "clause": "refund-eu@2025-02-01#window",
    }
    assert made["governing_date"] == {"value": "2025-03-05", "from": "order.purchased_at"}


def test_citations_of_policies_and_records() -> None:
    policy, record, *_ = outcome_json(refund_outcome())["citations"]

    assert policy == {
        "marker": 1,
        "source": "policy",
        "document": "refund-eu",
        "version": "2025-02-01",
        "clause": "window",
        "lines": [12, 12],
        "role": "governing",
        "quote": "An annual plan can be refunded within 14 days of purchase if less than 10% of the quota was used.",
        "effective_from": "2025-02-01",
        "effective_to": None,
        "authority": "corporate",
        "sha256": policy["sha256"],
        "found_by": [],
    }
    assert (record["document"], record["version"], record["lines"]) == ("SO-1182", None, None)
    assert (record["effective_from"], record["authority"]) == (None, "record")


def test_the_record_of_a_conflict() -> None:
    (conflict,) = outcome_json(refund_outcome())["conflicts"]

    assert (conflict["need"], conflict["settled_by"]) == ("refund.window_days", "in_force")
    assert conflict["winner"] == "refund-eu@2025-02-01#window"
    assert [(c["value"], c["clause"], c["removed_by"]) for c in conflict["candidates"]] == [
        (14, "refund-eu@2025-02-01#window", None),
        (30, "refund-eu@2024-01-01#window", "in_force"),
    ]


def test_what_there_is_not_is_null() -> None:
    bare = replace(refund_outcome(), decision=None, governing_date=None, citations=(), conflicts=(), next_step=None)

    made = outcome_json(bare)

    assert [made[key] for key in ("decision", "governing_date", "clarification", "escalation", "next_step")] == [
        None
    ] * 5
    assert (made["citations"], made["conflicts"], made["uncertainties"]) == ([], [], [])


def test_a_question_back_and_a_case() -> None:
    outcome = replace(
        refund_outcome(),
        clarification=Clarification(need="order", question="Which?", options=("SO-1", "SO-2")),
        escalation=Escalation(id="e-1", reason="conflict", need="refund.window_days"),
    )

    made = outcome_json(outcome)

    assert made["clarification"] == {"need": "order", "question": "Which?", "options": ["SO-1", "SO-2"]}
    assert made["escalation"] == {"id": "e-1", "reason": "conflict", "need": "refund.window_days"}


@pytest.mark.parametrize(
    ("instant", "zone", "written"),
    [
        ("2025-03-05T00:00:00+01:00", ZONE, "2025-03-05"),
        ("2025-03-04T23:00:00+00:00", ZONE, "2025-03-05"),
        ("2025-03-05T00:00:00+00:00", ZONE, "2025-03-05T01:00:00+01:00"),
        ("2025-03-05T00:00:00.000001+01:00", ZONE, "2025-03-05T00:00:00.000001+01:00"),
        ("2025-07-05T14:03:00+02:00", ZONE, "2025-07-05T14:03:00+02:00"),
        # Clocks jump over midnight in Beirut on 30 March 2025; the day begins at one.
        ("2025-03-29T22:00:00+00:00", "Asia/Beirut", "2025-03-30"),
    ],
)
def test_midnight_in_the_zone_is_written_as_the_day(instant: str, zone: str, written: str) -> None:
    assert point_json(at(instant), ZoneInfo(zone)) == written


@pytest.mark.parametrize(
    ("period", "written"),
    [
        (day_period(at("2025-03-05T12:00").date(), BERLIN), "2025-03-05"),
        (day_period(at("2025-03-30T12:00").date(), BERLIN), "2025-03-30"),
        (instant_period(at("2025-03-05T14:03:00+01:00")), "2025-03-05T14:03:00+01:00"),
        (instant_period(at("2025-03-05T00:00:00+01:00")), "2025-03-05"),
        (Period(start=at("2025-01-01T00:00:00+01:00"), end=at("2026-01-01T00:00:00+01:00")), "2025-01-01/2026-01-01"),
        (Period(start=at("2025-01-01T00:00:00+01:00")), "2025-01-01/.."),
    ],
    ids=["day", "day of 23 hours", "instant", "midnight", "range", "open"],
)
def test_periods_are_written_as_short_as_they_are_clear(period: Period, written: str) -> None:
    assert period_json(period, BERLIN) == written


def test_values_keep_their_types() -> None:
    assert value_json(True, BERLIN) is True
    assert value_json(("a", "b"), BERLIN) == ["a", "b"]
    assert value_json(at("2025-03-05T12:00").date(), BERLIN) == "2025-03-05"
    assert value_json(None, BERLIN) is None
