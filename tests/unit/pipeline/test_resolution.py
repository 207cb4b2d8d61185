"""The ladder, rung against rung. Every case has the date, the region and the plan known unless it says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policies.applicability import Applicability, Membership
from policies.authority import Ladder
from policies.facts import FactValue
from policies.version import Delegation
from support_agent.domain.conflict import Candidate, Resolution, Situation
from support_agent.pipeline.resolution import resolve
from tests.factories import ELIGIBLE, PURCHASED_AT, WINDOW, at, make_candidate, make_clause, make_version, says, where

GROUPS = {
    "EU": (Membership(region="DE"), Membership(region="FR"), Membership(region="GB", end=at("2020-02-01"))),
}
LADDER = Ladder.of(["law", "contract", "corporate", "regional", ["department", "helpdesk"], "faq"])
SITUATION = Situation(
    asked_at=at("2025-06-01"),
    ladder=LADDER,
    dates={PURCHASED_AT: at("2025-03-05T10:00")},
    known={"regions": "DE", "plans": "annual", "segments": "consumer"},
    dimension_facts={"regions": "profile.region", "plans": "order.plan"},
    groups=GROUPS,
)
EU = where(regions="EU")
TO_REGIONAL = (Delegation(to="regional", terms=frozenset({WINDOW})),)


def outcome(resolution: Resolution) -> tuple[Any, ...]:
    """Status, value, rung, and what removed each candidate of the record by policy and version."""
    conflict = resolution.conflict
    winner = resolution.winner
    return (
        resolution.status,
        None if winner is None else winner.value,
        conflict and conflict.settled_by,
        {} if conflict is None else removals(resolution),
    )


def removals(resolution: Resolution) -> dict[str, str | None]:
    assert resolution.conflict is not None
    return {str(judged.candidate.evidence.locator): judged.removed_by for judged in resolution.conflict.candidates}


def winner_of(resolution: Resolution) -> str:
    assert resolution.winner is not None
    return str(resolution.winner.evidence.locator)


def law(value: FactValue, **rest: Any) -> Candidate:
    return says(value, "law", **{"start": "2014-01-01", "authority": "law", "applies_to": EU, **rest})


def shop(value: FactValue, **rest: Any) -> Candidate:
    return says(value, "shop", **rest)


def annex(value: FactValue, **rest: Any) -> Candidate:
    return says(value, "annex", **{"authority": "regional", **rest})


def desk(value: FactValue, policy: str = "desk", **rest: Any) -> Candidate:
    return says(value, policy, **{"authority": "department", **rest})


def faq(value: FactValue, **rest: Any) -> Candidate:
    return says(value, "faq", **{"authority": "faq", "governed_by": None, **rest})


LAW, SHOP, ANNEX, DESK, FAQ = (
    f"{policy}@{'2014' if policy == 'law' else '2024'}-01-01#window"
    for policy in ("law", "shop", "annex", "desk", "faq")
)

PAIRS = {
    "in force before applies": (
        [shop(30, end="2025-01-01"), shop(14, start="2025-01-01", applies_to=where(regions="US"))],
        ("absent", None, None, {}),
    ),
    "in force before declared relation": (
        [desk(7), desk(9, "other", end="2025-01-01", supersedes=["desk"]), desk(7, "other", start="2025-01-01")],
        (
            "settled",
            7,
            "in_force",
            {DESK: None, "other@2024-01-01#window": "in_force", "other@2025-01-01#window": None},
        ),
    ),
    "in force before authority": (
        [law(20, end="2025-01-01"), law(10, start="2025-01-01"), shop(7)],
        (
            "settled",
            10,
            "authority",
            {LAW: "in_force", "law@2025-01-01#window": None, SHOP: "authority"},
        ),
    ),
    "in force before specificity": (
        [
            shop(30, end="2025-01-01", applies_to=where(plans="annual")),
            shop(14, start="2025-01-01"),
        ],
        (
            "settled",
            14,
            "in_force",
            {"shop@2024-01-01#window": "in_force", "shop@2025-01-01#window": None},
        ),
    ),
    "applies before declared relation": (
        [shop(30), says(60, "shop-us", supersedes=["shop"], applies_to=where(regions="US"))],
        ("settled", 30, "applies", {SHOP: None, "shop-us@2024-01-01#window": "applies"}),
    ),
    "applies before authority": (
        [law(14, applies_to=where(regions="US")), shop(7)],
        ("settled", 7, "applies", {LAW: "applies", SHOP: None}),
    ),
    "applies before specificity": (
        [shop(30), says(60, "shop-us", applies_to=where(regions="US"))],
        ("settled", 30, "applies", {SHOP: None, "shop-us@2024-01-01#window": "applies"}),
    ),
    "declared relation before authority": (
        [shop(30, delegates=TO_REGIONAL), annex(45)],
        ("settled", 45, "declared_relation", {SHOP: "declared_relation", ANNEX: None}),
    ),
    "declared relation before specificity": (
        [shop(30, amends=["narrow"]), says(7, "narrow", applies_to=where(plans="annual"))],
        ("settled", 30, "declared_relation", {SHOP: None, "narrow@2024-01-01#window": "declared_relation"}),
    ),
    "authority before specificity": (
        [shop(30), desk(60, applies_to=where(plans="annual"))],
        ("settled", 30, "authority", {SHOP: None, DESK: "authority"}),
    ),
    "specificity last": (
        [shop(30), says(7, "narrow", applies_to=where(plans="annual"))],
        ("settled", 7, "specificity", {SHOP: "specificity", "narrow@2024-01-01#window": None}),
    ),
    "nothing left to decide": (
        [desk(7), desk(10, "other")],
        ("open", None, None, {DESK: None, "other@2024-01-01#window": None}),
    ),
}


@pytest.mark.parametrize(("candidates", "expected"), PAIRS.values(), ids=PAIRS)
def test_earlier_rung_decides(candidates: list[Candidate], expected: tuple[Any, ...]) -> None:
    assert outcome(resolve(WINDOW, candidates, SITUATION)) == expected


BOUNDS = {
    "law 14, shop 30": ([law(14), shop(30)], ("settled", 30, "authority", {LAW: "bound_met", SHOP: None})),
    "law 14, shop 7": ([law(14), shop(7)], ("settled", 14, "authority", {LAW: None, SHOP: "authority"})),
    "law 14, shop 14": ([law(14), shop(14)], ("settled", 14, None, {})),
    "law alone": ([law(14)], ("settled", 14, None, {})),
    "law fee 5 at most, shop 3": (
        [law(5, better="lower"), shop(3, better="lower")],
        ("settled", 3, "authority", {LAW: "bound_met", SHOP: None}),
    ),
    "law fee 5 at most, shop 9": (
        [law(5, better="lower"), shop(9, better="lower")],
        ("settled", 5, "authority", {LAW: None, SHOP: "authority"}),
    ),
    "law without a direction is mandatory": (
        [law("refund to the card", better=None), shop("voucher", better=None)],
        ("settled", "refund to the card", "authority", {LAW: None, SHOP: "authority"}),
    ),
    "mandatory law removes what is better too": (
        [law(14, effect="mandatory"), shop(30)],
        ("settled", 14, "authority", {LAW: None, SHOP: "authority"}),
    ),
    "default law yields": (
        [law(14, effect="default"), shop(7)],
        ("settled", 7, "authority", {LAW: "authority", SHOP: None}),
    ),
    "default law alone": ([law(14, effect="default")], ("settled", 14, None, {})),
    "maximum caps": (
        [law(30, effect="maximum"), shop(45)],
        ("settled", 30, "authority", {LAW: None, SHOP: "authority"}),
    ),
    "maximum kept": (
        [law(30, effect="maximum"), shop(20)],
        ("settled", 20, "authority", {LAW: "bound_met", SHOP: None}),
    ),
    "floor raises the middle, not the bottom": (
        [law(14), shop(7), desk(20)],
        ("settled", 14, "authority", {LAW: None, SHOP: "authority", DESK: "authority"}),
    ),
    "ceiling lowers the middle": (
        [shop(30, effect="maximum"), annex(45), desk(20)],
        ("settled", 30, "authority", {SHOP: None, ANNEX: "authority", DESK: "authority"}),
    ),
    "value between two bounds": (
        [law(14), shop(30, effect="maximum"), desk(20)],
        ("settled", 20, "authority", {LAW: "bound_met", SHOP: "bound_met", DESK: None}),
    ),
    "floor reached below a ceiling": (
        [law(14), shop(30, effect="maximum"), desk(7)],
        ("settled", 14, "authority", {LAW: None, SHOP: "bound_met", DESK: "authority"}),
    ),
    "ceiling reached above a floor": (
        [law(14), shop(30, effect="maximum"), desk(45)],
        ("settled", 30, "authority", {LAW: "bound_met", SHOP: None, DESK: "authority"}),
    ),
    "two bounds and no value between": (
        [law(14), shop(30, effect="maximum")],
        ("open", None, None, {LAW: None, SHOP: None}),
    ),
    "two floors": (
        [law(14), shop(30, effect="minimum")],
        ("settled", 30, "authority", {LAW: "bound_met", SHOP: None}),
    ),
    "two laws of one rank": (
        [law(14), says(20, "other-law", authority="law"), shop(7)],
        (
            "settled",
            20,
            "authority",
            {LAW: "authority", "other-law@2024-01-01#window": None, SHOP: "authority"},
        ),
    ),
    "contradicting bounds of one rank": (
        [law(14), says(10, "cap", authority="law", effect="maximum"), shop(12)],
        ("open", None, None, {LAW: None, "cap@2024-01-01#window": None, SHOP: "authority"}),
    ),
    "bound does not yield to something narrower": (
        [law(14), says(10, "cap", authority="law", effect="maximum", applies_to=where(regions="DE"))],
        ("open", None, None, {LAW: None, "cap@2024-01-01#window": None}),
    ),
    "values of different kinds are never worse": (
        [law(14), shop("30 days", better=None)],
        ("open", None, None, {LAW: None, SHOP: None}),
    ),
    "newer FAQ never beats a policy": (
        [shop(14), faq(30, start="2025-05-01")],
        ("settled", 14, "authority", {SHOP: None, "faq@2025-05-01#window": "authority"}),
    ),
    "FAQ fills no default": (
        [shop(14, effect="default"), faq(30)],
        ("settled", 14, "authority", {SHOP: None, FAQ: "authority"}),
    ),
    "higher but older against lower but newer": (
        [shop(14), desk(30, start="2025-01-01")],
        ("settled", 14, "authority", {SHOP: None, "desk@2025-01-01#window": "authority"}),
    ),
    "equal ranks under two names": (
        [desk(7), says(10, "help", authority="helpdesk")],
        ("open", None, None, {DESK: None, "help@2024-01-01#window": None}),
    ),
}


@pytest.mark.parametrize(("candidates", "expected"), BOUNDS.values(), ids=BOUNDS)
def test_authority_with_bounds(candidates: list[Candidate], expected: tuple[Any, ...]) -> None:
    assert outcome(resolve(WINDOW, candidates, SITUATION)) == expected


RELATIONS = {
    "higher supersedes lower": (
        [shop(14, supersedes=["desk"], effect="default"), desk(30)],
        ("settled", 14, "declared_relation", {SHOP: None, DESK: "declared_relation"}),
    ),
    "equal rank amends": (
        [shop(14), says(21, "addendum", amends=["shop"])],
        ("settled", 21, "declared_relation", {SHOP: "declared_relation", "addendum@2024-01-01#window": None}),
    ),
    "amends this version": (
        [shop(14), says(21, "addendum", amends=["shop@2024-01-01"])],
        ("settled", 21, "declared_relation", {SHOP: "declared_relation", "addendum@2024-01-01#window": None}),
    ),
    "amends another version": (
        [shop(14), says(21, "addendum", amends=["shop@2023-01-01"])],
        ("open", None, None, {SHOP: None, "addendum@2024-01-01#window": None}),
    ),
    "amends this clause": (
        [shop(14), says(21, "addendum", amends=["shop@2024-01-01#window"])],
        ("settled", 21, "declared_relation", {SHOP: "declared_relation", "addendum@2024-01-01#window": None}),
    ),
    "amends another clause": (
        [shop(14), says(21, "addendum", amends=["shop#fees"])],
        ("open", None, None, {SHOP: None, "addendum@2024-01-01#window": None}),
    ),
    "claim from below is ignored and named": (
        [shop(14), desk(30, supersedes=["shop"])],
        ("settled", 14, "authority", {SHOP: None, DESK: "not_delegated"}),
    ),
    "claim from below that no later rung removes": (
        [law(14), shop(30, supersedes=["law"])],
        ("settled", 30, "authority", {LAW: "bound_met", SHOP: None}),
    ),
    "claim from below that is delegated": (
        [shop(14, delegates=TO_REGIONAL), annex(30, amends=["shop"])],
        ("settled", 30, "declared_relation", {SHOP: "declared_relation", ANNEX: None}),
    ),
    "delegated to another rank": (
        [shop(14, delegates=TO_REGIONAL), desk(30, amends=["shop"])],
        ("settled", 14, "authority", {SHOP: None, DESK: "not_delegated"}),
    ),
    "another term is delegated": (
        [shop(14, delegates=(Delegation(to="regional", terms=frozenset({"fee"})),)), annex(30)],
        ("settled", 14, "authority", {SHOP: None, ANNEX: "authority"}),
    ),
    "delegated within a floor": (
        [shop(14, delegates=TO_REGIONAL, effect="minimum"), annex(7)],
        ("settled", 14, "authority", {SHOP: None, ANNEX: "authority"}),
    ),
    "delegated above a floor": (
        [shop(14, delegates=TO_REGIONAL, effect="minimum"), annex(30)],
        ("settled", 30, "authority", {SHOP: "bound_met", ANNEX: None}),
    ),
    "law stands over a delegation": (
        [law(14), shop(30, delegates=TO_REGIONAL), annex(7)],
        ("settled", 14, "authority", {LAW: None, SHOP: "declared_relation", ANNEX: "authority"}),
    ),
    "circle of claims says nothing": (
        [shop(14, supersedes=["other"]), says(21, "other", supersedes=["shop"])],
        ("open", None, None, {SHOP: None, "other@2024-01-01#window": None}),
    ),
    "chain of claims": (
        [shop(14), says(21, "second", supersedes=["shop"]), says(28, "third", supersedes=["second"])],
        (
            "settled",
            28,
            "declared_relation",
            {
                SHOP: "declared_relation",
                "second@2024-01-01#window": "declared_relation",
                "third@2024-01-01#window": None,
            },
        ),
    ),
    "claim of a version that is not in force": (
        [shop(14), says(21, "other", "2026-01-01", supersedes=["shop"])],
        ("settled", 14, None, {}),
    ),
    "rendition yields": (
        [shop(14), says(30, "shop-zh", language="zh", rendition_of="shop")],
        ("settled", 14, "declared_relation", {SHOP: None, "shop-zh@2024-01-01#window": "rendition"}),
    ),
    "rendition without its original speaks": (
        [says(30, "shop-zh", language="zh", rendition_of="shop")],
        ("settled", 30, None, {}),
    ),
}


@pytest.mark.parametrize(("candidates", "expected"), RELATIONS.values(), ids=RELATIONS)
def test_declared_relations(candidates: list[Candidate], expected: tuple[Any, ...]) -> None:
    assert outcome(resolve(WINDOW, candidates, SITUATION)) == expected


def test_stale_rendition_is_named() -> None:
    original = [says(14, "shop", "2024-01-01", "2025-02-01"), says(30, "shop", "2025-02-01")]
    rendition = says(14, "shop-zh", "2024-01-01", language="zh", rendition_of="shop")

    resolution = resolve(WINDOW, [*original, rendition], SITUATION)

    assert resolution.winner == original[1]
    assert resolution.stale_renditions == ("shop-zh",)


def test_rendition_as_new_as_its_original_is_not_stale() -> None:
    rendition = says(14, "shop-zh", "2024-01-01", language="zh", rendition_of="shop")

    resolution = resolve(WINDOW, [shop(14), rendition], SITUATION)

    assert resolution == Resolution(
        need=WINDOW, status="settled", winner=shop(14), governing_date=resolution.governing_date
    )


def test_rendition_applies_only_where_its_original_does() -> None:
    original = says(14, "us", applies_to=where(regions="US"))
    rendition = says(30, "us-zh", language="zh", rendition_of="us")

    assert resolve(WINDOW, [original, rendition], SITUATION).status == "absent"


def test_policies_that_call_each_other_the_original_both_speak() -> None:
    circle = [says(14, "a", rendition_of="b"), says(30, "b", rendition_of="a")]

    assert resolve(WINDOW, circle, SITUATION).status == "open"


SPECIFICITY = {
    "narrower in one dimension": (Applicability(), where(plans="annual"), 7),
    "country within a group": (EU, where(regions="DE"), 7),
    "narrower in two": (EU, where(regions="DE", plans="annual"), 7),
    "narrower in one, wider in another": (where(regions="DE"), where(plans="annual"), None),
    "equal": (EU, EU, None),
    "group of which all members are listed": (where(regions=["DE", "FR"]), EU, None),
}


@pytest.mark.parametrize(("wide", "narrow", "expected"), SPECIFICITY.values(), ids=SPECIFICITY)
def test_narrower_wins_only_where_comparable(wide: Applicability, narrow: Applicability, expected: int | None) -> None:
    candidates = [says(30, "wide", applies_to=wide), says(7, "narrow", applies_to=narrow)]

    resolution = resolve(WINDOW, candidates, SITUATION)

    assert outcome(resolution)[:3] == (
        ("settled", expected, "specificity") if expected is not None else ("open", None, None)
    )


def test_clause_narrower_than_its_sister_wins() -> None:
    version = make_version("shop")
    general = make_candidate(make_clause(version, "window"), 30)
    special = make_candidate(make_clause(version, "annual", applies_to=where(plans="annual")), 7)

    resolution = resolve(WINDOW, [general, special], SITUATION)

    assert resolution.winner == special


def test_region_counts_as_it_was_on_the_governing_date() -> None:
    british = replace(SITUATION, known={**SITUATION.known, "regions": "GB"})
    rule = says(14, "eu", "2014-01-01", applies_to=EU)

    before = resolve(WINDOW, [rule], replace(british, dates={PURCHASED_AT: at("2020-01-31T23:59:59")}))
    after = resolve(WINDOW, [rule], replace(british, dates={PURCHASED_AT: at("2020-02-01")}))

    assert (before.status, after.status) == ("settled", "absent")


def test_recency_decides_nothing_between_documents_in_force() -> None:
    older, newer = desk(7, start="2020-01-01"), desk(10, "other", start="2025-03-01")

    assert resolve(WINDOW, [older, newer], SITUATION).status == "open"


def test_tie_is_left_to_a_human() -> None:
    resolution = resolve(WINDOW, [desk(7), desk(10, "other")], SITUATION)

    assert resolution.winner is None
    assert resolution.conflict is not None
    assert (resolution.conflict.settled_by, resolution.conflict.winner) == (None, None)


def test_overlapping_versions_are_an_open_conflict() -> None:
    overlap = [law(14), law(30, start="2024-01-01")]

    assert outcome(resolve(WINDOW, overlap, SITUATION))[0] == "open"
    assert outcome(resolve(WINDOW, [shop(7), shop(14, start="2025-01-01")], SITUATION))[0] == "open"


def test_highest_rank_speaks_for_all_that_agree() -> None:
    narrow = says(14, "a-desk", authority="department", applies_to=where(plans="annual"))

    resolution = resolve(WINDOW, [narrow, shop(14), law(14)], SITUATION)

    assert resolution.winner == law(14)
    assert resolution.agreeing == (shop(14), narrow)
    assert resolution.conflict is None


def test_most_specific_speaks_within_a_rank() -> None:
    candidates = [says(14, "a"), says(14, "b", applies_to=where(plans="annual"))]

    assert winner_of(resolve(WINDOW, candidates, SITUATION)) == "b@2024-01-01#window"


@pytest.mark.parametrize(
    ("high", "low", "value"),
    [(True, False, True), (False, True, True), (False, False, False), (True, True, True)],
)
def test_law_that_grants_is_a_floor_for_rules(high: bool, low: bool, value: bool) -> None:
    statute = make_candidate(make_clause(make_version("law", authority="law")), high, need=ELIGIBLE, rule="x")
    corporate = make_candidate(make_clause(make_version("shop")), low, need=ELIGIBLE, rule="y")

    resolution = resolve(ELIGIBLE, [statute, corporate], SITUATION)

    assert resolution.winner is not None
    assert resolution.winner.value is value


def test_true_is_not_one() -> None:
    assert resolve(WINDOW, [desk(1), desk(value=True, policy="other")], SITUATION).status == "open"


def test_nothing_speaks() -> None:
    assert resolve(WINDOW, [], SITUATION) == Resolution(need=WINDOW, status="absent")


def test_statement_outside_a_clause_is_refused() -> None:
    loose = replace(shop(14).evidence, clause=None)

    with pytest.raises(ValueError, match="stands in no clause"):
        resolve(WINDOW, [Candidate(evidence=loose, value=14)], SITUATION)
