"""Policies of real organisations, imported by the command, and questions about them on both sides of a change."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from support_agent.administration.catalogue import versions
from support_agent.bootstrap import Application, open_application
from support_agent.cli.main import app
from support_agent.request import AskRequest
from support_agent.settings import Settings
from tests.e2e.real_policies import AUTHORITIES, DATA, LATER, ORGANISATIONS, facts, graded, metadata, sides
from tests.integration.conftest import Database

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.exists(), reason="the policies are not beside the repository"),
]


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


#: Of all that were asked, what must stand at least; a little under what `tests/evals/grade_real_policies.py` measured.
#: It measures with vectors, too.
BARS = {
    "changes": {"version": 0.94, "value": 0.81, "passage": 0.83},
    "facts": {"version": 0.96, "value": 0.94, "passage": 0.92},
}
MOST_CONFLICT_RECORDS = 3


@pytest.mark.parametrize("at", ["its date", LATER])
@pytest.mark.parametrize("asked", ["changes", "facts"])
async def test_version_value_and_passage_are_those_of_the_date(asked: str, at: str, application: Application) -> None:
    found = list(sides() if asked == "changes" else facts())

    grades = []
    for side in found:
        request = AskRequest(question=side.question, tenant=side.organisation, at=side.date if at == "its date" else at)
        grades.append(graded((await application.ask(request)).contract, side))

    for what, bar in BARS[asked].items():
        failed = [
            f"{side.id}: {grade.reason}" for side, grade in zip(found, grades, strict=True) if not getattr(grade, what)
        ]
        assert len(failed) <= (1 - bar) * len(found), (what, failed)
    assert sum(grade.n_conflicts for grade in grades) <= MOST_CONFLICT_RECORDS


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
