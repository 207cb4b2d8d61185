"""Every kind of place that a tenant's records can be in, filled with the same rows."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from uuid import UUID, uuid4

import orjson
import psycopg
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncEngine

from connectors.base import Evidence, Lookup, Scope
from connectors.memory import MemoryRecord, MemoryRecords
from connectors.orders import OrdersConnector
from connectors.profile import ProfileConnector
from connectors.records import Records
from connectors.settings import RecordSettings, load_connector_settings
from connectors.sql import SqlRecords
from connectors.trial import TrialRecords
from policies.facts import FactDeclaration, Facts
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database, database, database_url, engine, new_database, server, template, tenant

# Fixtures of the integration tests that these share.
__all__ = ["database", "database_url", "engine", "new_database", "server", "template", "tenant"]

Kind = Literal["memory", "sqlite in a thread", "sqlite", "postgresql", "trial tables"]
KINDS: Sequence[Kind] = ("memory", "sqlite in a thread", "sqlite", "postgresql", "trial tables")
Row = Mapping[str, Any]

OTHER_TENANT = uuid4()

DECLARED = (
    FactDeclaration(name="order.purchased_at", type="instant", source="orders", null=True),
    FactDeclaration(name="order.item_kind", type="string", source="orders", null=True, values=("plan", "goods")),
    FactDeclaration(name="order.plan", type="string", source="orders", values=("team", "solo")),
    FactDeclaration(name="order.amount_minor", type="money", source="orders", currency="EUR"),
    FactDeclaration(name="order.quota_used_bp", type="basis_points", source="orders", null=True),
    FactDeclaration(name="order.insured", type="bool", source="orders"),
    FactDeclaration(name="order.due_on", type="date", source="orders", null=True),
    FactDeclaration(name="profile.account", type="string", source="profile", null=True),
    FactDeclaration(name="profile.region", type="string", source="profile"),
)
FACTS: Facts = {fact.name: fact for fact in DECLARED}

ORDER_COLUMNS = {
    "order.purchased_at": "bought_at",
    "order.item_kind": "kind",
    "order.plan": {"column": "tariff", "map": {"T1": "team", "S1": "solo"}},
    "order.amount_minor": {"column": "price", "scale": 100},
    "order.quota_used_bp": "used_bp",
    "order.insured": {"column": "insured", "map": {"yes": True, "no": False}},
    "order.due_on": "due_on",
}
PROFILE_COLUMNS = {"profile.account": "company", "profile.region": "country"}

_MINE = "(buyer = :customer OR company = :account)"
_ORDERS = f"SELECT * FROM purchases WHERE {_MINE}"
_ORDER_LOOKUPS = {
    "by_number": {"query": f"{_ORDERS} AND order_no = :order_number"},
    "in_period": {"query": f"{_ORDERS} AND (bought_at IS NULL OR bought_at BETWEEN :period_start AND :period_end)"},
}
_PROFILE_LOOKUPS = {"by_customer": {"query": "SELECT * FROM people WHERE person = :customer"}}
_ORDER_TABLE = (
    "CREATE TABLE purchases (order_no text, buyer text, company text, bought_at {time}, kind text, tariff text,"
    " price numeric(12, 4), used_bp integer, insured text, due_on date)"
)
_PEOPLE_TABLE = "CREATE TABLE people (person text, company text, country text)"


def order(order_no: str, **changed: object) -> Row:
    return {
        "order_no": order_no,
        "buyer": "ada",
        "company": None,
        "bought_at": "2025-03-05 10:20:00",
        "kind": "plan",
        "tariff": "T1",
        "price": 480.5,
        "used_bp": 400,
        "insured": "yes",
        "due_on": "2025-04-01",
        **changed,
    }


def person(name: str, **changed: object) -> Row:
    return {"person": name, "company": "acme", "country": "DE", **changed}


def scope(tenant_id: UUID, customer: str | None = "ada", **changed: Any) -> Scope:
    return Scope(tenant_id=tenant_id, customer_id=customer, **changed)


@dataclass(kw_only=True)
class Source:
    """One place with records of one tenant, and a way to ask it."""

    kind: Kind
    tenant_id: UUID
    _engine: AsyncEngine
    _database: Database
    _folder: Path
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def orders(self, *rows: Row, time_zone: str | None = "Europe/Berlin", slow: bool = False) -> OrdersConnector:
        settings = self._settings(
            "orders", ORDER_COLUMNS, _ORDER_LOOKUPS, record="order_no", time_zone=time_zone, slow=slow
        )
        records = await self._records(settings, rows, table="purchases", slow=slow)
        connector = OrdersConnector(settings, records)
        self._stack.push_async_callback(connector.aclose)
        return connector

    async def profile(self, *rows: Row) -> ProfileConnector:
        settings = self._settings(
            "profile", PROFILE_COLUMNS, _PROFILE_LOOKUPS, record="person", time_zone=None, slow=False
        )
        connector = ProfileConnector(settings, await self._records(settings, rows, table="people", slow=False))
        self._stack.push_async_callback(connector.aclose)
        return connector

    async def ask(
        self, connector: OrdersConnector | ProfileConnector, scope: Scope, *, timeout_s: float = 10.0, **parameters: Any
    ) -> list[Evidence]:
        lookup = Lookup(source=connector.name, needs=(), parameters=parameters)
        if not connector.local:
            return list(await connector.fetch(lookup, scope, session=None, timeout_s=timeout_s))
        async with open_session(self._engine, self.tenant_id) as session:
            return list(await connector.fetch(lookup, scope, session=session, timeout_s=timeout_s))

    async def close(self) -> None:
        await self._stack.aclose()

    def _settings(
        self, source: str, columns: Row, lookups: Row, *, record: str, time_zone: str | None, slow: bool
    ) -> RecordSettings:
        local = self.kind == "trial tables"
        stated: dict[str, Any] = {"connection": "local" if local else "SHOP_URL", "record": record, "columns": columns}
        if time_zone is not None:
            stated["time_zone"] = time_zone
        if not local:
            stated["lookups"] = {name: self._slowed(lookup) if slow else lookup for name, lookup in lookups.items()}
        loaded = load_connector_settings({source: stated}, facts=FACTS)
        assert not isinstance(loaded, list), loaded
        return loaded[source]

    def _slowed(self, lookup: Row) -> Row:
        if self.kind == "postgresql":
            return {"query": f"{lookup['query']} AND pg_sleep(20) IS NOT NULL"}
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        return {"query": " ".join([endless, lookup["query"], "AND (SELECT count(*) FROM n) > 0"])}

    async def _records(self, settings: RecordSettings, rows: Sequence[Row], *, table: str, slow: bool) -> Records:
        match self.kind:
            case "memory":
                kept = [
                    MemoryRecord(row=row, customer_id=row.get("buyer") or row["person"], account_id=row.get("company"))
                    for row in rows
                ]
                return MemoryRecords(settings, {self.tenant_id: kept}, takes_s=20.0 if slow else 0.0)
            case "trial tables":
                await self._fill_trial(rows, table=table)
                if slow:
                    await self._stack.enter_async_context(_locked(self._database, "trial_orders"))
                return TrialRecords("orders" if table == "purchases" else "profile")
            case _:
                url = self._fill_foreign(rows, table=table)
                return SqlRecords(settings, url=url, tenant_id=self.tenant_id)

    async def _fill_trial(self, rows: Sequence[Row], *, table: str) -> None:
        statement = (
            "INSERT INTO trial_orders (tenant_id, order_number, customer_id, account_id, ordered_at, record)"
            " SELECT %(tenant)s, r->>'order_no', r->>'buyer', r->>'company', '2025-01-01Z', r"
            " FROM jsonb_array_elements(%(rows)s::jsonb) r"
            if table == "purchases"
            else "INSERT INTO trial_customers (tenant_id, customer_id, account_id, record)"
            " SELECT %(tenant)s, r->>'person', r->>'company', r FROM jsonb_array_elements(%(rows)s::jsonb) r"
        )
        async with open_session(self._engine, self.tenant_id) as session:
            await session.psycopg.execute(statement, {"tenant": self.tenant_id, "rows": orjson.dumps(rows).decode()})

    def _fill_foreign(self, rows: Sequence[Row], *, table: str) -> str:
        create = _ORDER_TABLE if table == "purchases" else _PEOPLE_TABLE
        names = list(order("") if table == "purchases" else person(""))
        if self.kind == "postgresql":
            with psycopg.connect(self._database.admin_url) as connection:
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table)))
                connection.execute(create.replace("{time}", "timestamp").encode())
                insert = sql.SQL("INSERT INTO {} VALUES ({})").format(
                    sql.Identifier(table), sql.SQL(", ").join(sql.Placeholder() * len(names))
                )
                for row in rows:
                    connection.execute(insert, [row[name] for name in names])
            return self._database.admin_url
        path = self._folder / f"{uuid4().hex}.db"
        with sqlite3.connect(path) as file:
            file.execute(create.replace("{time}", "timestamp"))
            marks = ", ".join("?" * len(names))
            file.executemany(f"INSERT INTO {table} VALUES ({marks})", [[row[name] for name in names] for row in rows])
        file.close()
        return f"sqlite:///{path}" if self.kind == "sqlite in a thread" else f"sqlite+aiosqlite:///{path}"


@asynccontextmanager
async def _locked(database: Database, table: str) -> AsyncIterator[None]:
    """The table, locked by somebody else."""
    connection = await psycopg.AsyncConnection.connect(database.admin_url)
    async with connection:
        await connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(table)))
        yield
        await connection.rollback()


@pytest.fixture(params=KINDS)
async def source(
    request: pytest.FixtureRequest, engine: AsyncEngine, database: Database, tenant: UUID, tmp_path: Path
) -> AsyncIterator[Source]:
    made = Source(kind=request.param, tenant_id=tenant, _engine=engine, _database=database, _folder=tmp_path)
    yield made
    await made.close()
