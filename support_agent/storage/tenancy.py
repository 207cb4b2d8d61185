"""The one place that sets the tenant: a session is one transaction, bound to one tenant until it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast
from uuid import UUID

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from policies.session import TenantSession
from support_agent.errors import DatabaseNotReadyError, DatabaseUnavailableError, TenantLeakError
from support_agent.storage.engine import APPLICATION_ROLE


@asynccontextmanager
async def open_session(
    engine: AsyncEngine, tenant_id: UUID, *, snapshot: bool = False, keep: bool = True
) -> AsyncIterator[TenantSession]:
    """A transaction in which row-level security sees `tenant_id`; committed at the end, rolled back on an error.

    Args:
        engine: Connections of the application role.
        tenant_id: The tenant.
        snapshot: Whether all statements read the database as it was at the first one (a question), or each what is
            committed by then (a publish, which waits for others).
        keep: Whether it is committed at the end; otherwise it is rolled back then too.

    Raises:
        DatabaseUnavailableError: No server, or no free connection in time.
        DatabaseNotReadyError: The login may not act as the application role.
        TenantLeakError: The connection still had a tenant; it is closed.
    """
    connection, driver = await _begin(engine, tenant_id, snapshot=snapshot)
    try:
        session = TenantSession(tenant_id=tenant_id, sqlalchemy=connection, psycopg=driver)
        yield session
        if not usable(session):
            await connection.invalidate()
        elif keep:
            await driver.commit()
    finally:
        # Back in the pool, which rolls back what was not committed.
        await connection.close()


async def _begin(
    engine: AsyncEngine, tenant_id: UUID, *, snapshot: bool
) -> tuple[AsyncConnection, psycopg.AsyncConnection[TupleRow]]:
    # One round trip begins the transaction, reads what the connection came with, and sets the tenant. Without
    # parameters, several statements travel together; a UUID writes no other characters than hex digits and dashes.
    begin = (
        f"begin isolation level {'repeatable read' if snapshot else 'read committed'}; "
        f"select current_setting('app.tenant', true), set_config('app.tenant', '{UUID(int=tenant_id.int)}', true)"
    ).encode()
    for attempt in (1, 2):
        connection = await _connect(engine)
        driver = cast("psycopg.AsyncConnection[TupleRow]", (await connection.get_raw_connection()).driver_connection)
        try:
            cursor = await driver.execute(begin)
        except psycopg.OperationalError as error:
            # The server went away while the connection lay in the pool, and with it all others there.
            await connection.invalidate()
            await connection.close()
            if attempt == 2:  # noqa: PLR2004 - the second and last
                raise DatabaseUnavailableError(_place(engine), problem=str(error).strip()) from error
            await engine.dispose()
            continue
        cursor.nextset()
        row = await cursor.fetchone()
        if row is None or row[0] or driver.info.transaction_status != TransactionStatus.INTRANS:
            # A connection of an earlier tenant: no statement of this one may travel on it.
            await connection.invalidate()
            await connection.close()
            raise TenantLeakError
        return connection, driver
    raise AssertionError("the second attempt returns or raises")


def usable(session: TenantSession) -> bool:
    """Whether the transaction can still be written in: a statement that failed or was cut off ends it."""
    return not session.psycopg.closed and session.psycopg.info.transaction_status == TransactionStatus.INTRANS


async def _connect(engine: AsyncEngine) -> AsyncConnection:
    try:
        return await engine.connect()
    except PoolTimeoutError as error:
        raise DatabaseUnavailableError(_place(engine), problem="all connections are in use") from error
    except (OperationalError, InterfaceError) as error:
        raise DatabaseUnavailableError(_place(engine), problem=str(error.orig).strip()) from error
    except DBAPIError as error:
        raise DatabaseNotReadyError(
            _place(engine),
            problem=f"this login cannot act as {APPLICATION_ROLE}",
            remedy="Run `support-agent database prepare` with an administrator's URL",
        ) from error


def _place(engine: AsyncEngine) -> str:
    url = engine.url
    return f"{url.host or 'a local socket'}:{url.port or 5432}/{url.database}"
