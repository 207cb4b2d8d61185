"""Each way in which row-level security leaks, tried as the application role."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.session import TenantSession
from support_agent.errors import DatabaseNotReadyError, TenantLeakError
from support_agent.storage import schema
from support_agent.storage.engine import APPLICATION_ROLE, OWNER_ROLE, create_engine
from support_agent.storage.tables import metadata
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database, add_tenant
from tests.integration.policies.written import written

OURS = sorted(metadata.tables)


@pytest.fixture
def administrator(database: Database) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def single(database_url: str) -> AsyncIterator[AsyncEngine]:
    """A pool of one connection, so that the next borrower gets the same."""
    engine = create_engine(database_url, pool_size=1)
    yield engine
    await engine.dispose()


async def add_order(session: TenantSession, number: str) -> None:
    await session.fetch(
        "insert into trial_orders (tenant_id, order_number, customer_id, ordered_at, record)"
        " values (%(t)s, %(n)s, 'C-1', '2025-01-01', '{}')",
        {"t": session.tenant_id, "n": number},
    )


# R1: owners and superusers pass the policies.


def test_application_role_neither_bypasses_nor_owns(administrator: psycopg.Connection[Any]) -> None:
    role = administrator.execute(
        "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles where rolname = %s", [APPLICATION_ROLE]
    ).fetchone()
    owners = administrator.execute("select distinct tableowner from pg_tables where schemaname = 'public'").fetchall()
    members = administrator.execute("select pg_has_role(%s, %s, 'member')", [APPLICATION_ROLE, OWNER_ROLE]).fetchone()

    assert role == (False, False, False, False)
    assert owners == [(OWNER_ROLE,)]
    assert members == (False,)


def test_every_table_with_a_tenant_enforces_its_policy(administrator: psycopg.Connection[Any]) -> None:
    tables = administrator.execute(
        "select c.relname, c.relrowsecurity, c.relforcerowsecurity, count(p.*), bool_and(p.polpermissive),"
        "       min(pg_get_expr(p.polqual, p.polrelid)), min(pg_get_expr(p.polwithcheck, p.polrelid))"
        " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull"
        " left join pg_policy p on p.polrelid = c.oid"
        " where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace group by 1, 2, 3 order by 1"
    ).fetchall()
    rule = "(tenant_id = (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid)"

    assert tables == [(name, True, True, 1, True, rule, rule) for name in OURS]


def test_no_table_is_without_a_tenant(administrator: psycopg.Connection[Any]) -> None:
    rows = administrator.execute(
        "select relname from pg_class c where relkind in ('r', 'p', 'm', 'f') and relnamespace = 'public'::regnamespace"
        " and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')"
    ).fetchall()

    assert rows == [("alembic_version",)]


def test_owner_is_held_to_the_policies_too(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        assert connection.execute("select count(*) from tenants").fetchone() == (0,)


@pytest.mark.usefixtures("tenant")
async def test_administrators_login_acts_as_the_application(database: Database) -> None:
    engine = create_engine(database.admin_url)
    async with open_session(engine, uuid4()) as session:
        rows = await session.fetch("select current_user::text, (select count(*) from tenants)", {})
    await engine.dispose()

    assert rows == [(APPLICATION_ROLE, 0)]


# R2, R3: views and functions run as someone else.


def test_no_view_or_function_runs_as_its_owner(administrator: psycopg.Connection[Any]) -> None:
    views = administrator.execute(
        "select relname from pg_class where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace"
        " and not coalesce(reloptions @> array['security_invoker=true'], false)"
    ).fetchall()
    functions = administrator.execute(
        "select p.proname, p.prosecdef, p.proconfig from pg_proc p where p.pronamespace = 'public'::regnamespace"
        " and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')"
    ).fetchall()

    assert views == []
    assert sorted(functions) == [
        (name, False, ["search_path=pg_catalog, pg_temp"])
        for name in ("glossary_entries_removed_once", "policy_events_append_only", "policy_versions_close_once")
    ]


# R4, R5, R6: the setting lives as long as the transaction, and its absence hides everything.


async def test_tenant_is_gone_when_the_connection_comes_back(single: AsyncEngine, tenant: UUID) -> None:
    async with open_session(single, tenant) as session:
        assert await session.fetch("select count(*) from tenants", {}) == [(1,)]

    async with single.connect() as connection:
        row = (
            await connection.execute(text("select current_setting('app.tenant', true), count(*) from tenants"))
        ).one()

    assert tuple(row) == ("", 0)


async def test_setting_that_outlived_its_session_is_refused(single: AsyncEngine, tenant: UUID) -> None:
    async with single.connect() as connection:
        await connection.execute(text(f"select set_config('app.tenant', '{tenant}', false)"))

    with pytest.raises(TenantLeakError):
        async with open_session(single, uuid4()):
            pass

    async with open_session(single, uuid4()) as session:
        assert await session.fetch("select count(*) from tenants", {}) == [(0,)]


@pytest.mark.usefixtures("tenant")
async def test_no_tenant_sees_nothing_on_a_fresh_connection(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        counts = [connection.execute(f"select count(*) from {name}".encode()).fetchone() for name in OURS]

    assert counts == [(0,)] * len(OURS)


async def test_no_tenant_writes_nothing(database_url: str) -> None:
    with psycopg.connect(database_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("insert into tenants (tenant_id, slug) values (gen_random_uuid(), 'x')")


async def test_session_is_inside_a_transaction(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        assert session.psycopg.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        by_driver = await session.fetch("select pg_current_xact_id()::text", {})
        by_sqlalchemy = (await session.sqlalchemy.execute(text("select pg_current_xact_id()::text"))).scalar_one()

    assert by_driver == [(by_sqlalchemy,)]


async def test_error_in_one_tenant_leaves_nothing_to_the_next(single: AsyncEngine, tenant: UUID) -> None:
    async def fail_halfway() -> None:
        async with open_session(single, tenant) as session:
            await add_order(session, "SO-1")
            await session.fetch("select 1 / 0", {})

    with pytest.raises(psycopg.errors.DivisionByZero):
        await fail_halfway()

    async with open_session(single, other := await add_tenant(single)) as session:
        assert await session.fetch("select tenant_id from tenants", {}) == [(other,)]
    async with open_session(single, tenant) as session:
        assert await session.fetch("select count(*) from trial_orders", {}) == [(0,)]


# R7: keys ask no policy.


def test_every_key_and_reference_begins_with_the_tenant(administrator: psycopg.Connection[Any]) -> None:
    rows = administrator.execute(
        "select c.conname from pg_constraint c"
        " where c.connamespace = 'public'::regnamespace and c.contype in ('p', 'u', 'f')"
        " and c.conrelid <> 'alembic_version'::regclass and (select attname from pg_attribute a"
        "      where a.attrelid = c.conrelid and a.attnum = c.conkey[1]) <> 'tenant_id'"
        " union all select i.indexrelid::regclass::text from pg_index i join pg_class t on t.oid = i.indrelid"
        " where t.relnamespace = 'public'::regnamespace and t.relname <> 'alembic_version'"
        " and pg_get_indexdef(i.indexrelid, 1, true) not in ('tenant_id', '(tenant_id::text)')"
    ).fetchall()

    assert rows == []


async def test_equal_keys_of_two_tenants_do_not_meet(engine: AsyncEngine) -> None:
    for tenant_id in (await add_tenant(engine), await add_tenant(engine)):
        async with open_session(engine, tenant_id) as session:
            await add_order(session, "SO-1")
            await store.publish(session, [written()], approval="imported", by="ada")
            assert await session.fetch("select count(*) from trial_orders", {}) == [(1,)]


async def test_child_cannot_point_at_another_tenants_parent(engine: AsyncEngine, tenant: UUID) -> None:
    async with open_session(engine, tenant) as session:
        await store.publish(session, [written()], approval="imported", by="ada")
        document = (await session.fetch("select document_id from policy_documents", {}))[0][0]

    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        async with open_session(engine, await add_tenant(engine)) as session:
            await session.fetch(
                "insert into policy_clauses (tenant_id, document_id, position, anchor, heading, heading_path,"
                " line_start, line_end, effect, audience)"
                " values (%(t)s, %(d)s, 0, 'a', 'A', '{}', 1, 1, 'mandatory', 'public')",
                {"t": session.tenant_id, "d": document},
            )


async def test_row_of_another_tenant_cannot_be_written(session: TenantSession, tenant: UUID) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await session.fetch(
            "insert into trial_customers (tenant_id, customer_id, record) values (%(t)s, 'C-1', '{}')", {"t": tenant}
        )


# R8: TRUNCATE asks no policy; and what the role may do, in full.


def test_grants_are_these_and_no_others(administrator: psycopg.Connection[Any]) -> None:
    tables = administrator.execute(
        "select table_name, string_agg(privilege_type, ' ' order by privilege_type)"
        " from information_schema.role_table_grants where grantee = %s group by 1 order by 1",
        [APPLICATION_ROLE],
    ).fetchall()
    columns = administrator.execute(
        "select table_name, string_agg(column_name, ' ' order by column_name)"
        " from information_schema.column_privileges g"
        " where grantee = %s and privilege_type = 'UPDATE' and not exists ("
        "   select from information_schema.role_table_grants t where t.grantee = g.grantee"
        "   and t.table_name = g.table_name and t.privilege_type = 'UPDATE') group by 1 order by 1",
        [APPLICATION_ROLE],
    ).fetchall()

    special = {
        "alembic_version": "SELECT",
        "passage_vectors": "DELETE INSERT SELECT",
        "policy_term_changes": "DELETE INSERT SELECT",
        "trial_customers": "DELETE INSERT SELECT UPDATE",
        "trial_orders": "DELETE INSERT SELECT UPDATE",
    }
    assert dict(tables) == {name: special.get(name, "INSERT SELECT") for name in [*OURS, "alembic_version"]}
    assert columns == [
        ("escalations", "state"),
        ("glossary_entries", "removed_at removed_by"),
        ("policy_drafts", "author changed_at content reviewer state"),
        ("policy_versions", "recorded_to"),
        ("tenants", "revision settings settings_sha256 vector_model"),
    ]


@pytest.mark.parametrize("table", OURS)
async def test_truncate_is_refused(session: TenantSession, table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await session.psycopg.execute(f"truncate {table} cascade".encode())


# R9: a null tenant compares with nothing. (`test_every_table_with_a_tenant_enforces_its_policy` asks for not null.)
# R10, R12 and R13 are in tests/integration/policies: access paths, and publishing. R11 is in `test_two_layers.py`.


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("update policy_documents set text = 'other'", id="text"),
        pytest.param("update policy_versions set valid_to = '2026-01-01'", id="period"),
        pytest.param("update policy_versions set recorded_from = '2020-01-01'", id="start of record"),
        pytest.param("delete from policy_versions", id="recording"),
        pytest.param("delete from policy_documents", id="document"),
        pytest.param("update policy_terms set value = '1'", id="term"),
        pytest.param("delete from runs", id="run"),
        pytest.param("set session_replication_role = replica", id="triggers off"),
        pytest.param("alter table runs no force row level security", id="policy off"),
        pytest.param(f"set role {OWNER_ROLE}", id="another role"),
        pytest.param("create table public.mine (x int)", id="table of its own"),
    ],
)
async def test_published_text_and_records_never_change(session: TenantSession, statement: str) -> None:
    await store.publish(session, [written()], approval="imported", by="ada")

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await session.psycopg.execute(statement.encode())


@pytest.mark.parametrize("value", ["null", "now() + interval '1 day'"])
async def test_end_of_a_recording_is_set_once(session: TenantSession, value: str) -> None:
    await store.publish(session, [written()], approval="imported", by="ada")
    close = "update policy_versions set recorded_to = "
    await session.psycopg.execute(f"{close} clock_timestamp() + interval '1 hour'".encode())

    with pytest.raises(psycopg.errors.RestrictViolation):
        await session.psycopg.execute(f"{close} {value}".encode())


# R14: extensions need an administrator.


def test_migration_without_extensions_names_the_command(own_database: Database) -> None:
    with psycopg.connect(own_database.admin_url, autocommit=True) as connection:
        connection.execute("drop extension vector cascade")

    with pytest.raises(DatabaseNotReadyError, match=r"vector is missing.*database prepare"):
        schema.upgrade(own_database.owner_url)


def test_preparing_as_the_owner_is_refused(own_database: Database) -> None:
    owner = own_database.owner_url.replace(own_database.name, f"{own_database.name}_other")

    with pytest.raises(DatabaseNotReadyError, match="administrator"):
        schema.prepare(owner)


def test_old_pgvector_is_refused(own_database: Database) -> None:
    with psycopg.connect(own_database.admin_url, autocommit=True) as connection:
        connection.execute("update pg_extension set extversion = '0.8.5' where extname = 'vector'")

    with pytest.raises(DatabaseNotReadyError, match=r"pgvector is 0\.8\.5.*0\.8\.6"):
        schema.upgrade(own_database.owner_url)


def test_settings_hold_for_the_role(database_url: str) -> None:
    assert conninfo_to_dict(database_url)["user"] == APPLICATION_ROLE
    with psycopg.connect(database_url) as connection:
        settings = {
            name: connection.execute(f"show {name}".encode()).fetchone()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "search_path")
        }

    assert settings == {
        "statement_timeout": ("30s",),
        "lock_timeout": ("5s",),
        "idle_in_transaction_session_timeout": ("1min",),
        "search_path": ("public",),
    }
