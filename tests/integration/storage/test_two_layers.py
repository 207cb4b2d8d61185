"""Two layers keep tenants apart, each tried with the other switched off: our queries' own filter, and the database's.

Planner and engine faults happen, and so do forgotten filters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from policies import store
from policies.document import PolicyDocument
from policies.passage_words import chinese_in_force, texts_in_force
from policies.search import search
from policies.session import TenantSession
from policies.version import instant_period
from support_agent.domain.glossary import GlossaryEntry
from support_agent.storage import citations, escalations, glossary, runs, tenants
from support_agent.storage.citations import CitationsWanted
from support_agent.storage.engine import create_engine, driver_url
from support_agent.storage.tables import metadata
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database, add_tenant
from tests.integration.policies.written import window, written
from tests.soak import examples

JUNE = datetime(2025, 6, 1, tzinfo=UTC)
CITED = CitationsWanted(policy="refund", version="2025-01-01")
ADD_RUN = """
with run as (
    insert into runs (tenant_id, run_id, asked_at, status, customer_id, revision, receipt)
    values (%(tenant)s, %(run)s, '2025-06-01', 'answered', %(customer)s, 1,
            '{"format": 1, "question": {"text": "?"}, "outcome": {"answer": "!"}}')
    returning recorded_at)
insert into run_citations (tenant_id, run_id, policy_id, version, clause, role, recording_from, recorded_at)
select %(tenant)s, %(run)s, %(policy)s, '2025-01-01', 'window', 'governing', '2025-01-01', recorded_at from run
"""
T = TypeVar("T")

#: Windows by policy; two tenants draw from the same names, so their keys are equal more often than not.
contents = st.dictionaries(st.sampled_from(["refund", "fees", "returns"]), st.integers(1, 90), min_size=1)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def as_application(loop: asyncio.Runner, database: Database) -> Iterator[AsyncEngine]:
    engine = create_engine(database.url, pool_size=1)
    yield engine
    loop.run(engine.dispose())


@pytest.fixture(scope="module")
def as_superuser(loop: asyncio.Runner, database: Database) -> Iterator[AsyncEngine]:
    """Whom row-level security does not hold."""
    engine = create_async_engine(driver_url(database.admin_url), pool_size=1, isolation_level="AUTOCOMMIT")
    yield engine
    loop.run(engine.dispose())


async def fill(engine: AsyncEngine, content: dict[str, int]) -> UUID:
    tenant_id = await add_tenant(engine)
    async with open_session(engine, tenant_id) as session:
        await store.publish(session, documents(content), approval="imported", by="ada")
        await tenants.save_trial(
            session,
            orders=[
                {"order_number": name, "customer_id": "C-1", "ordered_at": "2025-01-01", "amount": days}
                for name, days in content.items()
            ],
            customers=[{"customer_id": "C-1"}],
        )
        for name in content:
            await glossary.add(session, GlossaryEntry(says=f"{name}s and such", means="annual plan"), by="ada")
        for name, days in content.items():
            run = {"tenant": tenant_id, "run": uuid4(), "policy": name, "customer": f"C-{days}"}
            await session.fetch(ADD_RUN, run)
    return tenant_id


def documents(content: dict[str, int]) -> list[PolicyDocument]:
    return [written(policy=name, body=window(days)) for name, days in content.items()]


async def everything(session: TenantSession) -> list[object]:
    """What each reader of the store and of storage says."""
    found: list[object] = [
        await store.policies(session),
        [(one.policy, one.valid) for one in await store.versions(session)],
        [(one.policy, one.valid) for one in await store.versions_as_of(session, as_of=JUNE)],
        [
            shown.text
            for name in ("refund", "fees", "returns")
            if (shown := await store.show(session, name, "2025-01-01"))
        ],
        await tenants.revision(session),
        stored.glossary if (stored := await tenants.load(session)) else None,
        [one.entry for one in await glossary.entries(session, removed=True)],
        len(await runs.unanswered(session, since=None, limit=10)),
        {token: len(texts) for token, texts in (await texts_in_force(session, ["annual", "plan"], on=JUNE)).items()},
        await chinese_in_force(session, on=JUNE),
        await runs.load(session, uuid4()),
        await escalations.list_open(session, limit=10),
        [one.customer for one in (await runs.questions(session, since=None, customer=None, limit=10))[0]],
        await citations.count(session, CITED),
        [(one.customer, one.clauses) for one in await citations.citing(session, CITED, limit=10)],
        await citations.recordings(session, "refund", "2025-01-01", clause="window"),
    ]
    timeline = await store.timeline_of_topic(
        session, topic="refund", needs=["refund.window_days"], dates={}, asked_at=JUNE, audiences=["public"]
    )
    found.append([(term.clause.locator, term.value) for term in timeline.terms])
    hits = await search(
        session, tokens=["annual", "plan", "day"], vector=[0.1] * 512, as_of=instant_period(JUNE), audiences=["public"],
        known={}, groups={},
    )  # fmt: skip
    found.append([(hit.clause.locator, hit.text, hit.score) for hit in hits])
    return found


async def read_as(engine: AsyncEngine, tenant_id: UUID, read: Callable[[TenantSession], Awaitable[T]]) -> T:
    async with open_session(engine, tenant_id) as session:
        return await read(session)


@pytest.mark.soak
@settings(max_examples=examples(default=15, soak=300))
@given(mine=contents, theirs=contents)
def test_each_query_filters_by_tenant_itself(
    loop: asyncio.Runner,
    as_application: AsyncEngine,
    as_superuser: AsyncEngine,
    mine: dict[str, int],
    theirs: dict[str, int],
) -> None:
    async def scenario() -> tuple[list[object], list[object], list[object]]:
        tenant_id = await fill(as_application, mine)
        alone = await read_as(as_application, tenant_id, everything)
        await fill(as_application, theirs)
        return (
            alone,
            await read_as(as_application, tenant_id, everything),
            await read_as(as_superuser, tenant_id, everything),
        )

    alone, beside_another, without_the_database = loop.run(scenario())

    assert beside_another == alone
    assert without_the_database == alone


@pytest.mark.soak
@settings(max_examples=examples(default=10, soak=200))
@given(mine=contents, theirs=contents)
def test_database_filters_what_a_query_forgets(
    loop: asyncio.Runner, as_application: AsyncEngine, mine: dict[str, int], theirs: dict[str, int]
) -> None:
    async def rows(session: TenantSession) -> Sequence[Any]:
        return [
            row
            for name in sorted(metadata.tables)
            for row in await session.fetch(f"select '{name}', tenant_id from {name}", {})
        ]

    async def scenario() -> tuple[UUID, Sequence[Any]]:
        await fill(as_application, theirs)
        tenant_id = await fill(as_application, mine)
        return tenant_id, await read_as(as_application, tenant_id, rows)

    tenant_id, found = loop.run(scenario())

    assert {row[1] for row in found} == {tenant_id}
    assert len({row[0] for row in found}) == 15


def test_application_sees_another_tenants_row_nowhere(
    loop: asyncio.Runner, as_application: AsyncEngine, database: Database
) -> None:
    mine, theirs = (loop.run(fill(as_application, {"refund": days})) for days in (14, 30))
    with psycopg.connect(database.url) as connection:
        connection.execute("select set_config('app.tenant', %s, true)", [str(mine)])
        counts = [
            connection.execute(f"select count(*) from {name} where tenant_id = %s".encode(), [theirs]).fetchone()
            for name in sorted(metadata.tables)
        ]

    assert set(counts) == {(0,)}
