"""Policies of real organisations, imported by the command, and questions about them on both sides of a change."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from support_agent.administration.catalogue import versions
from support_agent.bootstrap import Application, open_application
from support_agent.cli.main import app
from support_agent.request import AskRequest
from support_agent.settings import Settings
from tests.integration.conftest import Database

DATA = Path(__file__).parents[3] / "shared" / "data" / "policies"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.exists(), reason="the policies are not beside the repository"),
]

#: As the data's README ranks them, highest first.
AUTHORITIES = (
    "national_law,administrative_regulation,judicial_interpretation=department_rule,local_regulation,"
    "company_policy,support_documentation,support_documentation_translation"
)
ORGANISATIONS = sorted(folder.name for folder in DATA.iterdir() if folder.is_dir()) if DATA.exists() else []


@pytest.fixture(scope="module")
def database(new_database: Callable[[], Database]) -> Database:
    return new_database()


@pytest.fixture(scope="module")
def imported(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Any]]:
    """What the command printed for each organisation, a tenant each."""
    environment = {
        "DATABASE_URL": database.url,
        "SUPPORT_AGENT_DATA": str(tmp_path_factory.mktemp("data")),
        "SUPPORT_AGENT_VECTORS": "off",
    }
    runner = CliRunner()
    printed = {}
    for organisation in ORGANISATIONS:
        command = ["policy", "import", str(DATA / organisation), "--tenant", organisation, "--create-tenant"]
        command += ["--publish", "--authorities", AUTHORITIES, "--json"]
        result = runner.invoke(app, command, env=environment)
        assert result.exit_code == 0, (organisation, result.output, result.exception)
        printed[organisation] = json.loads(result.stdout)
    return printed


@pytest.fixture(scope="module")
async def application(
    database: Database, imported: Mapping[str, Mapping[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    assert imported
    settings = Settings(
        database_url=database.url,
        database_owner_url=None,
        data_folder=tmp_path_factory.mktemp("data"),
        vectors=False,
        environment={},
    )
    async with open_application(settings) as application:
        yield application


def metadata(organisation: str) -> dict[str, Mapping[str, Any]]:
    """Policy -> its metadata."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DATA / organisation).glob("*/meta.json"))]
    return {meta["policy"]: meta for meta in found}


@pytest.mark.parametrize("organisation", ORGANISATIONS)
def test_every_version_is_published(organisation: str, imported: Mapping[str, Mapping[str, Any]]) -> None:
    metas = metadata(organisation)

    assert imported[organisation]["n_policies"] == len(metas)
    assert imported[organisation]["n_versions"] == sum(len(meta["versions"]) for meta in metas.values())


@pytest.mark.parametrize("organisation", ORGANISATIONS)
async def test_dates_regions_and_authorities_are_those_of_the_metadata(
    organisation: str, application: Application
) -> None:
    stored = await versions(application, organisation, known_at=None)

    assert {(version["policy"], version["version"]): _said(version) for version in stored} == {
        (meta["policy"], version["version"]): {
            "effective_from": version["effective_from"],
            "effective_to": version.get("effective_to"),
            "authority": meta["authority"],
            "language": meta["language"],
            "regions": [] if meta["region"] == "global" else [meta["region"]],
        }
        for meta in metadata(organisation).values()
        for version in meta["versions"]
    }


async def test_how_often_the_right_version_governs(application: Application) -> None:
    """No bar yet: prints how often every governing citation is of the version in force on the question's date."""
    tally: Counter[tuple[str, str]] = Counter()
    rows = [json.loads(line) for line in (DATA / "CHANGES.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        meta = metadata(row["org"])[row["policy"]]
        for side in ("question", "question_new"):
            wanted = (row["policy"], _in_force(meta, row[f"{side}_date"]))
            for asked, at in (("asked then", row[f"{side}_date"]), ("asked on 2026-11-30", "2026-11-30")):
                request = AskRequest(question=row[side], tenant=row["org"], at=at)
                outcome = (await application.ask(request)).contract
                tally[asked, _graded(outcome, wanted)] += 1
    for (asked, grade), count in sorted(tally.items()):
        sys.stdout.write(f"{asked}: {grade} {count} of {2 * len(rows)}\n")
    assert sum(tally.values()) == 4 * len(rows)


def _said(version: Mapping[str, Any]) -> dict[str, Any]:
    zone = ZoneInfo(version["time_zone"])
    return {
        "effective_from": _day(version["effective_from"], zone),
        "effective_to": _day(version["effective_to"], zone),
        "authority": version["authority"],
        "language": version["language"],
        "regions": list(version["applies_to"].get("regions", ())),
    }


def _day(stated: str | None, zone: ZoneInfo) -> str | None:
    """The day of a date, or of an instant that must be midnight in `zone`."""
    if stated is None or len(stated) == len("2025-03-05"):
        return stated
    local = datetime.fromisoformat(stated).astimezone(zone)
    assert (local.hour, local.minute, local.second) == (0, 0, 0)
    return local.date().isoformat()


def _in_force(meta: Mapping[str, Any], day: str) -> str | None:
    """The version in force on an ISO day."""
    covering = (
        version["version"]
        for version in meta["versions"]
        if version["effective_from"] <= day < (version.get("effective_to") or "9999")
    )
    return next(covering, None)


def _graded(outcome: Mapping[str, Any], wanted: tuple[str, str | None]) -> str:
    governing = {
        (citation["document"], citation["version"])
        for citation in outcome["citations"]
        if citation["role"] == "governing" and citation["version"] is not None
    }
    if not governing:
        return f"no citation ({outcome['status']})"
    if governing == {wanted}:
        return "right"
    return "right version and others" if wanted in governing else "wrong"
