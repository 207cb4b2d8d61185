"""Real sources that disagree, each row's organisations in one tenant: which prevails, and whether the other is named.

What the metadata lacks stands in `real_overlays/<organisation>.yaml`: which pages are translations of which, which
product a policy is about, and which paragraph is an exception. With sentence vectors; the imports take a minute.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support_agent.bootstrap import Application, open_application
from support_agent.cli.main import app
from support_agent.request import AskRequest
from support_agent.settings import Settings
from tests.e2e.real_policies import AUTHORITIES, DATA, LATER
from tests.integration.conftest import Database

OVERLAYS = Path(__file__).parent / "real_overlays"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.exists(), reason="the policies are not beside the repository"),
]
#: Of seven rows, with one to spare.
ENOUGH = 6
#: Letters of a passage that tell it from others.
STEM = 25


def rows() -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in (DATA / "CONFLICTS.jsonl").read_text(encoding="utf-8").splitlines()]


def tenant_of(row: Mapping[str, Any]) -> str:
    return "-and-".join(organisations_of(row))


def organisations_of(row: Mapping[str, Any]) -> list[str]:
    return sorted({evidence["org"] for evidence in row["evidence"]})


@pytest.fixture(scope="module")
def database(new_database: Callable[[], Database]) -> Database:
    return new_database()


@pytest.fixture(scope="module")
def imported(database: Database, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The tenants, folder after folder imported by the command."""
    environment = {"DATABASE_URL": database.url, "SUPPORT_AGENT_DATA": str(tmp_path_factory.mktemp("data"))}
    tenants = {tenant_of(row): organisations_of(row) for row in rows()}
    for tenant, organisations in tenants.items():
        for organisation in organisations:
            command = ["policy", "import", str(DATA / organisation), "--tenant", tenant, "--create-tenant"]
            command += ["--publish", "--authorities", AUTHORITIES, "--json"]
            if (overlay := OVERLAYS / f"{organisation}.yaml").exists():
                command += ["--overlay", str(overlay)]
            result = CliRunner().invoke(app, command, env=environment)
            assert result.exit_code == 0, (organisation, result.output, result.exception)
    return set(tenants)


@pytest.fixture(scope="module")
async def application(
    database: Database, imported: set[str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    assert imported
    settings = Settings(
        database_url=database.url,
        database_owner_url=None,
        data_folder=tmp_path_factory.mktemp("data"),
        vectors=True,
        environment={},
    )
    async with open_application(settings) as application:
        yield application


@pytest.mark.parametrize("at", ["then", LATER])
async def test_what_applies_is_cited_and_the_other_is_in_the_record(application: Application, at: str) -> None:
    failures = []
    for row in rows():
        region = None if row["region"] == "global" else row["region"]
        request = AskRequest(
            question=row["question"],
            tenant=tenant_of(row),
            at=row["question_date"] if at == "then" else at,
            facts={"profile.region": region} if region else None,
        )
        outcome = (await application.ask(request)).contract
        problem = _problem(row, outcome)
        sys.stdout.write(f"{at} {row['id']}: {problem or 'right'}, settled by {_settled_by(outcome)}\n")
        if problem:
            failures.append(row["id"])
    assert len(rows()) - len(failures) >= ENOUGH, failures


async def test_stale_translation_is_named(application: Application) -> None:
    row = next(row for row in rows() if any("translation" in evidence["authority"] for evidence in row["evidence"]))
    request = AskRequest(question=row["question"], tenant=tenant_of(row), at=row["question_date"])
    outcome = (await application.ask(request)).contract

    assert any("译本" in note for note in outcome["uncertainties"])
    assert "rendition" in {candidate["removed_by"] for candidate in outcome["conflicts"][0]["candidates"]}


def _problem(row: Mapping[str, Any], outcome: Mapping[str, Any]) -> str:
    """What is wrong with an outcome; empty when it is right."""
    cited = [
        (citation["document"], citation["version"], citation["quote"])
        for citation in outcome["citations"]
        if citation["role"] == "governing"
    ]
    recorded = {candidate["clause"] for record in outcome["conflicts"] for candidate in record["candidates"]}
    for evidence in row["evidence"]:
        name = f"{evidence['policy']}@{evidence['version']}"
        if evidence["applies"]:
            stem = _letters(evidence["quote"])[:STEM]
            if not any(f"{policy}@{version}" == name and stem in _letters(quote) for policy, version, quote in cited):
                return f"{name} is not cited ({outcome['status']})"
        elif not any(clause.startswith(f"{name}#") for clause in recorded):
            return f"{name} is not in the record"
    return ""


def _settled_by(outcome: Mapping[str, Any]) -> str:
    return ", ".join(str(record["settled_by"]) for record in outcome["conflicts"]) or "nothing"


def _letters(text: str) -> str:
    return "".join(text.split())
