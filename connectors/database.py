"""One SELECT on a foreign database within a timeout, over any SQLAlchemy URL.

Drivers with asyncio run natively, others in a thread each. A call never outlives its timeout, connecting included: what
does not stop when told is left behind. Where a connection can be made read-only, it is.

Errors name the driver's error and code, never its text, and do not chain it: a driver quotes parameters, and those are
customers' data.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import URL, CursorResult, Engine, TextClause, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from connectors.errors import SourceContractError, SourceError, SourceUnavailableError

#: What is known of a column's type: an instant, a time without zone, a day, something else; or nothing.
ColumnKind: TypeAlias = Literal["aware", "naive", "day", "other", "unknown"]

_MAX_THREADS: Final = 5
_CLOSING_S: Final = 1.0

_READ_ONLY: Final = {
    "sqlite": "PRAGMA query_only = ON",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
}
# By type code; drivers of other databases give none to rely on.
_KINDS: Final[Mapping[str, Mapping[object, ColumnKind]]] = {
    "postgresql": {1184: "aware", 1114: "naive", 1082: "day"},
    "mysql": {7: "naive", 12: "naive", 10: "day"},
    "mariadb": {7: "naive", 12: "naive", 10: "day"},
}
#: SQLite reports a wrong statement as an operational error: its codes for an error in SQL and for a refused write.
_SQLITE_FAULTS: Final = frozenset({1, 8})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of one query, and what is known of its columns' types."""

    rows: Sequence[Mapping[str, Any]]
    kinds: Mapping[str, ColumnKind]


class Database:
    """A pool of connections to one foreign database; nothing connects before the first query."""

    def __init__(self, source: str, url: str) -> None:
        """Prepare the pool.

        Raises:
            SourceContractError: The URL is none, or its driver is not installed.
        """
        self._source = source
        self._engine = _engine(source, url)
        self._free_threads = asyncio.Semaphore(_MAX_THREADS)
        self._running: set[asyncio.Task[Answer]] = set()

    async def run(
        self,
        statement: TextClause,
        parameters: Mapping[str, object],
        *,
        timeout_s: float,
        max_rows: int,
        explain: bool = False,
    ) -> Answer:
        """Return at most `max_rows` rows.

        Args:
            statement: One SELECT.
            parameters: What it binds.
            timeout_s: For everything, connecting included.
            max_rows: Further rows are not read.
            explain: Whether an error tells the driver's text; only where no customer's data is bound.

        Raises:
            SourceUnavailableError: No answer in time, or no connection.
            SourceContractError: The database refuses the statement.
        """
        started = asyncio.get_running_loop().time()
        run = self._natively if isinstance(self._engine, AsyncEngine) else self._in_thread
        driver_connections: list[Any] = []
        task = asyncio.create_task(run(statement, parameters, max_rows, driver_connections))
        self._running.add(task)
        task.add_done_callback(self._forget)
        try:
            # Not `asyncio.timeout`: a driver may take seconds to notice that it is cancelled.
            await asyncio.wait({task}, timeout=timeout_s)
        finally:
            if not (finished := task.done()):
                await _interrupt(driver_connections)
                task.cancel()
        if not finished:
            raise SourceUnavailableError(self._source, waited_s=timeout_s)
        if (error := task.exception()) is None:
            return task.result()
        raise self._translated(error, waited_s=asyncio.get_running_loop().time() - started, explain=explain) from None

    async def aclose(self) -> None:
        """Give up what still runs and close the pool."""
        if self._running:
            await asyncio.wait([*self._running], timeout=_CLOSING_S)
        if isinstance(self._engine, AsyncEngine):
            await self._engine.dispose()
        else:
            self._engine.dispose()

    async def _natively(
        self, statement: TextClause, parameters: Mapping[str, object], max_rows: int, driver_connections: list[Any]
    ) -> Answer:
        assert isinstance(self._engine, AsyncEngine)  # noqa: S101 Told apart by the caller.
        async with self._engine.connect() as connection:
            driver_connections.append((await connection.get_raw_connection()).driver_connection)
            result = await connection.execute(statement, parameters)
            return _answer(result, dialect=self._engine.dialect.name, max_rows=max_rows)

    async def _in_thread(
        self, statement: TextClause, parameters: Mapping[str, object], max_rows: int, driver_connections: list[Any]
    ) -> Answer:
        await self._free_threads.acquire()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()

        def finish(answer: Answer | None, error: BaseException | None) -> None:
            self._free_threads.release()
            if future.done():
                return
            if answer is not None:
                future.set_result(answer)
            elif error is not None:
                future.set_exception(error)

        def work() -> None:
            answer, failure = None, None
            try:
                answer = self._read(statement, parameters, max_rows, driver_connections)
            except Exception as error:  # noqa: BLE001 Handed to the task that waits, which translates it.
                failure = error
            # The loop may have ended while the database kept this thread waiting.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, answer, failure)

        # A daemon, unlike a pool's thread: a database that never answers does not keep the process from ending.
        threading.Thread(target=work, name=f"source {self._source}", daemon=True).start()
        return await future

    def _read(
        self, statement: TextClause, parameters: Mapping[str, object], max_rows: int, driver_connections: list[Any]
    ) -> Answer:
        assert isinstance(self._engine, Engine)  # noqa: S101 Told apart by the caller.
        with self._engine.connect() as connection:
            driver_connections.append(connection.connection.driver_connection)
            result = connection.execute(statement, parameters)
            return _answer(result, dialect=self._engine.dialect.name, max_rows=max_rows)

    def _forget(self, task: asyncio.Task[Answer]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Retrieved, or asyncio logs it, with the driver's text, when it belongs to a call that has given up.
            task.exception()

    def _translated(self, error: BaseException, *, waited_s: float, explain: bool) -> SourceError:
        told = _told(error, password=self._engine.url.password) if explain else _named(error)
        if isinstance(error, (OSError, PoolTimeoutError)) or _is_outage(error):
            return SourceUnavailableError(self._source, waited_s=waited_s, reason=told)
        return SourceContractError(self._source, field="query", problem=told)


def _engine(source: str, url: str) -> AsyncEngine | Engine:
    try:
        parsed = _with_driver(make_url(url))
        dialect = parsed.get_dialect().get_async_dialect_cls(parsed)
        options: dict[str, Any] = {"pool_pre_ping": True, "hide_parameters": True}
        if dialect.name == "postgresql":
            options["execution_options"] = {"postgresql_readonly": True}
        engine = create_async_engine(parsed, **options) if dialect.is_async else create_engine(parsed, **options)
    except Exception as error:  # noqa: BLE001 Dialects fail in their own ways, and the text may hold the URL's password.
        problem = f"no SQLAlchemy URL whose driver is installed ({type(error).__name__})"
        raise SourceContractError(source, field="connection", problem=problem) from None
    if (statement := _READ_ONLY.get(dialect.name)) is not None:
        _on_connect(engine.sync_engine if isinstance(engine, AsyncEngine) else engine, statement)
    return engine


def _with_driver(url: URL) -> URL:
    """A PostgreSQL URL that names no driver gets the one that we bring."""
    return url.set(drivername="postgresql+psycopg") if url.drivername in {"postgresql", "postgres"} else url


def _on_connect(engine: Engine, statement: str) -> None:
    @event.listens_for(engine, "connect")
    def _execute(connection: Any, _record: object) -> None:  # noqa: ANN401 A connection of any driver.
        cursor = connection.cursor()
        cursor.execute(statement)
        cursor.close()


async def _interrupt(driver_connections: Sequence[Any]) -> None:
    """Stop what SQLite computes in this process, which would go on for nobody; others end with their connection."""
    for connection in driver_connections:
        # The query may just have ended and its connection be closed.
        with contextlib.suppress(sqlite3.Error, ValueError):
            match connection:
                case sqlite3.Connection():
                    connection.interrupt()
                case object(interrupt=interrupt):
                    await interrupt()


def _answer(result: CursorResult[Any], *, dialect: str, max_rows: int) -> Answer:
    known = _KINDS.get(dialect)
    description = result.cursor.description or ()
    codes = [column[1] for column in description]
    kinds: list[ColumnKind] = ["unknown" if known is None else known.get(code, "other") for code in codes]
    kinds_by_name = dict(zip(result.keys(), kinds, strict=True))
    return Answer(rows=[dict(row) for row in result.mappings().fetchmany(max_rows)], kinds=kinds_by_name)


def _is_outage(error: BaseException) -> bool:
    if not isinstance(error, DBAPIError):
        return False
    if getattr(error.orig, "sqlite_errorcode", None) in _SQLITE_FAULTS:
        return False
    return error.connection_invalidated or isinstance(error, (OperationalError, InterfaceError))


def _named(error: BaseException) -> str:
    """Name and code of the driver's error: `UndefinedColumn (42703)`."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code = next((code for name in ("sqlstate", "sqlite_errorname") if (code := getattr(cause, name, None))), None)
    return type(cause).__name__ + (f" ({code})" if code else "")


def _told(error: BaseException, *, password: str | None) -> str:
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    words = " ".join(str(cause).split())
    return f"{_named(error)}: {words.replace(password, '***') if password else words}"
