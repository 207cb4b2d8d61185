"""What a draft would change: exactly that is found, nothing is stored, and nobody waits for it longer than needed."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from policies import store
from policies.document import PolicyDocument
from policies.errors import PolicyOverlapError, PolicyParseError
from policies.session import TenantSession
from support_agent.administration import impact as impacts
from support_agent.administration import lifecycle
from support_agent.administration.documents import parse_source, read_source
from support_agent.administration.replay import Asked, distinct, replay
from support_agent.administration.tenants import load_tenant
from support_agent.administration.told import difference, told
from support_agent.bootstrap import Application, open_application
from support_agent.request import AskRequest
from support_agent.storage import runs
from tests.e2e.command import Command
from tests.e2e.conftest import SAMPLE, settings_of
from tests.e2e.golden import FOLDER, lines_of, request_of
from tests.e2e.tenants import copy_of_sample
from tests.e2e.test_budgets import SALES
from tests.integration.conftest import Database

CUSTOMER = "C-2001"
#: SO-1182 was bought on 5 March 2025, under a window of 14 days.
LATE, IN_TIME, TOO_LATE = "2025-03-25", "2025-03-10", "2025-06-01"
REFUND = {"en": "Can I still get a refund for SO-1182?", "zh": "SO-1182 还能退款吗？"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    application: Application
    database: Database
    folder: Path


@pytest.fixture(scope="module")
async def site(new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    database, folder = new_database(), tmp_path_factory.mktemp("impact")
    settings = replace(settings_of(database, folder), environment={"SALES": f"sqlite:///{folder}/sales.db"})
    async with open_application(settings) as application:
        yield Site(application=application, database=database, folder=folder)


@pytest.fixture
async def tenant(site: Site, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A tenant like the sample, for one test alone."""
    slug = str(request.node.name).split("[")[0].removeprefix("test_").replace("_", "-")[:60]
    await load_tenant(site.application, copy_of_sample(tmp_path, slug), expected=slug, progress=lambda _: None)
    return slug


@pytest.fixture
def longer(tmp_path: Path) -> str:
    """A draft: the window that governs SO-1182 is 30 days instead of 14."""
    return draft_of(tmp_path, window=30)


def draft_of(
    folder: Path, *, window: int, version: str = "2025-02-01", starts: str | None = None, authority: str = "corporate"
) -> str:
    text = (SAMPLE / "documents" / "refund-eu" / "2025-02-01.md").read_text("utf-8")
    text = text.replace("within 14 days", f"within {window} days").replace("value: 14", f"value: {window}")
    text = text.replace("authority: corporate", f"authority: {authority}")
    path = folder / f"{version}.md"
    path.write_text(text.replace("effective_from: 2025-02-01", f"effective_from: {starts or version}"), "utf-8")
    return str(path)


async def ask(site: Site, tenant: str, question: str, **request: Any) -> dict[str, Any]:
    asked = AskRequest(question=question, tenant=tenant, **{"customer": CUSTOMER, **request})
    return dict((await site.application.ask(asked)).contract)


async def impact(site: Site, tenant: str, draft: str, **options: Any) -> dict[str, Any]:
    """The last report."""
    found = None
    async for found in impacts.impact(site.application, tenant, draft, **{"limit": 1_000, **options}):
        assert found.n_done <= len(found.questions)
    assert found is not None
    assert found.json()["complete"]
    return found.json()


def digests(database: Database) -> dict[str, str]:
    """A digest of each whole table."""
    with psycopg.connect(database.admin_url) as connection:
        names = [row[0] for row in connection.execute("select tablename from pg_tables where schemaname = 'public'")]
        return {
            name: connection.execute(
                f"select md5(coalesce(string_agg(t::text, '\n' order by t::text), '')) from {name} t".encode()
            ).fetchone()[0]  # type: ignore[index]  # an aggregate has a row
            for name in names
        }


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_draft_changes_the_outcomes_it_should(site: Site, language: str, longer: str, tmp_path: Path) -> None:
    slug = f"flips-{language}"
    await load_tenant(site.application, copy_of_sample(tmp_path, slug), expected=slug, progress=lambda _: None)
    asked = {at: await ask(site, slug, REFUND[language], at=at) for at in (LATE, IN_TIME, TOO_LATE)}
    away = {"en": "Where is my order SO-1182?", "zh": "SO-1182 到哪了？"}[language]
    other = {"en": "What does your policy say about payment by direct debit?", "zh": "可以对公转账付款吗？"}[language]
    for question in (away, other):
        await ask(site, slug, question, at=LATE)

    found = await impact(site, slug, longer)

    changed = {change["run_id"]: change for change in found["changes"]}
    ends = {
        at: (changed[outcome["run_id"]]["before"]["ending"], changed[outcome["run_id"]]["after"]["ending"])
        for at, outcome in asked.items()
    }
    assert len(changed) == 3
    assert ends == {
        LATE: ("answered no", "answered yes"),
        IN_TIME: ("answered yes", "answered yes"),
        TOO_LATE: ("answered no", "answered no"),
    }
    late = changed[asked[LATE]["run_id"]]
    assert late["differs"] == "outcome"
    assert (late["before"]["values"], late["after"]["values"]) == (
        {"refund.window_days": 14},
        {"refund.window_days": 30},
    )
    assert late["before"]["answer"] == asked[LATE]["answer"]
    assert "30" in late["after"]["answer"]
    assert late["after"]["clauses"] == ["refund-eu@2025-02-01#window"]
    assert found["counts"][0] == {"differs": "outcome", "before": "answered no", "after": "answered yes", "n": 1}
    assert found["skipped"]["no_policy_read"] == 1


async def test_what_is_foretold_comes_true(site: Site, tenant: str, longer: str) -> None:
    before = [await ask(site, tenant, REFUND[language], at=at) for language in REFUND for at in (LATE, IN_TIME)]
    found = await impact(site, tenant, longer)

    async with site.application.open_tenant(tenant) as (session, settings):
        source, sidecar = read_source(Path(longer))
        known = await store.term_types(session)
        document = parse_source(source, settings, known=known, sidecar=sidecar)
        await store.publish(session, [document], approval="bea", by="ada")
    after = [await ask(site, tenant, REFUND[language], at=at) for language in REFUND for at in (LATE, IN_TIME)]

    foretold = {change["run_id"]: change["after"] for change in found["changes"]}
    assert [foretold[one["run_id"]]["answer"] for one in before] == [one["answer"] for one in after]
    assert [foretold[one["run_id"]]["decision"] for one in before] == [one["decision"]["value"] for one in after]


async def test_nothing_is_stored(site: Site, tenant: str, longer: str) -> None:
    said = await ask(site, tenant, REFUND["en"], at=LATE)
    before = digests(site.database)

    found = await impact(site, tenant, longer)

    assert found["n_changed"] == 1
    assert digests(site.database) == before
    # Nor is anything kept in memory: the next answer is the old one.
    assert (await ask(site, tenant, REFUND["en"], at=LATE))["answer"] == said["answer"]


async def test_settings_are_kept_for_no_revision_that_never_was(
    site: Site, tenant: str, longer: str, tmp_path: Path
) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    await impact(site, tenant, longer)
    folder = tmp_path / tenant / "tenant.yaml"
    text = folder.read_text("utf-8")
    folder.write_text(text.replace("risk_words:\n  en: [lawyer", "risk_words:\n  en: [quibblewort, lawyer"), "utf-8")
    # Raises the revision to the one that the draft would have had.
    await load_tenant(site.application, tmp_path / tenant, expected=tenant, progress=lambda _: None)

    said = await ask(site, tenant, "Quibblewort! Can I still get a refund for SO-1182?", at=LATE)

    assert (said["escalation"] or {}).get("reason") == "risk"


async def test_same_question_is_asked_once_and_counted(site: Site, tenant: str, longer: str) -> None:
    outcomes = [await ask(site, tenant, REFUND["en"], at=LATE, conversation=f"T-{n}") for n in range(3)]
    await ask(site, tenant, REFUND["en"], at=LATE, facts={"profile.segment": "business"})
    await ask(site, tenant, REFUND["en"], at=LATE, customer="C-2003")

    found = await impact(site, tenant, longer)

    assert (found["n_recorded"], found["n_runs"], found["n_questions"]) == (5, 5, 3)
    change = next(change for change in found["changes"] if change["n_runs"] == 3)
    assert (change["run_id"], change["conversation"]) == (outcomes[-1]["run_id"], "T-2")
    assert found["n_runs_changed"] == found["n_changed"] + 2


async def test_questions_can_be_asked_on_another_day(site: Site, tenant: str, tmp_path: Path) -> None:
    await ask(site, tenant, "How do I ask for a refund of my annual plan?", at="2026-11-25")
    draft = draft_of(tmp_path, window=45, version="2026-12-15")

    when_asked = await impact(site, tenant, draft)
    later = await impact(site, tenant, draft, at="2026-12-20")

    assert when_asked["n_changed"] == 0
    assert when_asked["effective_from"] > when_asked["newest_asked_at"]
    assert [change["after"]["clauses"] for change in later["changes"]] == [["refund-eu@2026-12-15#how"]]


async def test_only_the_questions_that_are_wanted_are_asked(site: Site, tenant: str, longer: str) -> None:
    for customer in ("C-2003", CUSTOMER, CUSTOMER):
        await ask(site, tenant, REFUND["en"], at=LATE, customer=customer)
    between = datetime.now(UTC).isoformat()
    await ask(site, tenant, REFUND["zh"], at=LATE)

    def asked(found: Mapping[str, Any]) -> tuple[int, int]:
        return found["n_recorded"], found["n_runs"]

    assert asked(await impact(site, tenant, longer)) == (4, 4)
    assert asked(await impact(site, tenant, longer, customer=CUSTOMER)) == (3, 3)
    assert asked(await impact(site, tenant, longer, since=between)) == (1, 1)
    assert asked(await impact(site, tenant, longer, limit=2)) == (4, 2)


async def test_folder_of_drafts_is_tried_out(site: Site, tenant: str, tmp_path: Path) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    await ask(site, tenant, REFUND["en"], at="2026-12-20")
    folder = tmp_path / "drafts"
    (folder / "refund-eu").mkdir(parents=True)
    for version in ("2025-02-01", "2026-12-15"):
        draft_of(folder / "refund-eu", window=30, version=version)

    found = await impact(site, tenant, str(folder))

    assert found["draft"] == ["refund-eu@2025-02-01", "refund-eu@2026-12-15"]
    assert [change["after"]["ending"] for change in found["changes"]] == ["answered yes", "answered no"]


async def test_submitted_draft_is_tried_out(site: Site, tenant: str, tmp_path: Path) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    file = draft_of(tmp_path, window=30)
    await lifecycle.correct(site.application, tenant, Path(file), by="ada", why="a slip")

    found = await impact(site, tenant, "refund-eu@2025-02-01")

    assert [(c["before"]["ending"], c["after"]["ending"]) for c in found["changes"]] == [
        ("answered no", "answered yes")
    ]


async def test_withdrawal_is_tried_out(site: Site, tenant: str) -> None:
    await ask(site, tenant, REFUND["zh"], at=LATE)
    await lifecycle.withdraw(
        site.application, tenant, "refund-eu@2025-02-01", start="2025-03-01", by="ada", why="a slip"
    )

    found = await impact(site, tenant, "refund-eu@2025-02-01")

    assert [change["after"]["ending"] for change in found["changes"]] == ["escalated (policy_gap)"]


async def test_draft_with_faults_is_refused(site: Site, tenant: str, tmp_path: Path) -> None:
    draft = draft_of(tmp_path, window=30, authority="king")

    with pytest.raises(PolicyParseError, match=r"2025-02-01\.md:5"):
        await impact(site, tenant, draft)


async def test_draft_that_overlaps_is_refused(site: Site, tenant: str, tmp_path: Path) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    draft = draft_of(tmp_path, window=30, version="another-name", starts="2025-02-01")

    with pytest.raises(PolicyOverlapError, match="in force together"):
        await impact(site, tenant, draft)


async def test_question_with_facts_of_the_past_is_counted_and_left_out(site: Site, tenant: str, longer: str) -> None:
    outcome = await ask(site, tenant, REFUND["en"], at=LATE)
    with psycopg.connect(site.database.admin_url, autocommit=True) as connection:
        connection.execute(
            "update runs set receipt = jsonb_set(receipt::jsonb, '{question,stated_facts}', %s) where run_id = %s",
            ['{"order.gone": 1}', outcome["run_id"]],
        )

    found = await impact(site, tenant, longer)

    assert (found["n_questions"], found["skipped"]) == (0, {"unreadable": 1})


async def test_source_that_is_down_is_said(site: Site, longer: str) -> None:
    with sqlite3.connect(site.folder / "sales.db") as database:
        columns = "no text, buyer text, bought_at text, what text, kind text, plan text, edition text, state text"
        database.execute(f"create table sales ({columns}, cents int, currency text, used int)")
    folder = copy_of_sample(site.folder, "source-down")
    text = (folder / "tenant.yaml").read_text("utf-8")
    (folder / "tenant.yaml").write_text(text[: text.index("connectors:")] + SALES, "utf-8")
    await load_tenant(site.application, folder, expected=None, progress=lambda _: None)
    (site.folder / "sales.db").unlink()
    await ask(site, "source-down", "Can I still get a refund for the plan we bought last year?", at=LATE)

    found = await impact(site, "source-down", longer)

    assert (found["skipped"], found["unavailable"]) == ({"source_unavailable": 1}, ["orders"])


# Others at work meanwhile


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """A change that first does something else."""

    document: PolicyDocument
    first: Callable[[], Any]

    async def carry_out(self, session: TenantSession) -> None:
        await self.first()
        await store.publish(session, [self.document], approval="a", by="b")


async def parts_of(site: Site, tenant: str, draft: str) -> tuple[PolicyDocument, list[Asked]]:
    async with site.application.open_tenant(tenant) as (session, settings):
        recorded, _ = await runs.questions(session, since=None, customer=None, limit=100)
        source, sidecar = read_source(Path(draft))
        document = parse_source(source, settings, known=await store.term_types(session), sidecar=sidecar)
        return document, distinct(recorded, settings, at=None)[0]


async def test_questions_are_answered_while_the_draft_stands(site: Site, tenant: str, longer: str) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    document, _ = await parts_of(site, tenant, longer)

    async with site.application.rehearse(tenant) as stage:
        await store.publish(stage.session, [document], approval="a", by="b")
        async with asyncio.timeout(3):
            said = await ask(site, tenant, REFUND["en"], at=LATE)

    assert said["decision"]["value"] is False


async def test_publish_meanwhile_is_met_by_both_askings(site: Site, tenant: str, longer: str, tmp_path: Path) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    document, questions = await parts_of(site, tenant, longer)
    (tmp_path / "other").mkdir()
    other, _ = await parts_of(site, tenant, draft_of(tmp_path / "other", window=7, version="2025-03-01"))
    n_times = 0

    async def somebody_publishes() -> None:
        nonlocal n_times
        n_times += 1
        if n_times == 1:
            async with site.application.open_session(tenant) as session:
                await store.publish(session, [other], approval="c", by="d")

    change = Meanwhile(document, somebody_publishes)
    found = [
        one
        async for step in replay(site.application, tenant, change, questions, topics=frozenset({"refund"}))
        for one in step
    ]

    # SO-1182 is now governed by the other version, which the draft does not touch.
    assert n_times == 2
    assert [one.before.outcome.decision.clause for one in found] == ["refund-eu@2025-03-01#window"]  # type: ignore[union-attr]  # it is decided
    assert [one.after.outcome.decision.clause for one in found] == ["refund-eu@2025-03-01#window"]  # type: ignore[union-attr]  # it is decided


async def test_question_that_is_not_asked_again_would_not_change(site: Site, tenant: str, longer: str) -> None:
    rows = [row for path in sorted(FOLDER.glob("*.jsonl")) for row in lines_of(path.name)][::9]
    for row in rows:
        await site.application.ask(request_of(row, tenant=tenant))
    document, questions = await parts_of(site, tenant, longer)

    async def nothing() -> None:
        pass

    async def replayed(topics: frozenset[str]) -> list[Any]:
        steps = replay(site.application, tenant, Meanwhile(document, nothing), questions, topics=topics)
        return [one async for step in steps for one in step]

    topics = frozenset(document.front_matter.topic for document in [document])
    chosen = await replayed(topics)
    everything = await replayed(frozenset(settings_topics(site, tenant)) | topics)

    left_out = [(one, full) for one, full in zip(chosen, everything, strict=True) if one.after is None]
    compared = [full for _, full in left_out if full.after is not None]
    assert len(compared) >= 5
    assert [full.asked.question.text for full in compared if difference(told(full.before), told(full.after))] == []


def settings_topics(site: Site, tenant: str) -> set[str]:
    with psycopg.connect(site.database.admin_url) as connection:
        rows = connection.execute(
            "select distinct topic from policies join tenants using (tenant_id) where slug = %s", [tenant]
        ).fetchall()
    return {row[0] for row in rows}


# The command


@pytest.fixture
def command(site: Site) -> Command:
    return Command.on(site.database.url, data=site.folder / "data")


async def test_command_shows_both_sides(site: Site, tenant: str, longer: str, command: Command) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    await ask(site, tenant, REFUND["zh"], at=LATE)

    shown = await asyncio.to_thread(command, "policy", "impact", longer, "--tenant", tenant)
    as_json = await asyncio.to_thread(command, "policy", "impact", longer, "--tenant", tenant, "--json")

    assert shown.code == 0
    assert "2 of 2 questions change" in shown.said
    assert "2 answered no -> answered yes" in shown.said
    for said in ("refund.window_days = 14", "refund.window_days = 30", "不能退款了", "可以退款"):
        assert said in shown.said
    assert "2 of 2 asked, 2 would change" in shown.err
    assert [change["after"]["decision"] for change in as_json.json["changes"]] == [True, True]


@pytest.mark.parametrize(
    ("draft", "code", "said"),
    [
        ("nowhere.md", 2, "DRAFT|FILE"),
        ("no-such-thing", 2, "DRAFT: is no file"),
        ("refund-eu@2025-02-01", 1, "draft"),
    ],
)
async def test_draft_that_is_not_there_is_refused(
    tenant: str, draft: str, code: int, said: str, command: Command
) -> None:
    result = await asyncio.to_thread(command, "policy", "impact", draft, "--tenant", tenant)

    assert result.code == code
    assert any(part in result.said for part in said.split("|"))


async def test_ctrl_c_shows_what_was_found(site: Site, tenant: str, longer: str, command: Command) -> None:
    await ask(site, tenant, REFUND["en"], at=LATE)
    # As if it had been asked in each of many minutes.
    with psycopg.connect(site.database.admin_url, autocommit=True) as connection:
        connection.execute(
            "insert into runs (tenant_id, run_id, asked_at, status, customer_id, revision, receipt)"
            " select tenant_id, gen_random_uuid(), asked_at, status, customer_id, 1,"
            "        jsonb_set(receipt::jsonb, '{question,asked_at}',"
            "                  to_jsonb(asked_at + n * interval '1 minute'))::json"
            " from runs join tenants using (tenant_id), generate_series(1, 900) as n where slug = %s",
            [tenant],
        )
    before = digests(site.database)

    process = command.start("policy", "impact", longer, "--tenant", tenant, "--json")
    assert process.stderr is not None
    said = [next(line for line in process.stderr if b"asked" in line or b"Error" in line)]
    assert b" of 901 asked" in said[0]
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.to_thread(process.communicate, timeout=30)

    assert process.returncode == 130
    assert b"found so far" in err
    assert b"Traceback" not in err
    found = json.loads(out)
    assert not found["complete"]
    assert 0 < found["n_changed"] == found["n_done"] < 901
    assert digests(site.database) == before
