"""Any steps by any persons: nothing governs that a second person did not approve, and nothing known is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeAlias
from uuid import uuid4

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import lifecycle, store
from policies.document import PolicyDocument
from policies.drafts import Content, Kind, is_same_person
from policies.errors import PolicyError
from policies.events import Event, events
from policies.session import TenantSession
from policies.version import PolicyVersion
from support_agent.storage import tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database
from tests.integration.policies.written import window, written
from tests.soak import examples

#: Begun and not begun, whenever this runs.
VERSIONS = ("2024-01-01", "2024-06-01", "2025-01-01", "2090-01-01", "2091-01-01")
PEOPLE = ("ada", "Ada ", "bob", "cy")
DOCUMENTS: dict[tuple[str, int], PolicyDocument] = {}

Step: TypeAlias = tuple[str, str, str, int]
ACTIONS = [
    "submit",
    "submit",
    "correct",
    "withdraw",
    "approve",
    "approve",
    "send_back",
    "discard",
    "publish",
    "publish",
]


def _steps(versions: Sequence[str]) -> st.SearchStrategy[list[Step]]:
    """Single steps in any order, and between them changes that go all the way, so that the steps meet something."""
    version, choice = st.sampled_from(versions), st.integers(min_value=0, max_value=2)
    single = st.tuples(st.sampled_from(ACTIONS), version, st.sampled_from(PEOPLE), choice).map(lambda step: [step])
    whole = st.tuples(st.sampled_from(["submit", "correct", "withdraw"]), version, choice).map(
        lambda change: _whole(*change)
    )
    return st.lists(single | whole, min_size=3, max_size=16).map(
        lambda parts: [step for part in parts for step in part]
    )


def _whole(action: str, version: str, choice: int) -> list[Step]:
    """A change that two people bring all the way, by the command that fits its date."""
    ahead = choice == 2 if action == "withdraw" else version > "2090"
    return [(action, version, "ada", choice), ("approve", version, "bob", 0), ("publish", version, "cy", 1 - ahead)]


#: On one or two versions, so that steps meet.
steps = st.lists(st.sampled_from(VERSIONS), min_size=1, max_size=2, unique=True).flatmap(_steps)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pooled(loop: asyncio.Runner, database: Database) -> Iterator[AsyncEngine]:
    engine = create_engine(database.url, pool_size=1)
    yield engine
    loop.run(engine.dispose())


@given(taken=steps)
@example(  # What has governed is withdrawn from before its start: it would be gone, and the version before it back.
    taken=[
        *_whole("submit", "2024-01-01", 0),
        *_whole("submit", "2025-01-01", 0),
        *_whole("withdraw", "2025-01-01", 0),
    ]
)
@settings(max_examples=examples(default=60, soak=3_000))
def test_any_steps_keep_the_promises(taken: Sequence[Step], loop: asyncio.Runner, pooled: AsyncEngine) -> None:
    loop.run(_taken(taken, pooled))


async def _taken(taken: Sequence[Step], engine: AsyncEngine) -> None:
    governed: set[str] = set()
    async with open_session(engine, uuid4()) as session:
        await tenants.save(session, session.tenant_id.hex, {})
        known: list[tuple[datetime, list[PolicyVersion]]] = []
        n_events = 0
        for step in taken:
            try:
                await _take(session, step)
                done = True
            except PolicyError:
                done = False
            told = await events(session, "refund")
            assert len(told) == n_events + done, step
            n_events = len(told)
            held = await store.versions(session, "refund")
            known.append((await _now(session), held))
            _check_periods(held)
            # What has governed keeps its place: with it gone, the version before it would come back.
            governed |= {one.version for one in held if one.valid.start <= known[-1][0]}
            assert governed <= {one.version for one in held}
            _check_approved(told)
        for instant, held in known:
            then = await store.versions(session, "refund", known_at=instant)
            assert [(v.version, v.valid) for v in then] == [(v.version, v.valid) for v in held]
        await session.psycopg.rollback()


async def _take(session: TenantSession, step: Step) -> None:
    action, version, person, choice = step
    document = _document(version, choice)
    match action:
        case "submit" | "correct":
            kind: Kind = "version" if action == "submit" else "correction"
            content = Content(why=str(choice), text=document.text)
            await lifecycle.submit(session, document, content=content, kind=kind, by=person)
        case "withdraw":
            start = datetime((2024, 2025, 2092)[choice], 3, 1, tzinfo=UTC)
            content = Content(why="gone", withdrawn_from=start)
            await lifecycle.submit_withdrawal(session, "refund", version, content=content, by=person)
        case "approve":
            await lifecycle.approve(session, "refund", version, by=person, why=None)
        case "send_back":
            await lifecycle.send_back(session, "refund", version, by=person, why="no")
        case "discard":
            await lifecycle.discard(session, "refund", version, by=person, why=None)
        case _:
            draft = await lifecycle.open_draft(session, "refund", version)
            text = None if draft.kind == "withdrawal" else _document(version, int(draft.content.why or 0))
            await lifecycle.carry_out(session, draft, text, scheduled=choice == 0, by=person)


def _document(version: str, choice: int) -> PolicyDocument:
    if (version, choice) not in DOCUMENTS:
        DOCUMENTS[version, choice] = written(version, body=window(10 + choice))
    return DOCUMENTS[version, choice]


async def _now(session: TenantSession) -> datetime:
    now: datetime = (await session.fetch("select clock_timestamp()", {}))[0][0]
    return now


def _check_periods(held: Sequence[PolicyVersion]) -> None:
    for before, after in pairwise(held):
        assert before.valid.end is not None
        assert before.valid.end <= after.valid.start


def _check_approved(told: Sequence[Event]) -> None:
    """Each step that changed what governs follows an approval of that very content by another than its author."""
    for place, event in enumerate(told):
        if event.action not in {"published", "corrected", "withdrawn"}:
            continue
        before = [other for other in told[:place] if other.version == event.version]
        approval = before[-1]
        handed_in = next(other for other in reversed(before) if other.action == "submitted")
        assert approval.action == "approved"
        assert approval.details["sha256"] == handed_in.details["sha256"]
        assert not is_same_person(approval.person, handed_in.person)
