from __future__ import annotations

from collections.abc import Mapping

from connectors.settings import RecordSettings, load_connector_settings
from connectors.trial import trial_faults
from policies.facts import FactDeclaration

FACTS = {
    fact.name: fact
    for fact in (
        FactDeclaration(name="order.purchased_at", type="instant", source="orders"),
        FactDeclaration(name="order.renews_at", type="instant", source="orders", null=True),
    )
}


def settings() -> RecordSettings:
    loaded = load_connector_settings({"orders": {"connection": "local"}}, facts=FACTS)
    assert isinstance(loaded, Mapping)
    return loaded["orders"]


def test_what_a_trial_record_does_not_say_is_null() -> None:
    whole = {"order_number": "SO-1", "purchased_at": "2025-03-05T10:00Z", "renews_at": "2026-03-05T10:00Z"}
    short = {"order_number": "SO-2", "purchased_at": "2025-03-05T10:00Z"}

    assert trial_faults([whole, short], settings=settings()) == []


def test_faults_of_trial_records_name_their_number() -> None:
    records = [
        {"order_number": "SO-1", "purchased_at": "2025-03-05T10:00"},
        {"purchased_at": "2025-03-05T10:00Z"},
        {"order_number": "SO-3"},
    ]

    faults = trial_faults(records, settings=settings())

    assert [fault.path for fault in faults] == [
        "connectors.orders.columns.order.renews_at",
        "trial.orders[1]",
        "trial.orders[2]",
        "trial.orders[3]",
    ]
    assert "time_zone" in faults[1].problem
