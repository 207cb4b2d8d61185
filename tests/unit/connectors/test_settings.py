from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors.settings import RecordSettings, load_connector_settings
from policies.facts import FactDeclaration, Facts

FACTS: Facts = {
    fact.name: fact
    for fact in (
        FactDeclaration(name="order.purchased_at", type="instant", source="orders"),
        FactDeclaration(name="order.due_on", type="date", source="orders"),
        FactDeclaration(name="order.plan", type="string", source="orders", values=("team", "solo")),
        FactDeclaration(name="profile.region", type="string", source="profile"),
    )
}
QUERY = "SELECT * FROM o WHERE c = :customer AND n = :order_number"


def foreign(**changed: Any) -> dict[str, Any]:
    stated = {
        "connection": "SHOP_URL",
        "time_zone": "Europe/Berlin",
        "lookups": {"by_number": {"query": QUERY}},
        "record": "n",
        "columns": {"order.purchased_at": "bought_at"},
        **changed,
    }
    return {key: value for key, value in stated.items() if value is not None}


def loaded(source: str, stated: Any) -> RecordSettings:
    settings = load_connector_settings({source: stated}, facts=FACTS, environment={"SHOP_URL"})
    assert isinstance(settings, Mapping), settings
    return settings[source]


def test_foreign_orders_are_read_by_queries() -> None:
    settings = loaded("orders", foreign())

    assert (settings.local, settings.record, settings.zone) == (False, "n", ZoneInfo("Europe/Berlin"))
    assert settings.lookups["by_number"].parameters == {"customer", "order_number"}
    assert (settings.dated_by, settings.kind_by) == ("order.purchased_at", None)


def test_trial_records_need_no_columns() -> None:
    settings = loaded("orders", {"connection": "local"})

    assert settings.local
    assert settings.record == "order_number"
    assert [(column.fact.name, column.name) for column in settings.columns] == [
        ("order.purchased_at", "purchased_at"),
        ("order.due_on", "due_on"),
        ("order.plan", "plan"),
    ]


def test_column_may_be_scaled_and_mapped() -> None:
    settings = loaded("orders", foreign(columns={"order.plan": {"column": "p", "map": {1: "team", "S": "solo"}}}))

    assert settings.columns[0].map == {1: "team", "S": "solo"}


@pytest.mark.parametrize(
    ("source", "stated", "path", "problem"),
    [
        ("policy", {}, "connectors.policy", "no source takes settings but orders, profile"),
        ("orders", "local", "connectors.orders", "must be a mapping"),
        ("orders", foreign(conection="x"), "connectors.orders.conection", "unknown key"),
        ("orders", foreign(connection=None), "connectors.orders.connection", "must be `local` or the name"),
        ("orders", foreign(connection="sqlite:///x.db"), "connectors.orders.connection", "holds a URL"),
        ("orders", foreign(connection="OTHER_URL"), "connectors.orders.connection", "'OTHER_URL' is not set"),
        ("orders", foreign(time_zone="Berlin"), "connectors.orders.time_zone", "no IANA time zone"),
        ("orders", foreign(time_zone="../etc/passwd"), "connectors.orders.time_zone", "no IANA time zone"),
        ("orders", foreign(record=None), "connectors.orders.record", "must name the column"),
        ("orders", foreign(lookups=None), "connectors.orders.lookups", "must give `by_number`"),
        ("orders", foreign(lookups={"by_number": {}}), "connectors.orders.lookups.by_number", "must have a `query`"),
        (
            "orders",
            foreign(lookups={"by_number": {"query": QUERY}, "by_name": {"query": QUERY}}),
            "connectors.orders.lookups.by_name",
            "unknown lookup",
        ),
        (
            "orders",
            foreign(lookups={"by_number": {"query": "SELECT * FROM o WHERE n = :order_number"}}),
            "connectors.orders.lookups.by_number.query",
            "does not use `:customer`",
        ),
        (
            "orders",
            foreign(lookups={"by_number": {"query": f"{QUERY} AND t > :period_start"}}),
            "connectors.orders.lookups.by_number.query",
            "unknown parameter `:period_start`",
        ),
        ("orders", {"connection": "local", "lookups": {}}, "connectors.orders.lookups", "lookups of their own"),
        ("orders", foreign(columns=None), "connectors.orders.columns", "must map"),
        ("orders", foreign(columns={"order.colour": "c"}), "connectors.orders.columns.order.colour", "no such fact"),
        ("orders", foreign(columns={"profile.region": "r"}), "connectors.orders.columns.profile.region", "'profile'"),
        ("orders", foreign(columns={"order.plan": 1}), "connectors.orders.columns.order.plan", "must be a column"),
        (
            "orders",
            foreign(columns={"order.plan": {"column": "p", "unit": "x"}}),
            "connectors.orders.columns.order.plan.unit",
            "unknown key",
        ),
        (
            "orders",
            foreign(columns={"order.plan": {"column": "p", "scale": 100}}),
            "connectors.orders.columns.order.plan.scale",
            "has no scale",
        ),
        (
            "orders",
            foreign(columns={"order.plan": {"column": "p", "map": {"T": "Team"}}}),
            "connectors.orders.columns.order.plan.map",
            "outside the declared ones",
        ),
        ("orders", foreign(parameters={"customer": "float"}), "connectors.orders.parameters", "text, int or uuid"),
        ("orders", foreign(dated_by="order.due_on"), "connectors.orders.dated_by", "must name a mapped fact"),
        (
            "orders",
            foreign(dated_by="order.due_on", columns={"order.due_on": "d"}, time_zone=None),
            "connectors.orders.time_zone",
            "need a zone",
        ),
    ],
)
def test_faults_name_their_place(source: str, stated: Any, path: str, problem: str) -> None:
    faults = load_connector_settings({source: stated}, facts=FACTS, environment={"SHOP_URL"})

    assert isinstance(faults, list)
    assert [fault.path for fault in faults] == [path]
    assert problem in faults[0].problem


def test_faults_come_all_at_once() -> None:
    stated = foreign(time_zone="Mars", record=None, columns={"order.colour": "c", "order.plan": "p"})

    faults = load_connector_settings({"orders": stated, "billing": {}}, facts=FACTS)

    assert isinstance(faults, list)
    assert len(faults) == 4


def test_url_is_not_repeated_in_a_fault() -> None:
    faults = load_connector_settings({"orders": foreign(connection="postgresql://me:secret@host/db")}, facts=FACTS)

    assert isinstance(faults, list)
    assert all("secret" not in str(fault) for fault in faults)
