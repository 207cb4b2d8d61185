"""A server that flushes what it commits, and two databases on it: one small, one with 100,000 clauses a tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg import sql

from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import POOL_SIZE, Application
from support_agent.domain.tenant import tenant_id
from support_agent.settings import Settings
from support_agent.storage import embedded, schema
from support_agent.storage.embedded import LocalServer
from support_agent.storage.engine import APPLICATION_ROLE, OWNER_ROLE, create_engine
from tests.bench import bulk
from tests.sample_tenant import copy_of_sample
from tests.wire import Wire

#: As the command line has it, so that a cold shell finds the server by itself.
DATA: Final = Path(__file__).parents[2] / ".support-agent" / "bench"
#: Clauses of the tenant that is asked, beside the sample's own, and of other tenants together.
SIZES: Final = {"1k clauses": (1_000, 2_000), "100k clauses": (100_000, 20_000)}
N_OTHERS: Final = 5
#: The small one is where the local server's own data would be.
DATABASES: Final = (schema.DATABASE, f"{schema.DATABASE}_large")
_FLUSHED: Final = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The product on one database."""

    url: str
    application: Application
    #: The same with sentence vectors.
    with_vectors: Application
    #: The same again on one connection, whose messages `wire` counts.
    traced: Application
    wire: Wire
    server_pid: int


@pytest.fixture(scope="session")
def bench_server() -> Iterator[LocalServer]:
    server = embedded.start(DATA / "postgres")
    with _administrator(server, "postgres") as connection:
        rows = connection.execute("select name, setting from pg_settings where name = any(%s)", [[*_FLUSHED]])
        assert {str(name): setting for name, setting in rows} == _FLUSHED
    yield server
    embedded.stop(DATA / "postgres")


@pytest.fixture(scope="session")
async def sites(
    bench_server: LocalServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Mapping[str, Site]]:
    """By size; each has the tenants `lumen`, and the small one `lumen-1` and `lumen-1000`, named for their versions."""
    folders = tmp_path_factory.mktemp("tenants")
    small, large = (_site(bench_server, name, trace=folders / f"{name}.trace") for name in DATABASES)
    made = dict(zip(SIZES, (small, large), strict=True))
    try:
        for slug, n_versions in {"lumen": None, "lumen-1": 1, "lumen-1000": 1_000}.items():
            folder = copy_of_sample(folders, slug=slug, n_refund_versions=n_versions)
            for site in made.values() if slug == "lumen" else (small,):
                await load_tenant(site.application, folder, expected=None, progress=lambda _: None)
        for database, (n_own, n_others) in zip(DATABASES, SIZES.values(), strict=True):
            _fill(bench_server, database, n_own=n_own, n_others=n_others)
        yield made
    finally:
        for site in made.values():
            for application in (site.application, site.with_vectors, site.traced):
                await application.aclose()
        with _administrator(bench_server, "postgres") as connection:
            _drop(connection, DATABASES[1])


def _fill(server: LocalServer, database: str, *, n_own: int, n_others: int) -> None:
    with _administrator(server, database) as connection:
        bulk.add_clauses(connection, tenant_id("lumen"), n_clauses=n_own)
        for number in range(N_OTHERS):
            other = tenant_id(f"other-{number}")
            bulk.add_tenant(connection, other, slug=f"other-{number}")
            bulk.add_clauses(connection, other, n_clauses=n_others // N_OTHERS)
        bulk.settle(connection)


def _site(server: LocalServer, database: str, *, trace: Path) -> Site:
    with _administrator(server, "postgres") as connection:
        _drop(connection, database)
    schema.prepare(server.url(embedded.ADMINISTRATOR, database=database))
    schema.upgrade(server.url(OWNER_ROLE, database=database))
    url = server.url(APPLICATION_ROLE, database=database)
    engine = create_engine(url, pool_size=1)
    return Site(
        url=url,
        application=Application(create_engine(url, pool_size=POOL_SIZE), _settings(url, vectors=False)),
        with_vectors=Application(create_engine(url, pool_size=POOL_SIZE), _settings(url, vectors=True)),
        traced=Application(engine, _settings(url, vectors=False)),
        wire=Wire(engine, trace),
        server_pid=server.pid,
    )


def _settings(url: str, *, vectors: bool) -> Settings:
    return Settings(database_url=url, database_owner_url=None, data_folder=DATA, vectors=vectors, environment={})


def _administrator(server: LocalServer, database: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(server.url(embedded.ADMINISTRATOR, database=database), autocommit=True)


def _drop(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
