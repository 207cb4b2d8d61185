from __future__ import annotations

from datetime import timedelta

import pytest

from policies.applicability import (
    EVERYWHERE,
    Applicability,
    Membership,
    applies,
    contains_region,
    in_dimension,
    narrower,
    unknown_dimensions,
)
from tests.factories import at, where

BREXIT = at("2020-02-01")
JUN_1 = at("2025-06-01")
GROUPS = {
    "EU": (Membership(region="DE"), Membership(region="FR"), Membership(region="GB", end=BREXIT)),
    "EEA": (Membership(region="EU"), Membership(region="NO")),
    "LATE": (Membership(region="DE", start=JUN_1),),
    "LOOP": (Membership(region="POOL"),),
    "POOL": (Membership(region="LOOP"), Membership(region="JP")),
}


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        pytest.param("DE", "DE", True, id="itself"),
        pytest.param("DE", "DE-BY", True, id="subdivision"),
        pytest.param("DE-BY", "DE", False, id="country in its subdivision"),
        pytest.param("D", "DE", False, id="shared letters"),
        pytest.param("EU", "DE", True, id="member"),
        pytest.param("EU", "DE-BY", True, id="subdivision of a member"),
        pytest.param("EU", "US", False, id="no member"),
        pytest.param("EU", "EU", True, id="group in itself"),
        pytest.param("EEA", "EU", True, id="group in a group"),
        pytest.param("EEA", "FR", True, id="member of a member"),
        pytest.param("EU", "EEA", False, id="larger group"),
        pytest.param("LATE", "DE", True, id="joined"),
        pytest.param("LOOP", "JP", True, id="through a circle"),
        pytest.param("LOOP", "US", False, id="not in a circle"),
        pytest.param("EU", "LOOP", False, id="circle in a group"),
        pytest.param("EU", "", False, id="nowhere"),
    ],
)
def test_containment(outer: str, inner: str, expected: bool) -> None:
    assert contains_region(outer, inner, groups=GROUPS, on=JUN_1) is expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [pytest.param(-1, True, id="last instant"), pytest.param(0, False, id="end"), pytest.param(1, False, id="after")],
)
def test_membership_ends_at_its_instant(offset: int, expected: bool) -> None:
    on = BREXIT + timedelta(microseconds=offset)

    assert contains_region("EU", "GB", groups=GROUPS, on=on) is expected


def test_group_lies_where_all_members_of_the_day_lie() -> None:
    rule = where(regions=["DE", "FR"])

    assert in_dimension("regions", "EU", rule.dimensions()["regions"], groups=GROUPS, on=JUN_1)
    assert not in_dimension("regions", "EU", rule.dimensions()["regions"], groups=GROUPS, on=at("2019-01-01"))


KNOWN = {"regions": "DE", "plans": "annual", "segments": None}


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param(EVERYWHERE, True, id="everywhere"),
        pytest.param(where(regions="EU"), True, id="group"),
        pytest.param(where(regions="US"), False, id="elsewhere"),
        pytest.param(where(regions="EU", plans="annual"), True, id="both"),
        pytest.param(where(regions="EU", plans="monthly"), False, id="one of two"),
        pytest.param(where(segments="business"), None, id="null"),
        pytest.param(where(channels="web"), None, id="never stated"),
        pytest.param(where(segments="business", regions="US"), False, id="unknown and excluded"),
        pytest.param(where(plans=[]), False, id="no plan at all"),
    ],
)
def test_applies(place: Applicability, expected: bool | None) -> None:
    assert applies(place, KNOWN, groups=GROUPS, on=JUN_1) is expected


def test_unknown_dimensions_are_named() -> None:
    place = where(segments="business", channels="web", regions="EU")

    assert unknown_dimensions(place, KNOWN) == {"segments", "channels"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param(where(plans="annual"), EVERYWHERE, True, id="any limit"),
        pytest.param(EVERYWHERE, where(plans="annual"), False, id="no limit"),
        pytest.param(where(regions="DE"), where(regions="EU"), True, id="member of a group"),
        pytest.param(where(regions="EU"), where(regions="EEA"), True, id="group of a group"),
        pytest.param(where(regions=["DE", "FR"]), where(regions="EU"), False, id="all members"),
        pytest.param(where(regions="EU"), where(regions="EU"), False, id="equal"),
        pytest.param(where(regions="DE", plans="a"), where(regions="EU", plans="a"), True, id="equal in one"),
        pytest.param(where(regions="DE", plans=["a", "b"]), where(regions="EU", plans="a"), False, id="wider in one"),
        pytest.param(where(plans="a"), where(plans="b"), False, id="beside"),
    ],
)
def test_narrower(a: Applicability, b: Applicability, expected: bool) -> None:
    assert narrower(a, b, groups=GROUPS, on=JUN_1) is expected
