"""Publishing against the real database: timelines, recordings, what is refused."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.document import PolicyDocument
from policies.errors import PolicyOverlapError, PolicyStateError
from policies.session import TenantSession
from support_agent.storage.tenancy import open_session
from tests.integration.policies.written import window, written

JAN_1 = datetime(2025, 1, 1, tzinfo=UTC)
MAR_1 = datetime(2025, 3, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


async def publish(session: TenantSession, *documents: PolicyDocument) -> store.Publication:
    return await store.publish(session, documents, approval="imported", by="ada")


async def revision(session: TenantSession) -> int:
    rows = await session.fetch("select revision from tenants where tenant_id = %(t)s", {"t": session.tenant_id})
    return int(rows[0][0])


async def periods(session: TenantSession, known_at: datetime | None = None) -> dict[str, tuple[str, str | None]]:
    """Version -> first and last day."""
    found = await store.versions(session, "refund", known_at=known_at)
    return {
        one.version: (f"{one.valid.start:%Y-%m-%d}", f"{one.valid.end:%Y-%m-%d}" if one.valid.end else None)
        for one in found
    }


async def test_new_version_closes_the_open_one(session: TenantSession) -> None:
    await publish(session, written("2025-01-01"))

    publication = await publish(session, written("2025-03-01", body=window(14)))

    assert await periods(session) == {"2025-01-01": ("2025-01-01", "2025-03-01"), "2025-03-01": ("2025-03-01", None)}
    assert publication.added == ("refund@2025-03-01",)
    assert publication.corrected == ("refund@2025-01-01",)


async def test_version_between_two_takes_its_place(session: TenantSession) -> None:
    await publish(session, written("2025-01-01"), written("2025-06-01"))

    await publish(session, written("2025-03-01", body=window(14)))

    assert await periods(session) == {
        "2025-01-01": ("2025-01-01", "2025-03-01"),
        "2025-03-01": ("2025-03-01", "2025-06-01"),
        "2025-06-01": ("2025-06-01", None),
    }


async def test_own_end_leaves_a_gap(session: TenantSession) -> None:
    await publish(session, written("2025-01-01", ends="2025-02-01"), written("2025-03-01"))

    assert await store.as_of(session, "refund", as_of=datetime(2025, 2, 15, tzinfo=UTC)) is None


async def test_expired_version_does_not_revive_its_predecessor(session: TenantSession) -> None:
    await publish(session, written("2025-01-01"), written("2025-03-01", ends="2025-04-01"))

    assert await store.as_of(session, "refund", as_of=datetime(2025, 5, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("offset", "version"),
    [
        pytest.param(-MICROSECOND, "2025-01-01", id="a microsecond before"),
        pytest.param(timedelta(0), "2025-03-01", id="the start itself"),
        pytest.param(MICROSECOND, "2025-03-01", id="a microsecond after"),
    ],
)
async def test_start_belongs_to_the_later_version(session: TenantSession, offset: timedelta, version: str) -> None:
    await publish(session, written("2025-01-01"), written("2025-03-01"))

    found = await store.as_of(session, "refund", as_of=MAR_1 + offset)

    assert found is not None
    assert found.version == version


async def test_publishing_again_changes_nothing(session: TenantSession) -> None:
    documents = (written("2025-01-01"), written("2025-03-01", body=window(14)))
    await publish(session, *documents)
    before = await store.versions(session), await revision(session)

    publication = await publish(session, *documents)

    assert publication == store.Publication(
        added=(), corrected=(), unchanged=("refund@2025-01-01", "refund@2025-03-01")
    )
    assert (await store.versions(session), await revision(session)) == before


async def test_publish_raises_the_revision_once(session: TenantSession) -> None:
    before = await revision(session)

    await publish(session, written("2025-01-01"), written("2025-03-01"), written("2025-01-01", policy="returns"))

    assert await revision(session) == before + 1


async def test_correction_keeps_what_was_known(session: TenantSession) -> None:
    await publish(session, written(body=window(30)))
    known_at = (await store.versions(session))[0].recorded.start

    await publish(session, written(body=window(14)))

    now = await store.show(session, "refund", "2025-01-01")
    then = await store.show(session, "refund", "2025-01-01", known_at=known_at)
    assert now is not None
    assert then is not None
    assert ("14 days" in now.text, "30 days" in then.text) == (True, True)
    assert then.version.recorded.end == now.version.recorded.start


async def test_nothing_was_known_before_the_first_recording(session: TenantSession) -> None:
    await publish(session, written())
    recorded = (await store.versions(session))[0].recorded.start

    assert await store.as_of(session, "refund", as_of=MAR_1, known_at=recorded - MICROSECOND) is None
    assert await store.as_of(session, "refund", as_of=MAR_1, known_at=recorded) is not None


async def test_overlap_names_both_versions(session: TenantSession) -> None:
    await publish(session, written("2025-01-01", ends="2025-06-01"))

    with pytest.raises(PolicyOverlapError, match=r"'2025-01-01'.*'2025-03-01'.*effective_to"):
        await publish(session, written("2025-03-01"))


async def test_two_versions_of_one_start_overlap(session: TenantSession) -> None:
    with pytest.raises(PolicyOverlapError):
        await publish(session, written("first", starts="2025-01-01"), written("second", starts="2025-01-01"))


async def test_version_given_twice_is_refused(session: TenantSession) -> None:
    with pytest.raises(PolicyStateError, match="given twice"):
        await publish(session, written(), written(body=window(7)))


async def test_refused_publish_stores_nothing(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await publish(session, written("2025-01-01", ends="2025-06-01"))

    with pytest.raises(PolicyOverlapError):
        async with open_session(engine, tenant) as session:
            await publish(session, written("2025-02-01", policy="fees"), written("2025-03-01"))

    async with open_session(engine, tenant) as session:
        assert await store.policies(session) == ["refund"]


async def test_supersession_twice_in_one_transaction(session: TenantSession) -> None:
    for days in (30, 20, 10):
        await publish(session, written(body=window(days)))

    rows = await session.fetch(
        "select recorded_from, recorded_to from policy_versions where tenant_id = %(t)s order by 1",
        {"t": session.tenant_id},
    )

    assert [before[1] for before in rows[:-1]] == [after[0] for after in rows[1:]]
    assert all(end is None or start < end for start, end in rows)


async def test_older_transaction_running_second_records_later(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as older:
        await older.fetch("select clock_timestamp()", {})
        async with open_session(engine, tenant) as newer:
            await publish(newer, written(body=window(30)))
        await publish(older, written(body=window(14)))

    async with open_session(engine, tenant) as session:
        rows = await session.fetch(
            "select recorded_from, recorded_to from policy_versions where tenant_id = %(t)s order by 1",
            {"t": tenant},
        )
    assert rows[0][1] == rows[1][0]


async def test_one_of_two_concurrent_publishes_wins(engine: AsyncEngine, tenant: UUID) -> None:
    async def attempt(version: str) -> str:
        try:
            async with open_session(engine, tenant) as session:
                await publish(session, written(version, starts="2025-01-01", ends="2026-01-01"))
        except PolicyOverlapError:
            return "overlap"
        return "published"

    outcomes = await asyncio.gather(*(attempt(f"draft-{number}") for number in range(4)))

    assert sorted(outcomes) == ["overlap", "overlap", "overlap", "published"]


async def test_three_hundred_versions_in_one_transaction(session: TenantSession) -> None:
    documents = [
        written(f"v{number}", starts=f"{JAN_1 + timedelta(days=number):%Y-%m-%d}", body=window(number % 7 + 1))
        for number in range(300)
    ]

    publication = await publish(session, *documents)

    found = await store.versions(session, "refund")
    assert len(publication.added) == len(found) == 300
    assert all(before.valid.end == after.valid.start for before, after in pairwise(found))
