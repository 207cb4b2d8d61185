"""Sessions: one transaction each, what they cost, and what they survive."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.session import TenantSession
from support_agent.errors import DatabaseNotReadyError, DatabaseUnavailableError
from support_agent.storage import embedded, schema
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import FAST, Database, add_tenant
from tests.integration.policies.written import written

ADD_RUN = (
    "insert into runs (tenant_id, run_id, asked_at, status, revision, receipt)"
    " values (%(t)s, gen_random_uuid(), now(), 'answered', 1, '{}')"
)


@pytest.fixture
async def own_engine(own_database: Database) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(own_database.url, pool_size=2)
    yield engine
    await engine.dispose()


async def add_customer(session: TenantSession) -> None:
    await session.fetch(
        "insert into trial_customers (tenant_id, customer_id, record) values (%(t)s, 'C-1', '{}')",
        {"t": session.tenant_id},
    )


async def n_customers(engine: AsyncEngine, tenant_id: UUID) -> int:
    async with open_session(engine, tenant_id) as session:
        return int((await session.fetch("select count(*) from trial_customers", {}))[0][0])


async def test_session_sees_its_own_tenant_only(session: TenantSession) -> None:
    assert await session.fetch("select tenant_id from tenants", {}) == [(session.tenant_id,)]


async def test_success_commits(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await add_customer(session)

    assert await n_customers(engine, tenant) == 1


async def test_error_rolls_back(engine: AsyncEngine, tenant: UUID) -> None:
    async def fail() -> None:
        async with open_session(engine, tenant) as session:
            await add_customer(session)
            raise KeyError

    with pytest.raises(KeyError):
        await fail()

    assert await n_customers(engine, tenant) == 0


async def test_sqlalchemy_writes_in_the_same_transaction(engine: AsyncEngine, tenant: UUID) -> None:
    async def fail() -> None:
        async with open_session(engine, tenant) as session:
            await session.sqlalchemy.execute(
                text("insert into trial_customers (tenant_id, customer_id, record) values (:t, 'C-1', '{}')"),
                {"t": tenant},
            )
            assert await session.fetch("select count(*) from trial_customers", {}) == [(1,)]
            raise KeyError

    with pytest.raises(KeyError):
        await fail()

    assert await n_customers(engine, tenant) == 0


async def test_snapshot_reads_one_state_and_may_record(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant, snapshot=True) as question:
        before = await store.versions(question)
        async with open_session(engine, tenant) as publisher:
            await store.publish(publisher, [written()], approval="imported", by="ada")
        after = await store.versions(question)
        await question.fetch(ADD_RUN, {"t": tenant})

    assert (before, after) == ([], [])
    async with open_session(engine, tenant) as session:
        assert await session.fetch("select count(*) from runs", {}) == [(1,)]


async def test_pool_recovers_from_connections_that_were_cut(own_engine: AsyncEngine, own_database: Database) -> None:
    tenant_id = await add_tenant(own_engine)
    async with open_session(own_engine, tenant_id), open_session(own_engine, tenant_id):
        pass
    with psycopg.connect(own_database.admin_url, autocommit=True) as administrator:
        administrator.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()",
            [own_database.name],
        )

    assert await n_customers(own_engine, tenant_id) == 0


async def test_no_free_connection_is_said(own_database: Database) -> None:
    engine = create_engine(own_database.url, pool_size=1, wait_s=0.05)

    async with open_session(engine, uuid4()):
        with pytest.raises(DatabaseUnavailableError, match="all connections are in use"):
            async with open_session(engine, uuid4()):
                pass
    await engine.dispose()


async def test_server_that_is_gone_is_said(server_folder: Path) -> None:
    folder = server_folder / "postgres"
    embedded.start(folder, settings=FAST)
    engine = create_engine(schema.ensure_local(folder))
    tenant_id = await add_tenant(engine)
    embedded.stop(folder)

    with pytest.raises(DatabaseUnavailableError):
        await n_customers(engine, tenant_id)

    embedded.start(folder)
    assert await n_customers(engine, tenant_id) == 0
    await engine.dispose()
    embedded.stop(folder)


async def test_login_that_may_not_act_as_the_application_is_refused(own_database: Database) -> None:
    with psycopg.connect(own_database.admin_url, autocommit=True) as administrator:
        administrator.execute(f"create role {own_database.name} login".encode())
    engine = create_engine(own_database.url.replace("support_agent_app@", f"{own_database.name}@"))

    with pytest.raises(DatabaseNotReadyError, match="database prepare"):
        async with open_session(engine, uuid4()):
            pass

    await engine.dispose()
    with psycopg.connect(own_database.admin_url, autocommit=True) as administrator:
        administrator.execute(f"drop role {own_database.name}".encode())


def test_prepare_makes_what_the_urls_name(own_database: Database) -> None:
    name = f"{own_database.name}_named"
    wanted = own_database.url.replace(own_database.name, name)

    schema.prepare(own_database.admin_url, urls=[wanted])
    schema.upgrade(own_database.admin_url.replace(own_database.name, name))

    schema.require_ready(wanted)
    with psycopg.connect(own_database.admin_url, autocommit=True) as administrator:
        administrator.execute(f"drop database {name} with (force)".encode())
