"""A real PostgreSQL with the real migrations, for all integration tests.

The server's data is in the git-ignored `.support-agent/tests`; it is left running, so that a single test starts at
once. A template database is migrated once for each state of the migrations; each process has a copy of its own.
`session` is rolled back; a test that commits takes `engine` and a tenant of its own, or `own_database`.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from policies.session import TenantSession
from support_agent.storage import embedded, schema
from support_agent.storage.embedded import LocalServer
from support_agent.storage.engine import APPLICATION_ROLE, OWNER_ROLE, create_engine
from support_agent.storage.tenancy import open_session

ROOT = Path(__file__).parents[2]
#: Throw-away data: what a crash would lose is made again.
FAST = ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 200")


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """One database and the URLs of who may use it."""

    name: str
    url: str
    owner_url: str
    admin_url: str


@pytest.fixture(scope="session")
def server_folders() -> Iterator[Path]:
    """Where servers of single tests live. Not pytest's own: it closes that to all but its user each time it starts, and
    a server that root started is another user's."""
    with TemporaryDirectory(prefix="support-agent-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def server_folder(server_folders: Path) -> Path:
    """A folder for one test's server."""
    folder = server_folders / uuid4().hex
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def server() -> LocalServer:
    return embedded.start(ROOT / ".support-agent" / "tests", settings=FAST)


@pytest.fixture(scope="session")
def template(server: LocalServer) -> str:
    """A prepared and migrated database; its name holds the hash of the code that made it."""
    sources = [*(ROOT / "migrations").rglob("*.py"), *(ROOT / "support_agent" / "storage").glob("*.py")]
    code = b"".join(path.read_bytes() for path in sorted(sources))
    name = f"template_{hashlib.sha256(code).hexdigest()[:16]}"
    with _administrator(server) as connection:
        # Another test process may be making it right now.
        connection.execute("select pg_advisory_lock(1)")
        if connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone() is None:
            draft = f"{name}_draft"
            _drop(connection, draft)
            schema.prepare(server.url(embedded.ADMINISTRATOR, database=draft))
            schema.upgrade(server.url(OWNER_ROLE, database=draft))
            connection.execute(
                sql.SQL("alter database {} rename to {}").format(sql.Identifier(draft), sql.Identifier(name))
            )
    return name


@pytest.fixture(scope="session")
def new_database(server: LocalServer, template: str) -> Iterator[Callable[[], Database]]:
    """Makes databases with all tables and no rows; they are dropped at the end."""
    made: list[str] = []

    def new() -> Database:
        name = f"test_{uuid4().hex}"
        with _administrator(server) as connection:
            connection.execute(
                sql.SQL("create database {} template {} strategy file_copy").format(
                    sql.Identifier(name), sql.Identifier(template)
                )
            )
        made.append(name)
        return Database(
            name=name,
            url=server.url(APPLICATION_ROLE, database=name),
            owner_url=server.url(OWNER_ROLE, database=name),
            admin_url=server.url(embedded.ADMINISTRATOR, database=name),
        )

    yield new

    with suppress(psycopg.OperationalError), _administrator(server) as connection:
        for name in made:
            _drop(connection, name)


@pytest.fixture(scope="session")
def database(new_database: Callable[[], Database]) -> Database:
    """The database that the tests of this process share."""
    return new_database()


@pytest.fixture
def own_database(new_database: Callable[[], Database]) -> Database:
    """A database for one test alone."""
    return new_database()


@pytest.fixture(scope="session")
def database_url(database: Database) -> str:
    """URL of the application role on the shared database."""
    return database.url


@pytest.fixture(scope="session")
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    """Connections of the application role on the shared database."""
    engine = create_engine(database_url)
    yield engine
    await engine.dispose()


@pytest.fixture
async def tenant(engine: AsyncEngine) -> UUID:
    """A committed tenant that no other test uses."""
    return await add_tenant(engine)


@pytest.fixture
async def session(engine: AsyncEngine) -> AsyncIterator[TenantSession]:
    """A transaction of a tenant of its own, rolled back after the test."""
    tenant_id = uuid4()
    async with open_session(engine, tenant_id) as opened:
        await opened.fetch(
            "insert into tenants (tenant_id, slug) values (%(tenant)s, %(slug)s)",
            {"tenant": tenant_id, "slug": tenant_id.hex},
        )
        yield opened
        await opened.psycopg.rollback()


async def add_tenant(engine: AsyncEngine) -> UUID:
    """Add a tenant with no settings, and commit."""
    tenant_id = uuid4()
    async with open_session(engine, tenant_id) as opened:
        await opened.fetch(
            "insert into tenants (tenant_id, slug) values (%(tenant)s, %(slug)s)",
            {"tenant": tenant_id, "slug": tenant_id.hex},
        )
    return tenant_id


def _administrator(server: LocalServer) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(server.url(embedded.ADMINISTRATOR, database="postgres"), autocommit=True)


def _drop(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
