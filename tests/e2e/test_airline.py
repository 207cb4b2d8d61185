"""An airline connected by configuration only: its own database, its policy as it stands, our terms beside it."""

from __future__ import annotations

import random
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from sqlalchemy import make_url

from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application, open_application
from support_agent.request import AskRequest
from support_agent.settings import Settings
from tests.e2e.airline.assemble import CONNECTION, TENANT, Airline, assemble
from tests.e2e.airline.database import lines
from tests.e2e.airline.oracle import ASKED_AT, any_portion_flown, may_cancel
from tests.e2e.airline.tasks import Cancellation, cancellations
from tests.integration.conftest import Database

DATA = Path(__file__).parents[3] / "shared" / "data" / "airline"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.exists(), reason="the airline's data is not beside the repository"),
]

QUESTIONS = {
    "en": "Can I cancel reservation {reservation}? {reason}",
    "zh": "我可以取消预订 {reservation} 吗？{reason}",
}
REASONS = {
    "en": {
        None: "",
        "change_of_plan": "My plans have changed.",
        "airline_cancelled": "The airline cancelled the flight.",
        "health": "I am ill.",
        "weather": "The weather is too bad.",
        "other": "It is for another reason.",
    },
    "zh": {
        None: "",
        "change_of_plan": "我的行程有变。",
        "airline_cancelled": "航空公司取消了航班。",
        "health": "我生病了。",
        "weather": "天气太恶劣了。",
        "other": "是其他原因。",
    },
}
RULE = "airline@2024-01-01#cancel-flight"


@asynccontextmanager
async def opened(airline: Airline, database: Database) -> AsyncIterator[Application]:
    """The application with the airline as its one tenant."""
    settings = Settings(
        database_url=database.url,
        database_owner_url=None,
        data_folder=airline.folder.parent / "server",
        vectors=False,
        environment={CONNECTION: airline.database_url},
    )
    async with open_application(settings) as application:
        await load_tenant(application, airline.folder, expected=None, progress=lambda _: None)
        yield application


@pytest.fixture(scope="module")
async def application(
    new_database: Callable[[], Database], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Application]:
    target = tmp_path_factory.mktemp("airline")
    async with opened(assemble(DATA, target), new_database()) as application:
        yield application


@pytest.fixture(scope="module")
def reservations() -> Mapping[str, Mapping[str, Any]]:
    return {stated["reservation_id"]: stated for stated in lines(DATA / "reservations.jsonl")}


@pytest.fixture(scope="module")
def statuses() -> Mapping[str, Mapping[str, str]]:
    return {
        flight["flight_number"]: {day: state["status"] for day, state in flight["dates"].items()}
        for flight in lines(DATA / "flights.jsonl")
    }


@pytest.fixture(scope="module")
def said(reservations: Mapping[str, Mapping[str, Any]]) -> list[Cancellation]:
    """What the tasks say of a reservation."""
    playbook = yaml.safe_load((TENANT / "playbooks" / "cancellation.yaml").read_text(encoding="utf-8"))
    phrases = {reason: of["en"] for reason, of in playbook["slots"]["cancellation.reason"]["values"].items()}
    owners = {reservation: stated["user_id"] for reservation, stated in reservations.items()}
    return cancellations(lines(DATA / "tasks.jsonl"), owners=owners, reasons=phrases)


async def ask(application: Application, customer: str, reservation: str, *, reason: str | None, locale: str) -> Any:
    question = QUESTIONS[locale].format(reservation=reservation, reason=REASONS[locale][reason]).strip()
    request = AskRequest(question=question, tenant="airline", customer=customer, at=ASKED_AT)
    return (await application.ask(request)).contract


def agrees(outcome: Mapping[str, Any], *, allowed: bool) -> bool:
    """Whether the outcome decides so, by the policy's clause."""
    decision = outcome["decision"]
    cited = {(citation["document"], citation["clause"]) for citation in outcome["citations"]}
    return (
        outcome["status"] == "answered"
        and (decision["term"], decision["value"], decision["clause"]) == ("cancellation.allowed", allowed, RULE)
        and ("airline", "cancel-flight") in cited
    )


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_answers_agree_with_the_tasks(application: Application, said: list[Cancellation], locale: str) -> None:
    wrong = []
    for unit in said:
        outcome = await ask(application, unit.customer, unit.reservation, reason=unit.reason, locale=locale)
        if unit.reason is None and outcome["status"] == "needs_clarification":
            # Nobody can check a reason: it must be asked for, and the answer must hang on it.
            assert outcome["clarification"]["need"] == "cancellation.reason"
            reason = "health" if unit.cancelled else "other"
            outcome = await ask(application, unit.customer, unit.reservation, reason=reason, locale=locale)
        if not agrees(outcome, allowed=unit.cancelled):
            wrong.append((unit, outcome["status"], outcome["decision"], outcome["answer"]))
    sys.stdout.write(f"airline tasks, {locale}: {len(said) - len(wrong)} of {len(said)} agree\n")
    assert said
    assert not wrong


async def test_random_reservations_agree_with_the_policy(
    application: Application,
    reservations: Mapping[str, Mapping[str, Any]],
    statuses: Mapping[str, Mapping[str, str]],
) -> None:
    drawn = random.Random(2).sample(sorted(reservations), k=min(200, len(reservations)))
    wrong = []
    for number, reservation in enumerate(drawn):
        stated = reservations[reservation]
        for reason in ("change_of_plan", "health", "weather"):
            locale = "zh" if number % 2 else "en"
            outcome = await ask(application, stated["user_id"], reservation, reason=reason, locale=locale)
            if not agrees(outcome, allowed=may_cancel(stated, statuses, reason)):
                wrong.append((reservation, reason, outcome["status"], outcome["decision"], outcome["answer"]))
    assert not wrong


@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_flown_reservation_is_handed_to_a_person(
    application: Application,
    reservations: Mapping[str, Mapping[str, Any]],
    statuses: Mapping[str, Mapping[str, str]],
    locale: str,
) -> None:
    flown = next(stated for stated in reservations.values() if any_portion_flown(stated, statuses))

    outcome = await ask(application, flown["user_id"], flown["reservation_id"], reason="health", locale=locale)

    assert agrees(outcome, allowed=False)
    assert {"en": "transfer", "zh": "人工客服"}[locale] in outcome["next_step"]


async def test_answer_that_hangs_on_a_stated_reason_says_so(
    application: Application,
    reservations: Mapping[str, Mapping[str, Any]],
    statuses: Mapping[str, Mapping[str, str]],
) -> None:
    insured = next(
        stated
        for stated in reservations.values()
        if may_cancel(stated, statuses, "health") and not may_cancel(stated, statuses, "other")
    )

    outcome = await ask(application, insured["user_id"], insured["reservation_id"], reason="weather", locale="en")

    assert agrees(outcome, allowed=True)
    assert outcome["decision"]["inputs"]["cancellation.reason"] == "weather"
    assert "you told us" in outcome["answer"]


async def test_another_customers_reservation_is_not_found(
    application: Application, reservations: Mapping[str, Mapping[str, Any]]
) -> None:
    first = next(iter(reservations.values()))
    other = next(stated for stated in reservations.values() if stated["user_id"] != first["user_id"])

    foreign = await ask(application, first["user_id"], other["reservation_id"], reason=None, locale="en")

    assert foreign["status"] == "refused"
    assert foreign["decision"] is None


async def test_postgresql_schema_answers_like_a_file(
    new_database: Callable[[], Database],
    tmp_path: Path,
    reservations: Mapping[str, Mapping[str, Any]],
    statuses: Mapping[str, Mapping[str, str]],
) -> None:
    theirs = new_database()
    with psycopg.connect(theirs.admin_url, autocommit=True) as connection:
        connection.execute("create schema airline")
    url = make_url(theirs.admin_url).set(drivername="postgresql+psycopg")
    url = url.update_query_dict({"options": "-csearch_path=airline"})

    airline = assemble(DATA, tmp_path, database_url=url.render_as_string(hide_password=False))
    async with opened(airline, new_database()) as application:
        for reservation in random.Random(3).sample(sorted(reservations), k=10):
            stated = reservations[reservation]
            outcome = await ask(application, stated["user_id"], reservation, reason="weather", locale="en")
            assert agrees(outcome, allowed=may_cancel(stated, statuses, "weather"))
