"""Finding who was told what reads what it lists, however many answers there are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from support_agent.storage.citations import END, CitationsWanted, citing
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database, add_tenant

WANTED = CitationsWanted(policy="refund", version="v7")
N_VERSIONS, N_RUNS = 20, 200

FILL = """
with made as (
    insert into runs (tenant_id, run_id, asked_at, recorded_at, status, revision, receipt)
    select %(tenant)s, gen_random_uuid(), '2026-01-01', '2026-01-01'::timestamptz + n * interval '1 second', 'answered',
           n %% %(n_versions)s, '{"question": {"text": "?"}, "outcome": {"answer": "!"}}'
    from generate_series(1, %(n_versions)s * %(n_runs)s) as n
    returning run_id, recorded_at, revision)
insert into run_citations
select %(tenant)s, run_id, 'refund', 'v' || revision, clause, 'governing', '2026-01-01', recorded_at
from made, unnest('{window,amount}'::text[]) as clause
"""
READ = """
select relname, seq_scan, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) from pg_stat_xact_user_tables
where relname in ('runs', 'run_citations')
"""


@pytest.fixture
async def own_engine(own_database: Database) -> AsyncIterator[AsyncEngine]:
    """One connection: its plans were made while the tables were empty."""
    engine = create_engine(own_database.url, pool_size=1)
    yield engine
    await engine.dispose()


async def test_page_reads_its_own_rows(own_engine: AsyncEngine) -> None:
    tenant = await add_tenant(own_engine)
    for _ in range(6):
        async with open_session(own_engine, tenant) as session:
            assert await citing(session, WANTED, limit=10) == []
    async with open_session(own_engine, tenant) as session:
        await session.fetch(FILL, {"tenant": tenant, "n_versions": N_VERSIONS, "n_runs": N_RUNS})

    after, n_found = END, 0
    async with open_session(own_engine, tenant) as session:
        # The server hands on what a connection has counted only now and then.
        before = {name: (scans, n_rows) for name, scans, n_rows in await session.fetch(READ, {})}
        for _ in range(3):
            page = await citing(session, WANTED, after=after, limit=10)
            after, n_found = (page[-1].recorded_at, page[-1].run_id), n_found + len(page)
        read = {
            name: (scans - before[name][0], n_rows - before[name][1])
            for name, scans, n_rows in await session.fetch(READ, {})
        }

    assert n_found == 30
    assert read["runs"] == (0, 30)
    scans, n_rows = read["run_citations"]
    # Two clauses a run; sorting takes some 32 rows at a time, of 400 that there are.
    assert (scans, n_rows <= 3 * 40) == (0, True)
