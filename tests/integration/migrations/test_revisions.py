"""The history of the database: up from nothing, down again, and equal to what the tables modules describe."""

from __future__ import annotations

import re

import psycopg
import pytest

from support_agent.errors import DatabaseNotReadyError, DatabaseUnavailableError
from support_agent.storage import schema
from support_agent.storage.tables import metadata
from tests.integration.conftest import Database

REVISIONS = sorted(path.stem for path in (schema.MIGRATIONS / "versions").glob("*.py"))
#: Revision ids, oldest first.
IDS = ["_".join(name.split("_")[:2]) for name in REVISIONS]


def tables(database: Database) -> set[str]:
    with psycopg.connect(database.admin_url) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
    return {row[0] for row in rows}


def test_tables_modules_describe_the_database(own_database: Database) -> None:
    schema.check(own_database.owner_url)

    assert tables(own_database) == {*metadata.tables, "alembic_version"}


def test_constraints_are_those_of_the_tables_modules(own_database: Database) -> None:
    # Alembic does not compare checks and exclusions.
    with psycopg.connect(own_database.admin_url) as connection:
        rows = connection.execute(
            "select conrelid::regclass::text, conname from pg_constraint where contype in ('c', 'x', 'p', 'u', 'f')"
            " and connamespace = 'public'::regnamespace and conrelid <> 'alembic_version'::regclass"
        ).fetchall()

    described = {(table.name, str(rule.name)) for table in metadata.tables.values() for rule in table.constraints}

    assert set(rows) == described


@pytest.mark.parametrize(("revision", "before"), list(zip(IDS, ["base", *IDS[:-1]], strict=True)))
def test_each_revision_goes_down_and_up(own_database: Database, revision: str, before: str) -> None:
    schema.downgrade(own_database.owner_url, to=revision)
    with_it = tables(own_database)

    schema.downgrade(own_database.owner_url, to=before)
    without_it = tables(own_database)
    schema.upgrade(own_database.owner_url, to=revision)

    assert tables(own_database) == with_it
    assert before != "base" or without_it == {"alembic_version"}


def test_upgrade_twice_changes_nothing(own_database: Database) -> None:
    schema.upgrade(own_database.owner_url)

    assert schema.revision(own_database.url) == schema.head()


def test_downgrade_leaves_no_function_behind(own_database: Database) -> None:
    schema.downgrade(own_database.owner_url, to="base")

    with psycopg.connect(own_database.admin_url) as connection:
        rows = connection.execute(
            "select proname from pg_proc p where pronamespace = 'public'::regnamespace"
            " and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')"
        ).fetchall()
    assert rows == []


def test_names_order_the_history() -> None:
    sources = [(schema.MIGRATIONS / "versions" / f"{name}.py").read_text() for name in REVISIONS]

    said = [
        (match["revision"], match["down"])
        for source in sources
        if (match := re.search(r'^revision = "(?P<revision>\w+)"\ndown_revision = (?P<down>.*)$', source, re.MULTILINE))
    ]

    assert said == list(zip(IDS, ["None", *(f'"{one}"' for one in IDS[:-1])], strict=True))
    assert schema.head() == IDS[-1]


def test_every_revision_bounds_its_wait_for_locks() -> None:
    for name in REVISIONS:
        source = (schema.MIGRATIONS / "versions" / f"{name}.py").read_text()
        assert source.count("SET LOCAL lock_timeout = '5s'") == 2, name


def test_ready_database_is_accepted(own_database: Database) -> None:
    schema.require_ready(own_database.url)


def test_database_without_tables_names_the_commands(own_database: Database) -> None:
    schema.downgrade(own_database.owner_url, to="base")

    with pytest.raises(DatabaseNotReadyError, match=r"no tables.*database prepare.*database upgrade"):
        schema.require_ready(own_database.url)


def test_database_of_another_revision_names_the_command(own_database: Database) -> None:
    with psycopg.connect(own_database.owner_url, autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '1'")

    with pytest.raises(DatabaseNotReadyError, match=r"revision 1, this version needs.*database upgrade"):
        schema.require_ready(own_database.url)


def test_application_role_cannot_migrate(own_database: Database) -> None:
    with pytest.raises(DatabaseNotReadyError, match=r"may not act as support_agent_owner.*DATABASE_OWNER_URL"):
        schema.upgrade(own_database.url)


def test_administrator_migrates_as_the_owner(own_database: Database) -> None:
    schema.downgrade(own_database.admin_url, to="base")
    schema.upgrade(own_database.admin_url)

    with psycopg.connect(own_database.admin_url) as connection:
        owners = connection.execute("select distinct tableowner from pg_tables where schemaname = 'public'").fetchall()
    assert owners == [("support_agent_owner",)]


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/x", "postgresql://nobody@/x?host=no/such/folder"])
def test_server_that_does_not_answer_is_unavailable(url: str) -> None:
    with pytest.raises(DatabaseUnavailableError, match="DATABASE_URL"):
        schema.require_ready(url)


@pytest.mark.parametrize("url", ["sqlite:///x.db", "not a url", "mysql://u@h/d", ""])
def test_url_of_something_else_is_refused(url: str) -> None:
    with pytest.raises(DatabaseNotReadyError, match="postgresql://"):
        schema.require_ready(url)


def test_password_is_in_no_message() -> None:
    with pytest.raises(DatabaseUnavailableError) as caught:
        schema.require_ready("postgresql://someone:hunter2@127.0.0.1:1/x")

    assert "hunter2" not in str(caught.value)
