"""Rung 1: which version governs, on which date, and what becomes of gaps, ranges, unknown dates and transitions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from policies.version import Period, Transition
from support_agent.domain.conflict import GoverningDate, Resolution, Situation, StatedDate
from support_agent.pipeline.resolution import resolve
from tests.factories import PURCHASED_AT, WINDOW, at, days, make_candidate, make_clause, make_version, says, where
from tests.unit.pipeline.test_resolution import LADDER, SITUATION, outcome, removals

INSTANT = timedelta(microseconds=1)
JUN_1 = at("2025-06-01")
V1 = says(30, "shop", "2024-01-01", "2025-02-01")
V2 = says(14, "shop", "2025-02-01", "2026-01-01")
V3 = says(7, "shop", "2026-01-01")
VERSIONS = [V1, V2, V3]


def bought(on: datetime | date | Period, **rest: Any) -> Situation:
    return replace(SITUATION, dates={PURCHASED_AT: on}, **rest)


def value(resolution: Resolution) -> object:
    return resolution.winner.value if resolution.winner else resolution.status


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        pytest.param(at("2024-01-01") - INSTANT, "policy_gap", id="before the first"),
        pytest.param(at("2024-01-01"), 30, id="start of the first"),
        pytest.param(at("2025-02-01") - INSTANT, 30, id="last instant"),
        pytest.param(at("2025-02-01"), 14, id="boundary"),
        pytest.param(at("2025-02-01") + INSTANT, 14, id="after the boundary"),
        pytest.param(at("2026-01-01"), 7, id="a version that starts later"),
    ],
)
def test_version_at_its_boundaries(on: datetime, expected: object) -> None:
    assert value(resolve(WINDOW, VERSIONS, bought(on))) == expected


def test_neighbours_with_other_values_enter_the_record() -> None:
    far = says(60, "shop", "2023-01-01", "2024-01-01")

    resolution = resolve(WINDOW, [far, *VERSIONS], bought(at("2025-03-05")))

    assert outcome(resolution) == (
        "settled",
        14,
        "in_force",
        {
            "shop@2024-01-01#window": "in_force",
            "shop@2025-02-01#window": None,
            "shop@2026-01-01#window": "in_force",
        },
    )


def test_neighbour_behind_one_of_equal_value_enters_the_record() -> None:
    equal = says(14, "shop", "2025-01-01", "2025-02-01")
    older = says(30, "shop", "2024-01-01", "2025-01-01")

    resolution = resolve(WINDOW, [older, equal, V2], bought(at("2025-03-05")))

    assert removals(resolution) == {"shop@2024-01-01#window": "in_force", "shop@2025-02-01#window": None}


def test_neighbours_of_other_policies_stay_out_of_the_record() -> None:
    pages = [
        says(30, "faq", "2024-01-01", "2025-01-01", authority="faq"),
        says(14, "faq", "2025-01-01", authority="faq"),
    ]

    assert resolve(WINDOW, [V2, *pages], bought(at("2025-03-05"))).conflict is None


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        pytest.param(date(2025, 1, 31), 30, id="day before"),
        pytest.param(date(2025, 2, 1), 14, id="first day"),
        pytest.param(days("2024-05-01", "2024-06-01"), 30, id="range in one version"),
        pytest.param(days("2024-05-01", "2025-02-01"), 30, id="range up to the boundary"),
        pytest.param(days("2024-05-01", "2025-03-01"), "needs_fact", id="range over the boundary"),
        pytest.param(days("2023-05-01", "2024-03-01"), "needs_fact", id="range that begins before the first"),
        pytest.param(days("2022-05-01", "2023-03-01"), "policy_gap", id="range before the first"),
    ],
)
def test_days_and_ranges(on: date | Period, expected: object) -> None:
    assert value(resolve(WINDOW, VERSIONS, bought(on))) == expected


def test_range_over_versions_of_one_value_is_settled() -> None:
    same = says(14, "shop", "2026-01-01")

    resolution = resolve(WINDOW, [V2, same], bought(days("2025-12-01", "2026-02-01")))

    assert resolution == Resolution(
        need=WINDOW,
        status="settled",
        winner=V2,
        agreeing=(same,),
        governing_date=GoverningDate(period=days("2025-12-01", "2026-02-01"), origin=PURCHASED_AT),
        unstated=frozenset({PURCHASED_AT}),
    )


def test_range_that_differs_names_its_date_and_shows_both() -> None:
    resolution = resolve(WINDOW, VERSIONS, bought(days("2025-01-01", "2025-03-01")))

    assert resolution.needs_facts == {PURCHASED_AT}
    assert removals(resolution) == {
        "shop@2024-01-01#window": None,
        "shop@2025-02-01#window": None,
        "shop@2026-01-01#window": "in_force",
    }


def test_day_is_whole_in_the_zone_of_each_policy() -> None:
    berlin = [
        says(30, "de", "2024-01-01", "2025-02-01", time_zone="Europe/Berlin"),
        says(14, "de", "2025-02-01", time_zone="Europe/Berlin"),
    ]

    assert value(resolve(WINDOW, berlin, bought(date(2025, 1, 31)))) == 30
    assert value(resolve(WINDOW, berlin, bought(at("2025-01-31T23:00")))) == 14
    assert value(resolve(WINDOW, berlin, bought(at("2025-01-31T23:00") - INSTANT))) == 30


def test_auckland_evening_counts_in_the_zone_of_the_policy() -> None:
    lisbon = [
        says(30, "pt", "2024-01-01", "2025-03-10", time_zone="Europe/Lisbon"),
        says(14, "pt", "2025-03-10", time_zone="Europe/Lisbon"),
    ]

    assert value(resolve(WINDOW, lisbon, bought(at("2025-03-10T23:30+13:00")))) == 14
    assert value(resolve(WINDOW, lisbon, bought(at("2025-03-10T12:30+13:00")))) == 30


def test_unknown_date_matters_only_when_versions_differ() -> None:
    unknown = replace(SITUATION, dates={})

    assert value(resolve(WINDOW, [V2], unknown)) == 14
    assert resolve(WINDOW, VERSIONS, unknown).needs_facts == {PURCHASED_AT}


def test_unknown_date_does_not_matter_under_a_mandatory_law() -> None:
    mandate = says(10, "law", authority="law", effect="mandatory", governed_by=None)

    resolution = resolve(WINDOW, [*VERSIONS, mandate], replace(SITUATION, dates={}))

    assert value(resolution) == 10


GENERAL = Situation(asked_at=JUN_1, ladder=LADDER, general=True)
AS_OF_2024 = StatedDate(period=days("2024-06-01", "2024-06-02"))
BOUGHT_2024 = StatedDate(period=days("2024-06-01", "2024-06-02"), fact=PURCHASED_AT)


@pytest.mark.parametrize(
    ("governed_by", "situation", "expected"),
    [
        pytest.param(PURCHASED_AT, GENERAL, (14, "asked_at"), id="no order named"),
        pytest.param(PURCHASED_AT, replace(GENERAL, stated=AS_OF_2024), (30, "stated"), id="as of"),
        pytest.param(PURCHASED_AT, replace(GENERAL, general=False, stated=BOUGHT_2024), (30, "stated"), id="bought"),
        pytest.param(PURCHASED_AT, bought(at("2024-06-01"), stated=AS_OF_2024), (30, PURCHASED_AT), id="record"),
        pytest.param(None, bought(at("2024-06-01")), (14, "asked_at"), id="no governing fact"),
        pytest.param(None, bought(at("2025-06-01"), stated=BOUGHT_2024), (30, "stated"), id="stated event"),
        pytest.param("asked_at", bought(at("2024-06-01"), stated=BOUGHT_2024), (14, "asked_at"), id="request"),
        pytest.param("asked_at", replace(GENERAL, stated=AS_OF_2024), (30, "stated"), id="request as of"),
    ],
)
def test_governing_date(governed_by: str | None, situation: Situation, expected: tuple[int, str]) -> None:
    versions = [
        says(30, "shop", "2024-01-01", "2025-02-01", governed_by=governed_by),
        says(14, "shop", "2025-02-01", governed_by=governed_by),
    ]

    resolution = resolve(WINDOW, versions, situation)

    assert resolution.governing_date is not None
    assert (value(resolution), resolution.governing_date.origin) == expected


def test_stated_date_of_another_event_leaves_the_governing_date_unknown() -> None:
    travelled = StatedDate(period=days("2024-06-01", "2024-06-02"), fact="order.travel_on")

    resolution = resolve(WINDOW, VERSIONS, replace(SITUATION, dates={}, stated=travelled))

    assert resolution.needs_facts == {PURCHASED_AT}


def test_future_version_governs_a_date_after_its_start() -> None:
    next_year = StatedDate(period=days("2026-01-01", "2027-01-01"))

    assert value(resolve(WINDOW, VERSIONS, GENERAL)) == 14
    assert value(resolve(WINDOW, VERSIONS, replace(GENERAL, stated=next_year))) == 7


GAP = [says(30, "shop", "2024-01-01", "2025-01-01"), says(14, "shop", "2025-04-01")]
IN_GAP = bought(at("2025-02-01"))


def test_gap_is_a_gap_whatever_else_speaks() -> None:
    statute = says(14, "law", "2014-01-01", authority="law")

    resolution = resolve(WINDOW, [*GAP, statute], IN_GAP)

    assert (resolution.status, resolution.winner, resolution.gap_in) == ("policy_gap", None, ("shop",))
    assert resolution.governing_date == GoverningDate(
        period=Period(start=at("2025-02-01"), end=at("2025-02-01") + INSTANT), origin=PURCHASED_AT
    )


def test_gap_after_the_last_version() -> None:
    assert resolve(WINDOW, GAP[:1], IN_GAP).status == "policy_gap"


def test_gap_where_the_policy_does_not_apply_is_none() -> None:
    elsewhere = [says(30, "us", "2024-01-01", "2025-01-01", applies_to=where(regions="US"))]

    assert value(resolve(WINDOW, [*elsewhere, says(21, "shop")], IN_GAP)) == 21


def test_gap_in_a_policy_of_unknown_region_asks_for_it() -> None:
    european = [says(30, "eu", "2024-01-01", "2025-01-01", applies_to=where(regions="EU"))]

    resolution = resolve(WINDOW, [*european, says(21, "shop")], replace(IN_GAP, known={}))

    assert (resolution.status, resolution.needs_facts) == ("needs_fact", frozenset({"profile.region"}))


def test_policy_silent_on_the_need_has_no_gap() -> None:
    silent = make_version("shop", "2025-01-01")

    resolution = resolve(WINDOW, GAP[:1], replace(IN_GAP, versions=(silent,)))

    assert resolution.status == "absent"


def test_gap_is_seen_in_a_policy_that_never_spoke_on_the_need() -> None:
    ended = make_version("terms", "2024-01-01", "2025-01-01")

    resolution = resolve(WINDOW, [says(21, "shop")], replace(IN_GAP, versions=(ended,)))

    assert (resolution.status, resolution.gap_in) == ("policy_gap", ("terms",))


def test_expired_faq_leaves_no_gap() -> None:
    page = says(30, "faq", "2024-01-01", "2025-01-01", authority="faq")

    assert value(resolve(WINDOW, [says(21, "shop"), page], IN_GAP)) == 21


def test_later_rendition_leaves_no_gap() -> None:
    rendition = says(30, "shop-zh", "2025-03-01", rendition_of="shop")

    assert value(resolve(WINDOW, [says(21, "shop"), rendition], IN_GAP)) == 21


@pytest.mark.parametrize("on", ["2024-06-01", "2025-06-01"])
def test_policy_taken_over_by_another_leaves_no_gap(on: str) -> None:
    old = says(30, "old", "2024-01-01", "2025-01-01")
    new = says(14, "new", "2025-01-01", supersedes=["old"])

    assert resolve(WINDOW, [old, new], bought(at(on))).status == "settled"


def test_clause_that_ended_before_its_version_is_not_in_force() -> None:
    version = make_version("shop")
    ended = make_clause(version, "launch", valid=days("2024-01-01", "2025-01-01"))
    lasting = make_clause(version, "window")
    candidates = [make_candidate(ended, 60), make_candidate(lasting, 30)]

    assert value(resolve(WINDOW, candidates, bought(at("2025-03-05")))) == 30
    assert resolve(WINDOW, candidates[:1], bought(at("2025-03-05"))).status == "absent"


def grandfathered(take: str, *, from_version: str = "2024-01-01", governed_by: str = PURCHASED_AT) -> list[Any]:
    """30 days, then 14 with a transition from the first version."""
    rule = (Transition(from_version=from_version, when="old", take=take),)  # type: ignore[arg-type]  # three words
    return [
        says(30, "shop", "2024-01-01", "2025-02-01", governed_by=governed_by),
        says(14, "shop", "2025-02-01", governed_by=governed_by, transition=rule),
    ]


def deciding(holds: bool | frozenset[str], on: str = "2024-06-01") -> Situation:
    return bought(at(on), holds=lambda _when, _zone: holds)


TRANSITIONS = {
    "older stays": (grandfathered("older"), deciding(holds=True), 30, {"2024": None, "2025": "in_force"}),
    "newer takes over": (grandfathered("newer"), deciding(holds=True), 14, {"2024": "transition", "2025": None}),
    "better of the two": (grandfathered("better"), deciding(holds=True), 30, {"2024": None, "2025": "in_force"}),
    "condition fails": (grandfathered("newer"), deciding(holds=False), 30, {"2024": None, "2025": "in_force"}),
    "another version": (
        grandfathered("newer", from_version="2023-01-01"),
        deciding(holds=True),
        30,
        {"2024": None, "2025": "in_force"},
    ),
    "request under the new version, case from the old": (
        grandfathered("older", governed_by="asked_at"),
        deciding(holds=True),
        30,
        {"2024": None, "2025": "transition"},
    ),
    "request under the new version, better": (
        grandfathered("better", governed_by="asked_at"),
        deciding(holds=True),
        30,
        {"2024": None, "2025": "transition"},
    ),
    "request under the new version, condition fails": (
        grandfathered("older", governed_by="asked_at"),
        deciding(holds=False),
        14,
        {"2024": "in_force", "2025": None},
    ),
}


@pytest.mark.parametrize(("versions", "situation", "expected", "removed"), TRANSITIONS.values(), ids=TRANSITIONS)
def test_transition(versions: list[Any], situation: Situation, expected: int, removed: dict[str, str | None]) -> None:
    resolution = resolve(WINDOW, versions, situation)

    assert value(resolution) == expected
    assert {name.partition("@")[2][:4]: by for name, by in removals(resolution).items()} == removed
    assert resolution.conflict is not None
    assert resolution.conflict.settled_by == "in_force"


def test_transition_on_an_unknown_fact_asks_for_it() -> None:
    resolution = resolve(WINDOW, grandfathered("newer"), deciding(holds=frozenset({"order.plan"})))

    assert (resolution.status, resolution.needs_facts) == ("needs_fact", frozenset({"order.plan"}))


def test_transition_is_read_from_the_version_in_force_when_asked() -> None:
    before_it_started = replace(deciding(holds=True), asked_at=at("2025-01-15"))

    assert value(resolve(WINDOW, grandfathered("newer"), before_it_started)) == 30


def test_better_without_a_direction_is_left_open() -> None:
    versions = [
        make_candidate(candidate.evidence.clause, text, better=None)
        for candidate, text in zip(grandfathered("better"), ("voucher", "money"), strict=True)
    ]

    assert resolve(WINDOW, versions, deciding(holds=True)).status == "open"
