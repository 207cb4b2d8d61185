"""What a question reads of a topic: which versions, which terms, in one statement."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from policies import store
from policies.session import TenantSession
from policies.version import Audience, Period, instant_period
from tests.integration.policies.written import REFUND_BODY, window, written

JAN_1 = datetime(2025, 1, 1, tzinfo=UTC)
YEAR_END = datetime(2025, 12, 31, tzinfo=UTC)


async def publish_windows(session: TenantSession, windows: Iterable[int]) -> None:
    """One version a month from January 2025 on."""
    documents = [written(f"2025-{month:02}-01", body=window(days)) for month, days in enumerate(windows, start=1)]
    await store.publish(session, documents, approval="imported", by="ada")


async def read(
    session: TenantSession,
    *,
    bought: datetime | Period,
    asked_at: datetime = YEAR_END,
    audiences: Iterable[Audience] = ("public",),
    topic: str = "refund",
) -> store.TopicTimeline:
    period = bought if isinstance(bought, Period) else instant_period(bought)
    return await store.timeline_of_topic(
        session,
        topic=topic,
        needs=["refund.window_days"],
        dates={"order.purchased_at": period},
        asked_at=asked_at,
        audiences=audiences,
    )


def names(timeline: store.TopicTimeline) -> list[str]:
    return [version.version for version in timeline.versions]


async def test_version_in_force_and_its_neighbours(session: TenantSession) -> None:
    await publish_windows(session, [10, 20, 30, 40, 50, 60, 70])

    found = await read(session, bought=datetime(2025, 3, 15, tzinfo=UTC), asked_at=datetime(2025, 3, 20, tzinfo=UTC))

    assert names(found) == ["2025-02-01", "2025-03-01", "2025-04-01"]
    assert [term.value for term in found.terms if term.rule is None] == [20, 30, 40]


async def test_request_date_is_always_among_the_dates(session: TenantSession) -> None:
    await publish_windows(session, [10, 20, 30, 40, 50, 60, 70])

    found = await read(session, bought=datetime(2025, 1, 15, tzinfo=UTC), asked_at=datetime(2025, 6, 15, tzinfo=UTC))

    assert names(found) == ["2025-01-01", "2025-02-01", "2025-05-01", "2025-06-01", "2025-07-01"]


async def test_nearest_versions_with_another_value_are_found_past_equal_ones(session: TenantSession) -> None:
    await publish_windows(session, [7, 14, 14, 14, 14, 14, 14, 14, 30])

    found = await read(session, bought=datetime(2025, 5, 15, tzinfo=UTC), asked_at=datetime(2025, 5, 20, tzinfo=UTC))

    assert names(found) == ["2025-01-01", "2025-04-01", "2025-05-01", "2025-06-01", "2025-09-01"]


async def test_inserted_version_moves_where_the_value_changes(session: TenantSession) -> None:
    await publish_windows(session, [14, 14, 14, 14, 14, 14])
    inserted = written("middle", starts="2025-02-15", body=window(30))
    await store.publish(session, [inserted], approval="imported", by="ada")

    found = await read(session, bought=datetime(2025, 5, 15, tzinfo=UTC), asked_at=datetime(2025, 5, 20, tzinfo=UTC))

    assert names(found) == ["middle", "2025-04-01", "2025-05-01", "2025-06-01"]


async def test_all_versions_of_a_period_are_found(session: TenantSession) -> None:
    await publish_windows(session, [10, 20, 30, 40, 50, 60])
    spring = Period(start=datetime(2025, 2, 10, tzinfo=UTC), end=datetime(2025, 4, 10, tzinfo=UTC))

    found = await read(session, bought=spring, asked_at=datetime(2025, 4, 9, tzinfo=UTC))

    assert names(found) == ["2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01", "2025-05-01"]


async def test_gap_shows_what_lies_around_it(session: TenantSession) -> None:
    documents = (written("2025-01-01", ends="2025-02-01"), written("2025-03-01", body=window(14)))
    await store.publish(session, documents, approval="imported", by="ada")
    in_the_gap = datetime(2025, 2, 15, tzinfo=UTC)

    found = await read(session, bought=in_the_gap, asked_at=in_the_gap)

    assert [(one.version, one.valid.contains(in_the_gap)) for one in found.versions] == [
        ("2025-01-01", False),
        ("2025-03-01", False),
    ]


async def test_date_before_the_first_version_shows_the_first(session: TenantSession) -> None:
    await publish_windows(session, [10, 20])
    before = datetime(2024, 6, 1, tzinfo=UTC)

    assert names(await read(session, bought=before, asked_at=before)) == ["2025-01-01"]


async def test_policies_of_other_topics_stay_out(session: TenantSession) -> None:
    await publish_windows(session, [10])
    await store.publish(session, [written(policy="fees", topic="fees")], approval="imported", by="ada")

    found = await read(session, bought=JAN_1)

    assert {version.policy for version in found.versions} == {"refund"}


@pytest.mark.parametrize(
    ("audiences", "values"),
    [
        pytest.param(("public",), [30], id="customer"),
        pytest.param(("public", "staff"), [30, 60], id="staff"),
    ],
)
async def test_staff_clauses_are_for_staff(
    session: TenantSession, audiences: tuple[Audience, ...], values: list[int]
) -> None:
    heading = "\n## Goodwill {#goodwill}\n{audience: staff}\nUp to 60 days.\n"
    hidden = f"{heading}\n```terms\nrefund.goodwill_days: {{value: 60}}\n```\n"
    await store.publish(session, [written(body=REFUND_BODY + hidden)], approval="imported", by="ada")

    found = await read(session, bought=JAN_1, audiences=audiences)

    assert [term.value for term in found.terms if term.rule is None] == values


async def test_change_that_staff_alone_may_see_is_no_change_for_customers(session: TenantSession) -> None:
    def body(hidden: int) -> str:
        return window(30) + (
            "\n## Goodwill {#goodwill}\n{audience: staff}\n"
            f"Up to {hidden} days.\n\n```terms\nrefund.window_days: {{value: {hidden}, better: higher}}\n```\n"
        )

    documents = [written(f"2025-{month:02}-01", body=body(40 if month == 1 else 60)) for month in range(1, 8)]
    await store.publish(session, documents, approval="imported", by="ada")
    june = datetime(2025, 6, 15, tzinfo=UTC)

    customer = await read(session, bought=june, asked_at=june)
    staff = await read(session, bought=june, asked_at=june, audiences=("public", "staff"))

    assert names(customer) == ["2025-05-01", "2025-06-01", "2025-07-01"]
    assert names(staff) == ["2025-01-01", "2025-05-01", "2025-06-01", "2025-07-01"]


async def test_topic_is_read_in_one_statement(session: TenantSession) -> None:
    await publish_windows(session, [10, 20, 30])
    before = session.n_statements

    await read(session, bought=JAN_1)
    await read(session, bought=JAN_1 + timedelta(days=5))

    assert session.n_statements - before == 2


async def test_version_published_later_is_seen_by_the_next_question(session: TenantSession) -> None:
    await publish_windows(session, [10])
    await read(session, bought=JAN_1)
    await publish_windows(session, [10, 20])

    assert names(await read(session, bought=JAN_1, asked_at=JAN_1)) == ["2025-01-01", "2025-02-01"]


async def test_clause_bounds_are_cut_to_the_version(session: TenantSession) -> None:
    body = REFUND_BODY.replace("\nAnnual", "\n{effective_from: 2025-02-01}\nAnnual")
    await store.publish(session, [written(body=body, ends="2025-04-01")], approval="imported", by="ada")

    found = await read(session, bought=JAN_1)

    assert {term.clause.valid for term in found.terms} == {
        Period(start=datetime(2025, 2, 1, tzinfo=UTC), end=datetime(2025, 4, 1, tzinfo=UTC))
    }
