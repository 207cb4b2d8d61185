"""Reading our own database with the question's session: the errors of its driver are those of a source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

from connectors.errors import SourceUnavailableError
from policies.session import TenantSession


@asynccontextmanager
async def reading(source: str, session: TenantSession | None, *, timeout_s: float) -> AsyncIterator[TenantSession]:
    """Hand out the session for a read that ends within `timeout_s`; after one that did not, its transaction is lost.

    Raises:
        SourceUnavailableError: No answer in time, or the connection is lost.
    """
    if session is None:
        raise ValueError(f"source {source!r} is read with the question's session")
    try:
        async with asyncio.timeout(timeout_s):
            yield session
    except (TimeoutError, psycopg.OperationalError, psycopg.InterfaceError) as error:
        # Not chained: the driver's text quotes parameters, which may be a customer's data.
        raise SourceUnavailableError(source, waited_s=timeout_s, reason=type(error).__name__) from None
