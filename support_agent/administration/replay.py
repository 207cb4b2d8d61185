"""Recorded questions asked twice: of the store as it stands, and with a change of policies in it.

Both askings read one snapshot, so what differs comes of the change and not of time, of newer code or of another
publish. The change is really made, in a transaction that is always rolled back. While it stands there it holds the
locks of a publish, which keep other publishers out and no question, so it is made anew for a few questions at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

import orjson
import psycopg

from policies.errors import PolicyStateError
from policies.session import TenantSession
from support_agent.bootstrap import Application
from support_agent.domain.question import Earlier, Principal, Question
from support_agent.domain.run import Run
from support_agent.domain.tenant import Tenant
from support_agent.errors import ConcurrentUpdateError, InvalidRequestError
from support_agent.pipeline.lookups import DOCUMENT_SOURCES
from support_agent.request import fact_value
from support_agent.storage import runs
from support_agent.storage.runs import RecordedQuestion

#: How long a change stands in the store before others may publish: they wait for it five seconds at most.
HOLD_S: Final = 1.0
FIRST_BATCH: Final = 25
MAX_BATCH: Final = 500
#: Seconds between two tries of a batch during which somebody else published.
PAUSES_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6)
#: What a change meets that was made after its snapshot was taken, and is not in it.
_DISTURBANCES: Final = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.ExclusionViolation,
)


class Change(Protocol):
    """What is tried out."""

    async def carry_out(self, session: TenantSession) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, and the runs in which it was asked so; newest first."""

    question: Question
    recorded: tuple[RecordedQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A question with its run as the store stands, and with the change."""

    asked: Asked
    before: Run
    #: None where nothing that was looked up could meet the change.
    after: Run | None = None

    @property
    def unread(self) -> frozenset[str]:
        """Sources that were down, so that the two cannot be compared."""
        found = (self.before, self.after) if self.after is not None else (self.before,)
        return frozenset(
            lookup.source
            for run in found
            for turn in run.rounds
            for lookup in turn.lookups
            if lookup.failure is not None
        )


def distinct(recorded: Iterable[RecordedQuestion], tenant: Tenant, *, at: datetime | None) -> tuple[list[Asked], int]:
    """Each question once for all runs in which it was asked alike; and how many runs cannot be asked again.

    Args:
        recorded: Newest first.
        at: When they are asked; None: each when it was.
    """
    alike: dict[bytes, tuple[Question, list[RecordedQuestion]]] = {}
    n_unreadable = 0
    for one in recorded:
        question = _question(one, tenant, at=at)
        if question is None:
            n_unreadable += 1
            continue
        said = {**one.question, "asked_at": question.asked_at, "conversation": None}
        alike.setdefault(orjson.dumps(said, option=orjson.OPT_SORT_KEYS), (question, []))[1].append(one)
    return [Asked(question=question, recorded=tuple(same)) for question, same in alike.values()], n_unreadable


async def replay(
    application: Application, tenant: str, change: Change, questions: Sequence[Asked], *, topics: frozenset[str]
) -> AsyncGenerator[list[Replayed], None]:
    """Ask each question twice.

    Args:
        application: The application.
        tenant: Its slug.
        change: What is tried out.
        questions: In the order in which they are asked.
        topics: All that the change is about.

    Yields:
        What came of the next questions, some at a time.

    Raises:
        ConcurrentUpdateError: Others publish all the time.
    """
    size, place = FIRST_BATCH, 0
    while place < len(questions):
        done, held_s = await _undisturbed(application, tenant, change, questions[place : place + size], topics)
        place += len(done)
        # As many as are answered in the time that others may be kept waiting.
        size = max(1, min(MAX_BATCH, 2 * size, int(size * HOLD_S / max(held_s, HOLD_S / MAX_BATCH))))
        yield done


async def _undisturbed(
    application: Application, tenant: str, change: Change, batch: Sequence[Asked], topics: frozenset[str]
) -> tuple[list[Replayed], float]:
    for pause_s in (*PAUSES_S, None):
        try:
            return await _replay(application, tenant, change, batch, topics)
        except (psycopg.errors.OperationalError, PolicyStateError) as error:
            cause = error.__cause__ if isinstance(error, PolicyStateError) else error
            if not isinstance(cause, _DISTURBANCES):
                raise
            if pause_s is None:
                raise ConcurrentUpdateError(tenant) from error
            await asyncio.sleep(pause_s)
    raise AssertionError("the last try returns or raises")


async def _replay(
    application: Application, tenant: str, change: Change, batch: Sequence[Asked], topics: frozenset[str]
) -> tuple[list[Replayed], float]:
    """Ask the first questions of `batch` twice, at least one; and how many seconds the change stood in the store."""
    async with application.rehearse(tenant) as stage:
        before: list[Run] = []
        for one in batch:
            before.append(await stage.ask(one.question))
            if not stage.usable():
                break
        if stage.usable():
            began = time.monotonic()
            await change.carry_out(stage.session)
            made = time.monotonic()
            replayed = []
            for one, run in zip(batch, before, strict=True):
                after = await stage.ask(one.question) if _concerns(run, topics) else None
                replayed.append(Replayed(asked=one, before=run, after=after))
                # What takes long to publish is not published again for every other question.
                if not stage.usable() or time.monotonic() - made > max(HOLD_S, made - began):
                    break
            return replayed, time.monotonic() - began
    # A lookup that was cut off took the snapshot with it: that question is given up, those before it are asked again.
    if len(before) > 1:
        return await _replay(application, tenant, change, batch[: len(before) - 1], topics)
    return [Replayed(asked=batch[0], before=before[0])], 0.0


def _concerns(run: Run, topics: frozenset[str]) -> bool:
    """Whether anything that was looked up, on one of `topics` or on all, could have met the change."""
    return any(
        sub.source in DOCUMENT_SOURCES and sub.parameters.get("topic") in {None, *topics}
        for sub in run.outcome.plan.sub_questions
    )


def _question(recorded: RecordedQuestion, tenant: Tenant, *, at: datetime | None) -> Question | None:
    """The question again; None where an older receipt, or facts declared otherwise now, leave it unreadable."""
    if recorded.format != runs.RECEIPT_FORMAT:
        return None
    said = recorded.question
    try:
        facts = {name: fact_value(tenant.facts[name], raw) for name, raw in said["stated_facts"].items()}
    except (KeyError, InvalidRequestError):
        return None
    return Question(
        text=said["text"],
        tenant=tenant.slug,
        principal=Principal(**said["principal"]),
        asked_at=at or datetime.fromisoformat(said["asked_at"]),
        locale=said["locale"],
        conversation=said["conversation"],
        earlier=_earlier(said.get("earlier")),
        stated_facts=facts,
    )


def _earlier(said: Mapping[str, Any] | None) -> Earlier | None:
    if said is None:
        return None
    return Earlier(
        text=said["text"],
        asked_at=datetime.fromisoformat(said["asked_at"]),
        status=said["status"],
        orders=tuple(said["orders"]),
    )
