"""What the store reads for a question, counted by the database: never a whole table, never what is out of force."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.document import PolicyDocument
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.text import question_tokens
from policies.version import instant_period
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database, add_tenant
from tests.integration.policies.written import window, written

START = datetime(2000, 1, 1, tzinfo=UTC)
WORDS = "refund parcel invoice deposit warranty courier voucher return delivery upgrade".split()

_READ = "select relname, seq_scan, idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables"
#: What the catalogue of statistics itself and the session's start touch.
_NOT_OURS = {"tenants"}


class Reading:
    """Rows read by table, and tables read from end to end, since the session's last look."""

    def __init__(self, session: TenantSession) -> None:
        self._session = session
        self._before: dict[str, tuple[int, int]] = {}
        self.rows: Counter[str] = Counter()
        self.scanned: set[str] = set()

    async def look(self) -> None:
        rows = await self._session.fetch(_READ, {})
        now = {str(name): (int(scans), int(read or 0)) for name, scans, read in rows}
        for name, (scans, read) in now.items():
            scans_before, read_before = self._before.get(name, (0, 0))
            self.rows[name] = read - read_before
            self.scanned |= {name} if scans > scans_before and name not in _NOT_OURS else set()
        self._before = now


@asynccontextmanager
async def reading(engine: AsyncEngine, tenant_id: UUID) -> AsyncIterator[tuple[TenantSession, Reading]]:
    async with open_session(engine, tenant_id) as session:
        counted = Reading(session)
        await counted.look()
        counted.scanned.clear()
        yield session, counted


@pytest.fixture
async def own_engine(own_database: Database) -> AsyncIterator[AsyncEngine]:
    """One connection to an empty database: plans are made while the tables are small, and stay."""
    engine = create_engine(own_database.url, pool_size=1)
    yield engine
    await engine.dispose()


async def publish(engine: AsyncEngine, documents: Sequence[PolicyDocument]) -> UUID:
    tenant_id = await add_tenant(engine)
    async with open_session(engine, tenant_id) as session:
        await store.publish(session, documents, approval="imported", by="ada")
    return tenant_id


def history(n_versions: int, body: Callable[[int], str], *, policy: str = "refund") -> list[PolicyDocument]:
    """Versions of three days each; the last starts on the same day whatever their number."""
    first = START + timedelta(days=3 * (1_000 - n_versions))
    return [
        written(f"v{number}", policy=policy, starts=f"{first + timedelta(days=3 * number):%Y-%m-%d}", body=body(number))
        for number in range(n_versions)
    ]


LAST_DAY = START + timedelta(days=3 * 1_000)


async def test_topic_costs_the_same_with_a_thousand_versions(own_engine: AsyncEngine) -> None:
    async def rows_read(n_versions: int) -> Counter[str]:
        tenant_id = await publish(own_engine, history(n_versions, lambda number: window(number % 5 + 1)))
        async with reading(own_engine, tenant_id) as (session, counted):
            timeline = await store.timeline_of_topic(
                session,
                topic="refund",
                needs=["refund.window_days", "refund.eligible"],
                dates={"order.purchased_at": instant_period(LAST_DAY - timedelta(days=10))},
                asked_at=LAST_DAY,
                audiences=["public"],
            )
            assert len(timeline.versions) == 5
            await counted.look()
        assert counted.scanned == set()
        return counted.rows

    few, many = await rows_read(10), await rows_read(1_000)

    assert many == few


async def test_search_costs_what_is_in_force(own_engine: AsyncEngine) -> None:
    def body(number: int) -> str:
        return "".join(f"\n## Part {n}\nThe {WORDS[n]} number {number} takes {n} days.\n" for n in range(10))

    async def rows_read(n_versions: int) -> Counter[str]:
        tenant_id = await publish(own_engine, history(n_versions, body))
        async with reading(own_engine, tenant_id) as (session, counted):
            hits = await find(session, "how many days does the courier take")
            assert hits[0].text.startswith("The courier number")
            await counted.look()
        assert counted.scanned == set()
        return counted.rows

    few, many = await rows_read(5), await rows_read(100)

    assert {name: many[name] for name in many if many[name] > few[name]} == {}


async def find(session: TenantSession, text: str) -> Sequence[PassageHit]:
    return await search(
        session,
        tokens=question_tokens(text),
        vector=[1.0] + [0.0] * 511,
        as_of=instant_period(LAST_DAY),
        audiences=["public"],
        known={},
        groups={},
    )


async def test_no_search_over_ten_thousand_passages_scans_a_table(own_engine: AsyncEngine) -> None:
    def body(policy: int) -> str:
        parts = "".join(
            f"- The {WORDS[(policy + n) % 10]} of case {policy * 100 + n} needs {WORDS[n % 10]} {n}.\n"
            for n in range(100)
        )
        return f"\n## Cases\n{parts}"

    documents = [written("2000-01-01", policy=f"policy-{number:03}", body=body(number)) for number in range(100)]
    tenant_id = await publish(own_engine, documents)
    async with open_session(own_engine, tenant_id) as session:
        n_passages = (await session.fetch("select count(*) from policy_passages", {}))[0][0]
    texts: dict[str, list[str]] = {}

    for mode in ("force_generic_plan", "force_custom_plan"):
        async with reading(own_engine, tenant_id) as (session, counted):
            await session.psycopg.execute(f"set local plan_cache_mode = {mode}".encode())
            texts[mode] = [hit.text for hit in await find(session, "the voucher of case 4217")]
            await counted.look()
        assert counted.scanned == set()

    assert n_passages == 10_000
    assert texts["force_generic_plan"] == texts["force_custom_plan"]
    assert "case 4217" in texts["force_generic_plan"][0]


async def test_tiny_tenant_beside_a_huge_one_finds_its_own(own_engine: AsyncEngine) -> None:
    def body(number: int) -> str:
        return "\n## Cases\n" + "".join(f"- The {WORDS[n % 10]} of case {number * 50 + n}.\n" for n in range(50))

    await publish(
        own_engine, [written("2000-01-01", policy=f"policy-{number}", body=body(number)) for number in range(60)]
    )
    tiny = await publish(own_engine, [written("2000-01-01", body="\n## Cases\n- The courier of a small shop.\n")])

    async with reading(own_engine, tiny) as (session, counted):
        hits = await find(session, "courier")
        await counted.look()

    assert [hit.text for hit in hits] == ["The courier of a small shop."]
    assert sum(counted.rows.values()) < 50
