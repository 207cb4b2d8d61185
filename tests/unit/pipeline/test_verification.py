"""The audit: what each need's evidence amounts to, and what is done next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.base import Evidence
from support_agent.domain.conflict import Resolution
from support_agent.domain.verdict import NeedFinding, Verdict
from support_agent.pipeline.resolution import resolve
from support_agent.pipeline.verification import CheckedNeed, Progress, audit
from tests.factories import PURCHASED_AT, WINDOW, at, make_fact, says
from tests.soak import examples
from tests.unit.pipeline.test_resolution import SITUATION

REGION = "profile.region"
ORDER = CheckedNeed(need=PURCHASED_AT, source="orders", askable=True)
PROFILE = CheckedNeed(need=REGION, source="profile", askable=True)
POLICY = CheckedNeed(need=WINDOW, source="policy")
CHECKLIST = (ORDER, PROFILE, POLICY)
BOUGHT = make_fact(PURCHASED_AT, at("2025-03-05"))
LIVES = make_fact(REGION, "DE", source="profile", document="C-1")
SHOP = says(14, "shop")
TIE = [says(7, "a"), says(10, "b")]
ALL_ASKED = frozenset((checked.source, checked.need) for checked in CHECKLIST)


def settled() -> Resolution:
    return resolve(WINDOW, [SHOP], SITUATION)


def complete(**rest: Any) -> Progress:
    given_: dict[str, Any] = {
        "checklist": CHECKLIST,
        "evidence": [BOUGHT, LIVES, SHOP.evidence],
        "resolutions": {WINDOW: settled()},
        "asked": ALL_ASKED,
    }
    return Progress(**{**given_, **rest})


def test_every_need_confirmed_is_sufficient() -> None:
    assert audit(complete()) == Verdict(
        sufficient=True,
        missing=(),
        conflicts=(),
        next_action="answer",
        findings=(
            NeedFinding(need=PURCHASED_AT, status="confirmed", evidence=(BOUGHT.key,)),
            NeedFinding(need=REGION, status="confirmed", evidence=(LIVES.key,)),
            NeedFinding(need=WINDOW, status="confirmed", evidence=(SHOP.evidence.key,)),
        ),
    )


def test_empty_checklist_is_never_sufficient() -> None:
    assert audit(Progress(checklist=())) == Verdict(sufficient=False, missing=(), conflicts=(), next_action="stop")


OPEN = resolve(WINDOW, TIE, SITUATION)
GAP = resolve(WINDOW, [says(14, "shop", "2020-01-01", "2021-01-01")], SITUATION)
UNKNOWN_DATE = resolve(
    WINDOW, [says(7, "a", end="2025-01-01"), says(9, "a", "2025-01-01")], replace(SITUATION, dates={})
)
ABSENT = Resolution(need=WINDOW, status="absent")
SIDES = [BOUGHT, LIVES, *(candidate.evidence for candidate in TIE)]

SITUATIONS = {
    "nothing asked yet": (Progress(checklist=CHECKLIST), "search_orders"),
    "orders answered": (
        Progress(checklist=CHECKLIST, evidence=[BOUGHT], asked=frozenset({("orders", PURCHASED_AT)})),
        "search_profile",
    ),
    "only the policy missing": (
        complete(evidence=[BOUGHT, LIVES], resolutions={}, asked=ALL_ASKED - {("policy", WINDOW)}),
        "search_policy",
    ),
    "budget spent": (Progress(checklist=(POLICY,), exhausted=True), "stop"),
    "budget spent on a fact the customer knows": (Progress(checklist=CHECKLIST, exhausted=True), "ask_customer"),
    "open conflict": (complete(evidence=SIDES, resolutions={WINDOW: OPEN}), "escalate"),
    "open conflict is annotated": (
        complete(evidence=SIDES, resolutions={WINDOW: OPEN}, on_conflict="annotate"),
        "answer",
    ),
    "open conflict waits until all were heard": (
        complete(evidence=SIDES[1:], resolutions={WINDOW: OPEN}, asked=ALL_ASKED - {("orders", PURCHASED_AT)}),
        "search_orders",
    ),
    "gap in the policy": (complete(resolutions={WINDOW: GAP}), "escalate"),
    "deciding fact unknown": (complete(resolutions={WINDOW: UNKNOWN_DATE}), "ask_customer"),
    "null fact": (complete(evidence=[make_fact(PURCHASED_AT, None), LIVES, SHOP.evidence]), "ask_customer"),
    "no record": (complete(evidence=[LIVES, SHOP.evidence]), "ask_customer"),
    "nothing speaks": (complete(resolutions={WINDOW: ABSENT}), "stop"),
    "forbidden": (complete(forbidden=frozenset({REGION})), "refuse"),
    "critical source down": (
        Progress(checklist=CHECKLIST, failed=frozenset({"orders"})),
        "escalate",
    ),
    "source of a side fact down": (
        complete(
            checklist=(ORDER, replace(PROFILE, critical=False), POLICY),
            evidence=[BOUGHT, SHOP.evidence],
            failed=frozenset({"profile"}),
        ),
        "answer",
    ),
    "assertion only the customer can make": (
        complete(checklist=(*CHECKLIST, CheckedNeed(need="reason", source="customer", askable=True))),
        "ask_customer",
    ),
}


@pytest.mark.parametrize(("progress", "action"), SITUATIONS.values(), ids=SITUATIONS)
def test_next_action(progress: Progress, action: str) -> None:
    verdict = audit(progress)

    assert verdict.next_action == action
    assert not verdict.sufficient


def test_open_conflict_names_both_sides() -> None:
    verdict = audit(complete(evidence=SIDES, resolutions={WINDOW: OPEN}))

    assert verdict.conflicts == (WINDOW,)
    assert verdict.findings[-1] == NeedFinding(
        need=WINDOW, status="conflicting", evidence=tuple(candidate.evidence.key for candidate in TIE)
    )


def test_null_fact_is_missing_and_never_false() -> None:
    null, false = make_fact("order.opened", None), make_fact("order.opened", value=False)
    checklist = (CheckedNeed(need="order.opened", source="orders"),)

    assert audit(Progress(checklist=checklist, evidence=[null])).missing == ("order.opened",)
    assert audit(Progress(checklist=checklist, evidence=[false])).sufficient


def test_record_that_contradicts_itself_is_conflicting() -> None:
    twice = [BOUGHT, make_fact(PURCHASED_AT, at("2025-03-06"))]

    assert audit(Progress(checklist=(ORDER,), evidence=twice)).conflicts == (PURCHASED_AT,)


def test_several_records_are_no_conflict() -> None:
    orders = [BOUGHT, make_fact(PURCHASED_AT, at("2025-03-06"), document="SO-1002")]

    assert audit(Progress(checklist=(ORDER,), evidence=orders)).sufficient


def test_resolution_without_its_evidence_confirms_nothing() -> None:
    verdict = audit(complete(evidence=[BOUGHT, LIVES]))

    assert (verdict.sufficient, verdict.missing) == (False, (WINDOW,))


EVIDENCE: list[Evidence] = [BOUGHT, LIVES, SHOP.evidence, make_fact(PURCHASED_AT, None), *SIDES]


@settings(max_examples=examples(default=200, soak=5_000))
@given(
    st.lists(st.sampled_from(CHECKLIST), unique=True),
    st.lists(st.sampled_from(EVIDENCE)),
    st.sampled_from([None, settled(), OPEN, GAP, ABSENT, UNKNOWN_DATE]),
    st.sets(st.sampled_from(sorted(ALL_ASKED))),
    st.booleans(),
)
def test_nothing_is_confirmed_without_evidence_that_exists(
    checklist: list[CheckedNeed],
    evidence: list[Evidence],
    resolution: Resolution | None,
    asked: set[tuple[str, str]],
    exhausted: bool,
) -> None:
    progress = Progress(
        checklist=checklist,
        evidence=evidence,
        resolutions={} if resolution is None else {WINDOW: resolution},
        asked=asked,
        exhausted=exhausted,
    )

    verdict = audit(progress)

    keys = {one.key for one in evidence}
    for finding in verdict.findings:
        assert set(finding.evidence) <= keys
        assert finding.status != "confirmed" or finding.evidence
    assert not verdict.sufficient or (evidence and checklist)
    assert [finding.need for finding in verdict.findings] == [checked.need for checked in checklist]
    if verdict.next_action.startswith("search_"):
        source = verdict.next_action.removeprefix("search_")
        assert any(one.source == source and (source, one.need) not in asked for one in checklist)
