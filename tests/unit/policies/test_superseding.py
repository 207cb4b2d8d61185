from __future__ import annotations

from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

import pytest

from policies.errors import PolicyOverlapError, PolicyStateError
from policies.superseding import Entry, check_withdrawal, timelines
from policies.version import Period

JAN = datetime(2025, 1, 1, tzinfo=UTC)
FEB = datetime(2025, 2, 1, tzinfo=UTC)
MAR = datetime(2025, 3, 1, tzinfo=UTC)
APR = datetime(2025, 4, 1, tzinfo=UTC)


def entry(version: str, start: datetime, *, own_end: datetime | None = None) -> Entry:
    return Entry(
        policy="refund", version=version, topic="refund", audience="public", authority="corporate",
        document_id=uuid5(NAMESPACE_URL, version), start=start, own_end=own_end, end=own_end, withdrawn=False,
    )  # fmt: skip


def periods(*given: Entry, present: Entry) -> list[tuple[str, datetime, datetime | None]]:
    return [(one.version, one.start, one.end) for one in timelines(given, {present.key: present})]


def test_version_lasts_until_the_next_begins() -> None:
    assert periods(entry("new", MAR), present=entry("old", JAN)) == [("old", JAN, MAR), ("new", MAR, None)]


def test_own_end_leaves_a_gap() -> None:
    old = entry("old", JAN, own_end=FEB)

    assert periods(entry("new", MAR), present=old) == [("old", JAN, FEB), ("new", MAR, None)]


@pytest.mark.parametrize("start", [JAN, FEB], ids=["same start", "within"])
def test_two_versions_are_never_in_force_at_once(start: datetime) -> None:
    with pytest.raises(PolicyOverlapError):
        timelines([entry("new", start)], {("refund", "old"): entry("old", JAN, own_end=MAR)})


def test_version_is_given_once() -> None:
    with pytest.raises(PolicyStateError, match="given twice"):
        timelines([entry("new", JAN), entry("new", FEB)], {})


@pytest.mark.parametrize(
    ("from_", "now"),
    [(MAR, APR), (MAR, JAN), (FEB, JAN), (JAN, JAN)],
    ids=["while it governs", "ahead", "at its start", "before its start"],
)
def test_withdrawal_that_changes_what_is_to_come(from_: datetime, now: datetime) -> None:
    check_withdrawal("refund", "v", Period(start=FEB, end=APR), from_=from_, now=now)


@pytest.mark.parametrize(
    ("from_", "now", "problem"),
    [(APR, MAR, "has ended by then"), (FEB, FEB, "has governed since"), (JAN, MAR, "has governed since")],
    ids=["at its end", "as it begins", "after it began"],
)
def test_withdrawal_of_what_has_been_is_refused(from_: datetime, now: datetime, problem: str) -> None:
    with pytest.raises(PolicyStateError, match=problem):
        check_withdrawal("refund", "v", Period(start=FEB, end=APR), from_=from_, now=now)
