"""Limits bind, and a source that is down is a value: whatever happens, an outcome is given and its run is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application, open_application
from support_agent.request import AskRequest
from tests.e2e.conftest import settings_of
from tests.e2e.tenants import copy_of_sample
from tests.integration.conftest import Database

REFUND = "Can I still get a refund for the plan we bought last year?"
SALES = """connectors:
  orders:
    connection: SALES
    time_zone: Europe/Berlin
    record: no
    lookups:
      by_number: {query: "select * from sales where buyer = :customer and no = :order_number"}
      in_period: {query: "select * from sales where buyer = :customer"}
    columns: {order.number: no, order.purchased_at: bought_at, order.delivered_at: bought_at, order.item: what,
              order.item_kind: kind, order.plan: plan, order.plan_version: edition, order.status: state,
              order.amount_minor: cents, order.currency: currency, order.quota_used_bp: used}
  profile: {connection: local, columns: {profile.account: account_id, profile.region: region, profile.segment: segment}}
"""


@pytest.fixture
async def application(new_database: Callable[[], Database], tmp_path: Path) -> AsyncIterator[Application]:
    settings = settings_of(new_database(), tmp_path)
    environment = {"SALES": f"sqlite:///{tmp_path}/sales.db"}
    async with open_application(replace(settings, environment=environment)) as opened:
        yield opened


async def load(application: Application, tmp_path: Path, settings: str, *, connectors: str | None = None) -> None:
    """Load a copy of the sample tenant with further `settings`, and with other `connectors` where they are given."""
    folder = copy_of_sample(tmp_path / "tenant", slug="limited")
    text = (folder / "tenant.yaml").read_text(encoding="utf-8")
    if connectors is not None:
        text = text[: text.index("connectors:")] + connectors
    (folder / "tenant.yaml").write_text(f"{text}\n{settings}\n", encoding="utf-8")
    await load_tenant(application, folder, expected=None, progress=lambda _: None)


async def outcome_of(application: Application, question: str = REFUND, customer: str = "C-2001") -> dict[str, Any]:
    """The outcome, whose run must have been stored whatever came of it."""
    answered = await application.ask(
        AskRequest(question=question, tenant="limited", customer=customer, at="2026-03-10")
    )
    contract = dict(answered.contract)
    receipt = await application.receipt("limited", contract["run_id"])
    assert receipt["outcome"]["status"] == contract["status"]
    return contract


@pytest.mark.parametrize("max_lookups", [1, 2])
async def test_no_more_lookups_are_made_than_allowed(
    application: Application, tmp_path: Path, max_lookups: int
) -> None:
    await load(application, tmp_path, f"budget: {{max_lookups: {max_lookups}}}")

    outcome = await outcome_of(application)

    assert outcome["usage"]["lookups"] <= max_lookups
    assert outcome["status"] == "no_answer"
    assert not outcome["verdict"]["sufficient"]


async def test_three_lookups_are_enough_for_a_refund(application: Application, tmp_path: Path) -> None:
    await load(application, tmp_path, "budget: {max_lookups: 3, max_rounds: 2}")

    outcome = await outcome_of(application)

    assert (outcome["status"], outcome["usage"]["lookups"], outcome["rounds"]) == ("answered", 3, 2)


async def test_time_that_has_run_out_ends_the_search(application: Application, tmp_path: Path) -> None:
    await load(application, tmp_path, "budget: {time_s: 0.000001}")

    outcome = await outcome_of(application)

    assert outcome["status"] in {"no_answer", "escalated"}
    assert (outcome["escalation"] or {"reason": "source_unavailable"})["reason"] == "source_unavailable"


async def test_orders_that_cannot_be_read_hand_the_case_over(application: Application, tmp_path: Path) -> None:
    columns = "no text, buyer text, bought_at text, what text, kind text, plan text, edition text, state text"
    with sqlite3.connect(tmp_path / "sales.db") as database:
        database.execute(f"create table sales ({columns}, cents int, currency text, used int)")
    await load(application, tmp_path, "", connectors=SALES)
    (tmp_path / "sales.db").unlink()

    refund = await outcome_of(application)
    policy = await outcome_of(application, "What does your policy say about payment by direct debit?")

    assert (refund["status"], refund["escalation"]["reason"]) == ("escalated", "source_unavailable")
    assert policy["status"] == "answered"
