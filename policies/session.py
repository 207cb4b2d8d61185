"""The database session that the store and the connectors are handed: one transaction, bound to one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy.ext.asyncio import AsyncConnection


@dataclass(slots=True, kw_only=True)
class TenantSession:
    """An open transaction in which row-level security sees `tenant_id`; opened by `support_agent.storage.tenancy` only.

    `sqlalchemy` serves administration; `fetch` goes to the psycopg connection underneath it, in the same transaction,
    for the statements every question pays for.
    """

    tenant_id: UUID
    sqlalchemy: AsyncConnection
    psycopg: psycopg.AsyncConnection[TupleRow]
    #: Statements sent through `fetch` since the transaction began.
    n_statements: int = 0

    async def fetch(self, statement: LiteralString, parameters: Mapping[str, Any]) -> Sequence[TupleRow]:
        """Run one prepared statement and return its rows as tuples."""
        self.n_statements += 1
        cursor = await self.psycopg.execute(statement, parameters, prepare=True)
        # `description` would make an object a column, which costs more than a small statement.
        return await cursor.fetchall() if cursor.pgresult is not None and cursor.pgresult.nfields else ()
