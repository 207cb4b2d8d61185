from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from policies.facts import FactValue
from support_agent.domain.claim import Calculation
from support_agent.domain.conflict import Candidate, Resolution
from support_agent.domain.playbook import ClaimWording, Playbook
from support_agent.pipeline.decision import calculate, decide, evaluate_rules, governing_facts, holding
from tests.factories import ELIGIBLE, PURCHASED_AT, WINDOW, at, make_clause
from tests.unit.pipeline.refund import FACTS, NEW, NEW_RULE, NEW_WINDOW, RULE, ZONE, refund_version, said_by

BERLIN = ZoneInfo(ZONE)
KNOWN: dict[str, FactValue] = {
    PURCHASED_AT: at("2025-03-05T14:03:00+01:00"),
    "order.quota_used_bp": 250,
    WINDOW: 14,
}


def value(values: dict[str, FactValue], asked_at: str) -> tuple[FactValue, frozenset[str]]:
    (candidate,) = evaluate_rules([NEW_RULE], values=values, asked_at=at(asked_at))
    return candidate.value, candidate.missing


@pytest.mark.parametrize(
    ("asked_at", "expected"),
    [
        ("2025-03-19T23:59:59.999999+01:00", True),
        ("2025-03-20T00:00:00+01:00", False),
        ("2025-03-19T22:59:59.999999+00:00", True),
        ("2025-03-19T23:00:00+00:00", False),
    ],
    ids=["last instant of the last day", "first instant after it", "the same in UTC", "midnight in the policy's zone"],
)
def test_a_rule_counts_days_in_the_zone_of_its_policy(asked_at: str, expected: bool) -> None:
    assert value(KNOWN, asked_at) == (expected, frozenset())


@pytest.mark.parametrize("unknown", [{"order.quota_used_bp": None}, {}])
def test_a_fact_nobody_stated_is_missing_and_not_false(unknown: dict[str, FactValue]) -> None:
    values = {PURCHASED_AT: KNOWN[PURCHASED_AT], WINDOW: 14, **unknown}

    assert value(values, "2025-03-06") == (None, frozenset({"order.quota_used_bp"}))


def test_a_rule_that_is_decided_without_a_fact_stands() -> None:
    values = {PURCHASED_AT: KNOWN[PURCHASED_AT], WINDOW: 14}

    assert value(values, "2025-06-01") == (False, frozenset())


def test_a_value_term_keeps_its_value() -> None:
    (candidate,) = evaluate_rules([NEW_WINDOW], values={}, asked_at=at("2025-03-06"))

    assert candidate == Candidate(evidence=NEW_WINDOW, value=14)


def test_a_rule_that_cannot_be_computed_is_undecided() -> None:
    rule = "refund.window_days * 9223372036854775807 > 0"
    source = said_by(NEW, ELIGIBLE, None, "…", rule=rule)

    (candidate,) = evaluate_rules([source], values={WINDOW: 14}, asked_at=at("2025-03-06"))

    assert (candidate.value, candidate.missing) == (None, frozenset({ELIGIBLE}))


def test_governing_facts_are_the_declared_ones_that_a_rule_names() -> None:
    assert governing_facts([NEW_RULE, NEW_WINDOW], facts=FACTS) == (PURCHASED_AT, "order.quota_used_bp")


def test_a_decision_shows_what_its_rule_used() -> None:
    resolution = Resolution(need=ELIGIBLE, status="settled", winner=Candidate(evidence=NEW_RULE, value=True))

    made = decide(resolution, values={**KNOWN, "order.item": "Lumen"}, asked_at=at("2025-03-10"))

    assert made is not None
    assert (made.term, made.value, made.clause) == (ELIGIBLE, True, "refund-eu@2025-02-01#window")
    assert dict(made.inputs) == KNOWN


def test_a_statement_that_the_rule_does_without_is_no_input() -> None:
    # The window has closed, so how much was used no longer matters.
    late = at("2025-06-10")
    (candidate,) = evaluate_rules([NEW_RULE], values=KNOWN, asked_at=late)
    resolution = Resolution(need=ELIGIBLE, status="settled", winner=candidate)

    made = decide(resolution, values=KNOWN, asked_at=late, asserted=frozenset({"order.quota_used_bp"}))

    assert made is not None
    assert "order.quota_used_bp" not in made.inputs


@pytest.mark.parametrize(
    "resolution",
    [
        Resolution(need=ELIGIBLE, status="open"),
        Resolution(need=ELIGIBLE, status="absent"),
        Resolution(
            need=ELIGIBLE,
            status="settled",
            winner=Candidate(evidence=NEW_RULE, value=None, missing=frozenset({PURCHASED_AT})),
        ),
    ],
    ids=["open", "absent", "a fact is missing"],
)
def test_without_a_decided_winner_there_is_no_decision(resolution: Resolution) -> None:
    assert decide(resolution, values=KNOWN, asked_at=at("2025-03-10")) is None


def playbook(**calculations: str) -> Playbook:
    return Playbook(
        id="p",
        examples={},
        triggers={},
        needs=(),
        form="decision",
        calculations={name.replace("__", "."): expression for name, expression in calculations.items()},
    )


def test_calculations_build_on_earlier_ones_and_remember_what_they_rest_on() -> None:
    recipe = playbook(
        refund__last_day="add_days(order.purchased_at, refund.window_days)",
        refund__deadline="end_of_day(refund.last_day)",
        refund__lost="add_days(order.delivered_at, 1)",
    )

    made = calculate(recipe, values=KNOWN, asked_at=at("2025-03-06"), zone=BERLIN)

    both = frozenset({PURCHASED_AT, WINDOW})
    assert made == {
        "refund.last_day": Calculation(value=at("2025-03-19T14:03:00+01:00"), rests_on=both),
        "refund.deadline": Calculation(value=at("2025-03-19T23:59:59.999999+01:00"), rests_on=both),
    }


def test_a_sentence_whose_condition_cannot_be_decided_is_not_said() -> None:
    def sentence(when: str | None) -> ClaimWording:
        return ClaimWording(text={}, cites=(), when=when)

    said = [
        sentence(None),
        sentence("refund.window_days == 14"),
        sentence("refund.window_days == 30"),
        sentence("order.delivered_at < asked_at"),
    ]

    assert holding(said, values=KNOWN, asked_at=at("2025-03-06"), zone=BERLIN) == said[:2]


def test_each_version_is_judged_in_its_own_zone() -> None:
    version = replace(refund_version("2025-02-01"), time_zone="Asia/Shanghai")
    shanghai = said_by(make_clause(version), ELIGIBLE, None, "…", rule=RULE)

    made = evaluate_rules([NEW_RULE, shanghai], values=KNOWN, asked_at=at("2025-03-19T17:00:00+00:00"))

    assert [candidate.value for candidate in made] == [True, False]
