"""What nobody has stated: when it matters, it is named; when it does not, the answer holds with its condition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policies.facts import FactValue
from support_agent.domain.conflict import Candidate
from support_agent.pipeline.resolution import resolve
from tests.factories import ELIGIBLE, WINDOW, make_candidate, make_clause, make_version, says, where
from tests.unit.pipeline.test_resolution import SITUATION, removals

NOWHERE = replace(SITUATION, known={})
EUROPE = says(14, "eu", applies_to=where(regions="EU"))
AMERICA = says(30, "us", applies_to=where(regions="US"))
EVERYWHERE_7 = says(7, "shop")


def rule(
    result: FactValue, policy: str = "shop", *, authority: str = "corporate", missing: tuple[str, ...] = ()
) -> Candidate:
    clause = make_clause(make_version(policy, authority=authority))
    return make_candidate(clause, None if missing else result, need=ELIGIBLE, rule="…", missing=missing)


def test_unknown_region_removes_nothing() -> None:
    resolution = resolve(WINDOW, [EUROPE, AMERICA], NOWHERE)

    assert (resolution.status, resolution.winner, resolution.needs_facts) == (
        "needs_fact",
        None,
        frozenset({"profile.region"}),
    )
    assert removals(resolution) == {"eu@2024-01-01#window": None, "us@2024-01-01#window": None}


def test_candidates_that_agree_need_no_region() -> None:
    america = says(14, "us", applies_to=where(regions="US"))

    resolution = resolve(WINDOW, [EUROPE, america], NOWHERE)

    assert (resolution.status, resolution.winner) == ("settled", EUROPE)
    assert resolution.agreeing == (america,)
    assert resolution.unstated == {"profile.region"}


def test_one_limited_candidate_is_answered_with_its_condition() -> None:
    resolution = resolve(WINDOW, [EUROPE], NOWHERE)

    assert (resolution.status, resolution.winner, resolution.unstated) == (
        "settled",
        EUROPE,
        frozenset({"profile.region"}),
    )


def test_region_that_changes_nothing_is_not_asked_for() -> None:
    statute = says(14, "law", authority="law", applies_to=where(regions="EU"))

    resolution = resolve(WINDOW, [statute, says(30, "shop")], NOWHERE)

    assert (resolution.status, resolution.winner) == ("settled", says(30, "shop"))
    assert resolution.unstated == frozenset()


def test_region_that_decides_over_a_floor_is_asked_for() -> None:
    statute = says(14, "law", authority="law", applies_to=where(regions="EU"))

    assert resolve(WINDOW, [statute, EVERYWHERE_7], NOWHERE).needs_facts == {"profile.region"}


def test_only_the_deciding_fact_is_named() -> None:
    by_plan = [
        says(14, "annual", applies_to=where(plans="annual", regions=["DE", "US"])),
        says(7, "monthly", applies_to=where(plans="monthly", regions=["DE", "US"])),
    ]

    assert resolve(WINDOW, by_plan, NOWHERE).needs_facts == {"order.plan"}


def test_dimension_without_a_fact_names_itself() -> None:
    channels = [
        says(14, "web", applies_to=where(channels="web")),
        says(7, "phone", applies_to=where(channels="phone")),
    ]

    assert resolve(WINDOW, channels, SITUATION).needs_facts == {"channels"}


def test_too_many_unknowns_are_all_named() -> None:
    names = "abcdefgh"
    candidates = [
        says(number, name, applies_to=where(regions=f"X{name}", plans=name, channels=name))
        for number, name in enumerate(names)
    ]

    resolution = resolve(WINDOW, candidates, NOWHERE)

    assert (resolution.status, resolution.needs_facts) == (
        "needs_fact",
        frozenset({"profile.region", "order.plan", "channels"}),
    )


@pytest.mark.parametrize("unknown", [("order.quota_used_bp",), ("order.status", "order.plan")])
def test_rule_on_unknown_facts_names_them(unknown: tuple[str, ...]) -> None:
    resolution = resolve(ELIGIBLE, [rule(None, missing=unknown)], SITUATION)

    assert (resolution.status, resolution.needs_facts) == ("needs_fact", frozenset(unknown))


def test_rule_that_cannot_change_the_answer_needs_no_facts() -> None:
    statute = rule(result=True, policy="law", authority="law")
    open_rule = rule(None, "desk", authority="department", missing=("order.status",))

    resolution = resolve(ELIGIBLE, [statute, open_rule], SITUATION)

    assert (resolution.status, resolution.winner) == ("settled", statute)


def test_unknown_rule_above_a_known_one_asks() -> None:
    resolution = resolve(
        ELIGIBLE, [rule(None, missing=("order.status",)), rule(True, "desk", authority="department")], SITUATION
    )

    assert resolution.needs_facts == {"order.status"}


def test_unknown_rule_out_of_force_asks_nothing() -> None:
    old = make_candidate(
        make_clause(make_version("shop", "2020-01-01", "2024-01-01")), None, need=ELIGIBLE, rule="…", missing=("x",)
    )
    now = rule(result=False)

    resolution = resolve(ELIGIBLE, [old, now], SITUATION)

    assert (resolution.status, resolution.winner, resolution.conflict) == ("settled", now, None)
