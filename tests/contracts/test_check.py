"""What a connector's check finds in a database before a customer does."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from connectors.base import Lookup
from connectors.orders import OrdersConnector
from connectors.settings import load_connector_settings
from connectors.sql import SqlRecords
from tests.contracts.conftest import FACTS, scope
from tests.integration.conftest import Database

TENANT = uuid4()
BY_NUMBER = "SELECT * FROM sales WHERE buyer = :customer AND number = :order_number"
COLUMNS = {"order.purchased_at": "bought_at", "order.due_on": "due_on"}


def connector(url: str, *, query: str = BY_NUMBER, **changed: Any) -> OrdersConnector:
    stated = {"connection": "URL", "record": "number", "columns": COLUMNS, "lookups": {"by_number": {"query": query}}}
    settings = load_connector_settings({"orders": {**stated, **changed}}, facts=FACTS)
    assert not isinstance(settings, list), settings
    return OrdersConnector(settings["orders"], SqlRecords(settings["orders"], url=url, tenant_id=TENANT))


async def problems(orders: OrdersConnector) -> list[str]:
    try:
        return [fault.problem for fault in await orders.check(timeout_s=10)]
    finally:
        await orders.aclose()


@pytest.fixture
def shop(database: Database) -> str:
    """URL of a PostgreSQL database with a table `sales`."""
    columns = "number text, buyer integer, bought_at {}, due_on date"
    with psycopg.connect(database.admin_url) as connection:
        for table, kind in (("sales", "timestamptz"), ("naive_sales", "timestamp"), ("text_sales", "text")):
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(table)))
            connection.execute(f"CREATE TABLE {table} ({columns.format(kind)})".encode())
        connection.execute("INSERT INTO sales VALUES ('SO-1', 7, '2025-03-05 10:00+01', '2025-04-01')")
    return database.admin_url


@pytest.mark.parametrize(
    ("table", "zone", "found"),
    [
        ("sales", None, []),
        ("naive_sales", "Europe/Berlin", []),
        ("naive_sales", None, ["column 'bought_at' may hold times without a zone; set `time_zone`"]),
        ("text_sales", None, ["column 'bought_at' may hold times without a zone; set `time_zone`"]),
    ],
)
async def test_naive_columns_need_a_zone(shop: str, table: str, zone: str | None, found: list[str]) -> None:
    query = BY_NUMBER.replace("sales", table)
    orders = connector(shop, query=query, parameters={"customer": "int"}, **({"time_zone": zone} if zone else {}))

    assert await problems(orders) == found


async def test_sqlite_knows_no_zones_and_needs_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE sales (number text, buyer text, bought_at timestamp, due_on date)")
    file.close()

    assert "set `time_zone`" in (await problems(connector(f"sqlite:///{path}")))[0]
    assert await problems(connector(f"sqlite:///{path}", time_zone="UTC")) == []


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        (BY_NUMBER.replace("*", "number, due_on"), "gives no column 'bought_at'"),
        (BY_NUMBER.replace("sales", "sold"), 'relation "sold" does not exist'),
        ("SELECT * FROM sales WHERE :customer <> 7 AND :order_number <> ''", "a customer who does not exist"),
        ("SELECT nextval('s') FROM sales WHERE buyer = :customer AND number = :order_number", 'relation "s"'),
    ],
)
async def test_wrong_queries_are_found(shop: str, query: str, problem: str) -> None:
    found = await problems(connector(shop, query=query, parameters={"customer": "int"}))

    assert any(problem in one for one in found), found


async def test_type_of_a_parameter_is_asked_for(shop: str) -> None:
    assert "invalid input syntax for type integer" in (await problems(connector(shop)))[0]


async def test_query_cannot_write(shop: str) -> None:
    with psycopg.connect(shop) as connection:
        connection.execute(
            "CREATE OR REPLACE FUNCTION forget() RETURNS text LANGUAGE sql AS 'DELETE FROM sales RETURNING number'"
        )
    query = "SELECT *, forget() FROM (VALUES (1)) v WHERE :customer < 0 AND :order_number <> ''"

    found = await problems(connector(shop, query=query, parameters={"customer": "int"}))

    assert "read-only transaction" in found[0]


async def test_typed_customer_is_matched_exactly(shop: str) -> None:
    orders = connector(shop, parameters={"customer": "int"})

    seen = {customer: len(await _ask(orders, customer)) for customer in ("7", "07", "7.0", "seven", "", "-7", "9" * 30)}

    assert seen == {"7": 2, "07": 0, "7.0": 0, "seven": 0, "": 0, "-7": 0, "9" * 30: 0}
    await orders.aclose()


async def _ask(orders: OrdersConnector, customer: str) -> list[Any]:
    lookup = Lookup(source="orders", needs=(), parameters={"order_number": "SO-1"})
    return list(await orders.fetch(lookup, scope(TENANT, customer), session=None, timeout_s=10))
