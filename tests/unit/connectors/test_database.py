from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from connectors.database import Database
from connectors.errors import SourceContractError, SourceUnavailableError

ALL = text("SELECT * FROM t")


@pytest.fixture(params=["sqlite", "sqlite+aiosqlite"])
async def shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (a integer, b text); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    connection.close()
    database = Database("orders", f"{request.param}:///{path}")
    yield database
    await database.aclose()


@pytest.fixture
async def silent_port() -> AsyncIterator[int]:
    """A server that takes connections and never says a word."""
    server = await asyncio.start_server(lambda _reader, writer: writers.append(writer), "127.0.0.1", 0)
    writers: list[asyncio.StreamWriter] = []
    yield server.sockets[0].getsockname()[1]
    server.close()
    for writer in writers:
        writer.close()


async def test_rows_are_read_up_to_the_limit(shop: Database) -> None:
    answer = await shop.run(ALL, {}, timeout_s=5, max_rows=2)

    assert answer.rows == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert answer.kinds == {"a": "unknown", "b": "unknown"}


async def test_connection_only_reads(shop: Database) -> None:
    with pytest.raises(SourceContractError, match="SQLITE_READONLY"):
        await shop.run(text("DELETE FROM t"), {}, timeout_s=5, max_rows=1)


async def test_many_calls_share_the_pool(shop: Database) -> None:
    answers = await asyncio.gather(*(shop.run(ALL, {}, timeout_s=10, max_rows=9) for _ in range(40)))

    assert {len(answer.rows) for answer in answers} == {3}


async def test_wrong_statement_breaks_the_contract(shop: Database) -> None:
    with pytest.raises(SourceContractError, match=r"OperationalError \(SQLITE_ERROR\)$") as refused:
        await shop.run(text("SELECT * FROM t WHERE missing = :secret"), {"secret": "s3cret"}, timeout_s=5, max_rows=1)

    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


async def test_driver_may_be_quoted_where_no_customer_is_bound(shop: Database) -> None:
    with pytest.raises(SourceContractError, match="no such column: missing"):
        await shop.run(text("SELECT missing FROM t"), {}, timeout_s=5, max_rows=1, explain=True)


async def test_cancelled_call_lets_the_next_one_run(shop: Database) -> None:
    endless = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    call = asyncio.create_task(shop.run(endless, {}, timeout_s=60, max_rows=1))
    await asyncio.sleep(0.1)

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert len((await shop.run(ALL, {}, timeout_s=5, max_rows=9)).rows) == 3


async def test_silent_server_is_unavailable_in_time(silent_port: int) -> None:
    database = Database("orders", f"postgresql://me:s3cret@127.0.0.1:{silent_port}/shop")

    with pytest.raises(SourceUnavailableError) as refused:
        await database.run(text("SELECT 1"), {}, timeout_s=0.2, max_rows=1)

    assert refused.value.waited_s == 0.2
    await database.aclose()


@pytest.mark.parametrize("explain", [True, False])
async def test_closed_port_is_unavailable(unused_tcp_port: int, explain: bool) -> None:
    database = Database("orders", f"postgresql://me:s3cret@127.0.0.1:{unused_tcp_port}/shop")

    with pytest.raises(SourceUnavailableError) as refused:
        await database.run(text("SELECT 1"), {}, timeout_s=5, max_rows=1, explain=explain)

    assert "s3cret" not in str(refused.value)
    await database.aclose()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "s3cret",
        "nosuchdatabase://me:s3cret@host/db",
        "mysql+nosuchdriver://me:s3cret@host/db",
        "oracle://s3cret@h/d",
    ],
)
def test_unusable_url_is_refused_without_being_told(url: str) -> None:
    with pytest.raises(SourceContractError, match="driver is installed") as refused:
        Database("orders", url)

    assert "s3cret" not in str(refused.value)
