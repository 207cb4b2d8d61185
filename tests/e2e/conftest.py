"""The whole service on a database of its own, in-process and through its command.

The sample tenant is loaded once a process, without sentence vectors: words decide its questions, and an encoder would
cost each process seconds. A test that writes anything but runs takes `own_command`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import policies
from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application, open_application
from support_agent.request import AskRequest
from support_agent.settings import Settings
from tests.e2e.command import Command
from tests.integration.conftest import Database, new_database, own_database, server, template

__all__ = ["new_database", "own_database", "server", "template"]

SAMPLE = Path(policies.__file__).parent / "sample"
TENANT = "lumen"
Ask = Callable[..., Awaitable[dict[str, Any]]]


def settings_of(database: Database, folder: Path, *, vectors: bool = False) -> Settings:
    return Settings(
        database_url=database.url, database_owner_url=None, data_folder=folder, vectors=vectors, environment={}
    )


@asynccontextmanager
async def sample_application(database: Database, folder: Path, *, vectors: bool = False) -> AsyncIterator[Application]:
    """The application on `database`, with the sample tenant loaded."""
    async with open_application(settings_of(database, folder, vectors=vectors)) as application:
        await load_tenant(application, SAMPLE, expected=TENANT, progress=lambda _: None)
        yield application


@pytest.fixture(scope="session")
def sample_database(new_database: Callable[[], Database]) -> Database:
    """A database for the sample tenant and for runs; nothing else is written there."""
    return new_database()


@pytest.fixture(scope="session")
async def sample(sample_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with sample_application(sample_database, tmp_path_factory.mktemp("data")) as application:
        yield application


@pytest.fixture(scope="session")
async def sample_with_vectors(
    new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    async with sample_application(new_database(), tmp_path_factory.mktemp("data"), vectors=True) as application:
        yield application


@pytest.fixture
def ask(sample: Application) -> Ask:
    """Asks the sample tenant; gives the outcome as the contract has it."""

    async def asked(question: str, **request: Any) -> dict[str, Any]:
        answered = await sample.ask(AskRequest(question=question, tenant=TENANT, **request))
        return dict(answered.contract)

    return asked


@pytest.fixture(scope="session")
def command(sample_database: Database, sample: Application, tmp_path_factory: pytest.TempPathFactory) -> Command:  # noqa: ARG001 - it is loaded
    """The command line on the database with the sample tenant."""
    return Command.on(sample_database.url, data=tmp_path_factory.mktemp("data"))


@pytest.fixture
def own_command(own_database: Database, tmp_path: Path) -> Command:
    """The command line on an empty database of the test's own."""
    return Command.on(own_database.url, data=tmp_path / "data")
