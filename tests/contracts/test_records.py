"""What every source of records promises, wherever its rows are."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import Any

import pytest

from connectors.errors import SourceContractError, SourceUnavailableError
from policies.version import Period
from tests.contracts.conftest import OTHER_TENANT, Source, order, person, scope

YEAR_2025 = Period(start=datetime(2025, 1, 1, tzinfo=UTC), end=datetime(2026, 1, 1, tzinfo=UTC))


async def test_order_states_every_mapped_fact(source: Source) -> None:
    orders = await source.orders(order("SO-1"), order("SO-2"))

    found = await source.ask(orders, scope(source.tenant_id), order_number="SO-1")

    assert [(evidence.need, evidence.value) for evidence in found] == [
        ("order.purchased_at", datetime(2025, 3, 5, 9, 20, tzinfo=UTC)),
        ("order.item_kind", "plan"),
        ("order.plan", "team"),
        ("order.amount_minor", 48050),
        ("order.quota_used_bp", 400),
        ("order.insured", True),
        ("order.due_on", date(2025, 4, 1)),
    ]
    assert {(e.source, e.authority, e.locator.document, e.locator.version) for e in found} == {
        ("orders", "record", "SO-1", None)
    }
    assert [e.quote for e in found if e.need == "order.plan"] == ["T1"]


async def test_profile_states_its_facts(source: Source) -> None:
    profile = await source.profile(person("ada"), person("bob", country="FR"))

    found = await source.ask(profile, scope(source.tenant_id))

    assert [(str(e.locator), e.value) for e in found] == [("ada#company", "acme"), ("ada#country", "DE")]


async def test_profile_of_an_unknown_customer_is_empty(source: Source) -> None:
    profile = await source.profile(person("bob"))

    assert await source.ask(profile, scope(source.tenant_id, account_id="acme")) == []


async def test_missing_and_foreign_orders_look_alike(source: Source) -> None:
    orders = await source.orders(order("SO-1"), order("SO-2", buyer="bob", company="acme"))

    foreign = await source.ask(orders, scope(source.tenant_id), order_number="SO-2")
    missing = await source.ask(orders, scope(source.tenant_id), order_number="SO-9")

    assert foreign == missing == []


async def test_foreign_orders_are_not_listed(source: Source) -> None:
    orders = await source.orders(order("SO-1"), order("SO-2", buyer="bob"))

    found = await source.ask(orders, scope(source.tenant_id))

    assert {e.locator.document for e in found} == {"SO-1"}


async def test_other_tenants_scope_sees_nothing(source: Source) -> None:
    orders = await source.orders(order("SO-1"))
    profile = await source.profile(person("ada"))

    assert await source.ask(orders, scope(OTHER_TENANT), order_number="SO-1") == []
    assert await source.ask(orders, scope(OTHER_TENANT)) == []
    assert await source.ask(profile, scope(OTHER_TENANT)) == []


@pytest.mark.parametrize(
    "who",
    [{"customer": None}, {"customer": ""}, {"verified": False}, {"customer": None, "account_id": "acme"}],
    ids=["nobody", "empty", "unverified", "account alone"],
)
async def test_without_a_verified_customer_nothing_is_seen(source: Source, who: dict[str, Any]) -> None:
    orders = await source.orders(order("SO-1", company="acme"))
    profile = await source.profile(person("ada"))

    assert await source.ask(orders, scope(source.tenant_id, **who)) == []
    assert await source.ask(orders, scope(source.tenant_id, **who), order_number="SO-1") == []
    assert await source.ask(profile, scope(source.tenant_id, **who)) == []


@pytest.mark.parametrize(("account", "seen"), [("acme", {"SO-1", "SO-2"}), (None, {"SO-1"}), ("", {"SO-1"})])
async def test_orders_of_the_account_are_in_scope(source: Source, account: str | None, seen: set[str]) -> None:
    rows = [order("SO-1"), order("SO-2", buyer="bob", company="acme"), order("SO-3", buyer="bob", company="")]
    orders = await source.orders(*rows)

    listed = await source.ask(orders, scope(source.tenant_id, account_id=account))
    named = await source.ask(orders, scope(source.tenant_id, account_id=account), order_number="SO-2")

    assert {e.locator.document for e in listed} == seen
    assert {e.locator.document for e in named} == seen & {"SO-2"}


@pytest.mark.parametrize(
    "number", ["so-1", "SO-1 ", "SO-1\0", "SO-%", "' OR ''='", "SO-1' --", "ＳＯ-1", "S\u041e-1", "\ud800", ""]
)
async def test_order_numbers_are_compared_exactly(source: Source, number: str) -> None:
    orders = await source.orders(order("SO-1"))

    assert await source.ask(orders, scope(source.tenant_id), order_number=number) == []


async def test_customer_id_is_data(source: Source) -> None:
    orders = await source.orders(order("SO-1"))

    for customer in ["' OR ''='", "ada\0", "\ud800", "ADA"]:
        assert await source.ask(orders, scope(source.tenant_id, customer=customer)) == []


async def test_slow_source_is_unavailable_in_time(source: Source) -> None:
    orders = await source.orders(order("SO-1"), slow=True)
    started = time.monotonic()

    with pytest.raises(SourceUnavailableError) as refused:
        await source.ask(orders, scope(source.tenant_id), order_number="SO-1", timeout_s=0.3)

    assert (refused.value.source, refused.value.retryable) == ("orders", True)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"tariff": "secret"}, "tariff"),
        ({"kind": "secret"}, "kind"),
        ({"price": None}, "price"),
        ({"price": 1.2345}, "price"),
        ({"insured": None}, "insured"),
    ],
)
async def test_malformed_row_breaks_the_contract(source: Source, changed: dict[str, object], column: str) -> None:
    orders = await source.orders(order("SO-1", **changed))

    with pytest.raises(SourceContractError) as refused:
        await source.ask(orders, scope(source.tenant_id), order_number="SO-1")

    assert refused.value.field == column
    assert "secret" not in str(refused.value)


async def test_two_rows_for_one_order_break_the_contract(source: Source) -> None:
    if source.kind == "trial tables":
        pytest.skip("its primary key allows one")
    orders = await source.orders(order("SO-1"), order("SO-1", tariff="S1"))

    with pytest.raises(SourceContractError, match="two rows"):
        await source.ask(orders, scope(source.tenant_id), order_number="SO-1")


async def test_null_is_stated_where_it_is_allowed(source: Source) -> None:
    orders = await source.orders(order("SO-1", used_bp=None, bought_at=None, due_on=None))

    found = await source.ask(orders, scope(source.tenant_id), order_number="SO-1")

    nulls = [(e.need, e.quote) for e in found if e.value is None]
    assert nulls == [("order.purchased_at", "null"), ("order.quota_used_bp", "null"), ("order.due_on", "null")]


@pytest.mark.parametrize(
    ("written", "zone", "meant"),
    [
        ("2025-01-15 12:00:00", "Europe/Berlin", datetime(2025, 1, 15, 11, tzinfo=UTC)),
        ("2025-07-15 12:00:00", "Europe/Berlin", datetime(2025, 7, 15, 10, tzinfo=UTC)),
        ("2025-10-26 02:30:00", "Europe/Berlin", datetime(2025, 10, 26, 0, 30, tzinfo=UTC)),
        ("2025-03-30 02:30:00", "Europe/Berlin", datetime(2025, 3, 30, 1, 30, tzinfo=UTC)),
        ("2025-12-31 23:30:00", "Pacific/Auckland", datetime(2025, 12, 31, 10, 30, tzinfo=UTC)),
    ],
    ids=["winter", "summer", "occurs twice", "skipped", "far east"],
)
async def test_naive_times_are_read_in_the_set_zone(source: Source, written: str, zone: str, meant: datetime) -> None:
    orders = await source.orders(order("SO-1", bought_at=written), time_zone=zone)

    found = await source.ask(orders, scope(source.tenant_id), order_number="SO-1")

    assert found[0].value == meant


async def test_naive_time_without_a_zone_breaks_the_contract(source: Source) -> None:
    orders = await source.orders(order("SO-1"), time_zone=None)

    with pytest.raises(SourceContractError, match="time_zone"):
        await source.ask(orders, scope(source.tenant_id), order_number="SO-1")


async def test_period_is_half_open_in_the_set_zone(source: Source) -> None:
    rows = [
        order("SO-1", bought_at="2025-01-01 00:59:59"),
        order("SO-2", bought_at="2025-01-01 01:00:00"),
        order("SO-3", bought_at="2026-01-01 00:59:59"),
        order("SO-4", bought_at="2026-01-01 01:00:00"),
        order("SO-5", bought_at="2019-01-01 01:00:00"),
    ]
    orders = await source.orders(*rows)

    found = await source.ask(orders, scope(source.tenant_id), period=YEAR_2025)

    assert {e.locator.document for e in found} == {"SO-2", "SO-3"}


async def test_period_without_an_end_reaches_on(source: Source) -> None:
    orders = await source.orders(order("SO-1"), order("SO-2", bought_at="2019-01-01 01:00:00"))

    found = await source.ask(orders, scope(source.tenant_id), period=Period(start=YEAR_2025.start))

    assert {e.locator.document for e in found} == {"SO-1"}


async def test_item_kind_filters_what_is_known(source: Source) -> None:
    rows = [order("SO-1"), order("SO-2", kind="goods"), order("SO-3", kind=None), order("SO-4", bought_at=None)]
    orders = await source.orders(*rows)

    found = await source.ask(orders, scope(source.tenant_id), period=YEAR_2025, item_kind="plan")

    assert {e.locator.document for e in found} == {"SO-1", "SO-3", "SO-4"}


async def test_newest_fifty_orders_are_kept(source: Source) -> None:
    rows = [order(f"SO-{n:02}", bought_at=f"2025-03-05 10:{n:02}:00") for n in range(60)]
    orders = await source.orders(*rows)

    found = await source.ask(orders, scope(source.tenant_id))

    assert [e.locator.document for e in found[::7]] == [f"SO-{n:02}" for n in range(10, 60)]


async def test_evidence_is_the_same_each_time(source: Source) -> None:
    rows = [order("SO-2"), order("SO-1")]
    first = await source.orders(*rows)
    found = await source.ask(first, scope(source.tenant_id))

    again = await source.ask(first, scope(source.tenant_id))

    assert again == found
    assert [e.locator.document for e in found] == ["SO-1"] * 7 + ["SO-2"] * 7
    assert len({e.key for e in found}) == 14


async def test_equal_statements_share_a_key_in_any_place(source: Source) -> None:
    orders = await source.orders(order("SO-1"))

    found = await source.ask(orders, scope(source.tenant_id), order_number="SO-1")

    assert [e.key[:8] for e in found[1:3]] == ["e9b01b51", "38011613"]
