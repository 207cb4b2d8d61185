"""Questions to the sample tenant that must not be told apart, and tenants that must."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from support_agent.administration import catalogue
from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application, open_application
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.request import AskRequest
from tests.e2e.conftest import SAMPLE, Ask, settings_of
from tests.e2e.tenants import append_to, copy_of_sample
from tests.integration.conftest import Database

NOON = "2026-11-30"
#: An order of C-2005, and one that nobody has.
FOREIGN, ABSENT = "SO-1201", "SO-9999"
#: At the end of the last clause's document, with a value that would beat the customer's.
STAFF_ONLY = """
## Refunds after an outage {#outage}
{audience: staff}

After an outage a refund is granted within 45 days of purchase. The word for it is zephyrine.

```terms
refund.window_days: {value: 45, better: higher}
```
"""
QUESTIONS = (
    "Can I still get a refund for the plan we bought last year?",
    "我们去年买的套餐现在还能退吗？",
    "What does your policy say about refunds after an outage?",
    "What does your policy say about zephyrine?",
    "停机之后的退款有什么规定？",
    "What changed in the refund policy?",
    "What is the refund window?",
)


def comparable(outcome: Mapping[str, Any], **replaced: str) -> str:
    """An outcome as text without what differs from run to run; `replaced` are words that may differ."""
    kept = json.loads(json.dumps(outcome))
    del kept["run_id"], kept["usage"]["elapsed_ms"]
    if kept["escalation"]:
        del kept["escalation"]["id"]
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True)
    for name, value in replaced.items():
        text = text.replace(value, name)
    return text


@pytest.mark.parametrize(
    "question",
    [
        "Where is my order {}?",
        "Can I still get a refund for {}?",
        "我的订单 {} 到哪了？",
        "{} 现在还能退款吗？",
        "How long is the warranty on {}?",
        "What does the policy say about returns for {}?",
    ],
)
async def test_foreign_order_looks_like_one_that_does_not_exist(question: str, ask: Ask) -> None:
    foreign, absent = [await ask(question.format(number), customer="C-2001", at=NOON) for number in (FOREIGN, ABSENT)]

    assert foreign["status"] == "refused"
    assert comparable(foreign, number=FOREIGN) == comparable(absent, number=ABSENT)


@pytest.mark.parametrize("question", ["Can I get a refund for SO-1182 and {}?", "Tell me about {}.", "{}", "{}?"])
async def test_no_question_tells_a_foreign_order_from_an_absent_one(question: str, ask: Ask) -> None:
    foreign, absent = [await ask(question.format(number), customer="C-2001", at=NOON) for number in (FOREIGN, ABSENT)]

    assert comparable(foreign, number=FOREIGN) == comparable(absent, number=ABSENT)


@pytest.mark.parametrize(
    "request_",
    [{"customer": "C-2001", "verified": False}, {}, {"verified": False}],
    ids=["unverified", "nobody", "both"],
)
async def test_caller_nobody_vouches_for_learns_nothing_of_an_order(request_: Mapping[str, Any], ask: Ask) -> None:
    existing, absent = [
        await ask(f"Where is my order {number}?", at=NOON, **request_) for number in ("SO-1182", ABSENT)
    ]

    assert existing["status"] == "refused"
    assert comparable(existing, number="SO-1182") == comparable(absent, number=ABSENT)


async def test_unverified_caller_still_gets_the_policy(ask: Ask) -> None:
    outcome = await ask(
        "What does your policy say about data export after the plan ends?", customer="C-2001", verified=False, at=NOON
    )

    assert outcome["status"] in {"answered", "answered_with_conflict"}


async def test_hidden_topic_gets_the_bytes_of_an_unknown_one(ask: Ask) -> None:
    hidden, unknown = [
        await ask(f"How much is a {what} worth?", customer="C-2001", at=NOON)
        for what in ("goodwill voucher", "unicorn saddle")
    ]

    assert hidden["status"] == "no_answer"
    assert hidden["answer"].encode() == unknown["answer"].encode()
    assert comparable(hidden) == comparable(unknown)


async def test_hidden_topic_gets_the_bytes_of_an_unknown_one_in_chinese(ask: Ask) -> None:
    hidden, unknown = [
        await ask(f"{what}值多少钱？", customer="C-2201", at=NOON) for what in ("善意补偿券", "独角兽鞍")
    ]

    assert hidden["status"] == "no_answer"
    assert comparable(hidden) == comparable(unknown)


async def test_contradiction_of_the_record_is_named_and_the_record_decides(ask: Ask) -> None:
    outcome = await ask(
        "Can I still get a refund for SO-1182?",
        customer="C-2001",
        at="2026-03-10",
        facts={"order.purchased_at": "2026-03-01"},
    )

    assert outcome["status"] == "answered"
    assert outcome["decision"]["value"] is False
    assert outcome["decision"]["inputs"]["order.purchased_at"][:10] == "2025-03-05"
    assert "1 March 2026" in outcome["answer"]


# Two tenants that differ in one clause for staff


@pytest.fixture(scope="module")
async def pair(
    new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    """Tenants `plain` and `hidden`, in one database: the second has one clause for staff more."""
    folder = tmp_path_factory.mktemp("pair")
    plain, hidden = (copy_of_sample(folder, slug) for slug in ("plain", "hidden"))
    append_to(hidden / "documents" / "refund-eu" / "2025-02-01.md", STAFF_ONLY)
    async with open_application(settings_of(new_database(), folder)) as application:
        for tenant in (plain, hidden):
            await load_tenant(application, tenant, expected=None, progress=lambda _: None)
        yield application


async def both(pair: Application, question: str, **request: Any) -> list[dict[str, Any]]:
    asked = [AskRequest(question=question, tenant=tenant, at=NOON, **request) for tenant in ("plain", "hidden")]
    return [dict((await pair.ask(one)).contract) for one in asked]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_clause_for_staff_changes_nothing_for_a_customer(question: str, pair: Application) -> None:
    plain, hidden = await both(pair, question, customer="C-2001")

    assert comparable(plain) == comparable(hidden)
    assert "zephyrine" not in json.dumps(hidden["citations"])


async def test_clause_for_staff_is_shown_to_staff(pair: Application) -> None:
    plain, hidden = await both(pair, "What does your policy say about zephyrine?", staff="S-01")

    assert plain["status"] == "no_answer"
    assert hidden["status"] == "answered"
    assert "refund-eu@2025-02-01#outage" in {_locator(citation) for citation in hidden["citations"]}


async def test_clause_for_staff_is_weighed_for_staff(pair: Application) -> None:
    _, hidden = await both(pair, QUESTIONS[0], customer="C-2001", staff="S-01")

    spoken = {candidate["clause"] for record in hidden["conflicts"] for candidate in record["candidates"]}
    assert "refund-eu@2025-02-01#outage" in spoken


async def test_clause_for_staff_is_found_by_staff_alone(pair: Application) -> None:
    found = {
        staff: await catalogue.search(pair, "hidden", "zephyrine outage", at=NOON, staff=staff, limit=10)
        for staff in (False, True)
    }

    assert "refund-eu@2025-02-01#outage" in {hit["clause"] for hit in found[True]}
    assert "refund-eu@2025-02-01#outage" not in {hit["clause"] for hit in found[False]}
    assert found[False] == await catalogue.search(pair, "plain", "zephyrine outage", at=NOON, staff=False, limit=10)


async def test_failed_question_leaves_nothing_of_its_tenant_behind(pair: Application) -> None:
    for _ in range(3):
        with pytest.raises(InvalidRequestError, match="at"):
            await pair.ask(AskRequest(question="refund?", tenant="hidden", at="yesterday"))
        versions = await catalogue.document(pair, "plain", "refund-eu@2025-02-01", known_at=None)

        assert "zephyrine" not in versions["text"]


async def test_run_and_case_of_another_tenant_are_not_there(pair: Application) -> None:
    request = AskRequest(question="我们的套餐现在还能取消续费吗？", tenant="hidden", customer="C-2207", at=NOON)
    contract = (await pair.ask(request)).contract

    assert (await pair.receipt("hidden", contract["run_id"]))["question"]["text"] == request.question
    assert (await pair.escalation("hidden", contract["escalation"]["id"]))["reason"] == "conflict"
    with pytest.raises(NotFoundError):
        await pair.receipt("plain", contract["run_id"])
    with pytest.raises(NotFoundError):
        await pair.escalation("plain", contract["escalation"]["id"])
    assert contract["escalation"]["id"] not in {case["id"] for case in await pair.escalations("plain", limit=1000)}


async def test_a_question_after_a_publish_sees_it(own_database: Database, tmp_path: Path) -> None:
    folder = copy_of_sample(tmp_path, "moving")
    request = AskRequest(question="What does your policy say about zephyrine?", tenant="moving", at=NOON)
    async with open_application(settings_of(own_database, tmp_path)) as application:
        await load_tenant(application, folder, expected=None, progress=lambda _: None)
        before = (await application.ask(request)).contract
        append_to(folder / "documents" / "invoices" / "2024-01-01.md", "## Zephyrine {#zeph}\n\nZephyrine is blue.")
        await load_tenant(application, folder, expected=None, progress=lambda _: None)
        after = (await application.ask(request)).contract

    assert before["status"] == "no_answer"
    assert after["status"] == "answered"


# Loading


async def test_second_load_changes_nothing(own_database: Database, tmp_path: Path) -> None:
    async with open_application(settings_of(own_database, tmp_path)) as application:
        first = await load_tenant(application, SAMPLE, expected=None, progress=lambda _: None)
        stored = contents(own_database)
        second = await load_tenant(application, SAMPLE, expected=None, progress=lambda _: None)

    assert (first["changed"], second["changed"]) == (True, False)
    assert contents(own_database) == stored


def contents(database: Database) -> dict[str, tuple[int, str | None]]:
    """Number of rows and a hash of them, by table; the administrator sees every tenant's."""
    with psycopg.connect(database.admin_url) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        hashed = "select count(*), md5(string_agg(t::text, ' ' order by t::text)) from {} as t"
        rows = {name: connection.execute(sql.SQL(hashed).format(sql.Identifier(name))).fetchone() for (name,) in tables}
    return {name: (row[0], row[1]) for name, row in rows.items() if row is not None}


def _locator(citation: Mapping[str, Any]) -> str:
    return f"{citation['document']}@{citation['version']}#{citation['clause']}"
