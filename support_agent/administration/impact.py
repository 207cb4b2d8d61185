"""What a draft would change, told from the questions that were asked; nothing is stored."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from policies import publishing, store
from policies.embedding import Embedders
from policies.session import TenantSession
from support_agent.administration.documents import parse_file, read_documents
from support_agent.administration.lifecycle import stored_draft
from support_agent.administration.replay import Asked, Replayed, distinct, replay
from support_agent.administration.told import Difference, Told, difference, told, told_json
from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError
from support_agent.pipeline.lookups import DOCUMENT_SOURCES
from support_agent.request import first_instant, read_instant
from support_agent.storage import runs

if TYPE_CHECKING:
    from policies.document import PolicyDocument

#: Ask the questions as if they were asked now.
NOW: Final = "now"
#: Who publishes what is rolled back.
PERSON: Final = "policy impact"
_WEIGHT: Final[dict[Difference, int]] = {"outcome": 0, "value": 1, "clause": 2, "wording": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftChange:
    """Versions to publish, or the end of one."""

    documents: tuple[PolicyDocument, ...] = ()
    #: Policy, version, and the instant from which it no longer governs.
    withdrawn: tuple[str, str, datetime] | None = None
    embedder: Embedders | None

    @property
    def names(self) -> list[str]:
        """`policy@version` of each."""
        named = [document.name for document in self.documents]
        return [*named, f"{self.withdrawn[0]}@{self.withdrawn[1]}"] if self.withdrawn else named

    @property
    def starts(self) -> datetime:
        """The first instant for which something would govern otherwise."""
        starts = [document.valid.start for document in self.documents]
        return min([*starts, self.withdrawn[2]] if self.withdrawn else starts)

    async def topics(self, session: TenantSession) -> frozenset[str]:
        """The topics on which its policies speak, now and then."""
        policies = {name.partition("@")[0] for name in self.names}
        now = [version.topic for policy in policies for version in await store.versions(session, policy)]
        return frozenset([*now, *(document.front_matter.topic for document in self.documents)])

    async def carry_out(self, session: TenantSession) -> None:
        """Publish it, as approved by nobody."""
        if self.withdrawn is not None:
            policy, version, end = self.withdrawn
            await publishing.withdraw(session, policy, version, from_=end, approval=PERSON, by=PERSON)
        else:
            await publishing.publish(session, self.documents, approval=PERSON, by=PERSON, embedder=self.embedder)


@dataclass(slots=True, kw_only=True)
class Impact:
    """What has been found so far; grows while questions are asked."""

    tenant: str
    draft: DraftChange
    #: When they are asked; None: each when it was.
    at: datetime | None
    questions: list[Asked]
    #: Runs in all, and those whose question is among `questions`.
    n_recorded: int
    n_runs: int
    n_done: int = 0
    #: Reason -> questions that were not compared.
    skipped: Counter[str] = field(default_factory=Counter)
    unavailable: set[str] = field(default_factory=set)
    changes: list[tuple[Difference, Asked, Told, Told]] = field(default_factory=list)
    elapsed_s: float = 0.0

    def add(self, replayed: Replayed) -> None:
        """Count one question, and keep it where it would end otherwise."""
        self.n_done += 1
        if replayed.unread:
            self.unavailable |= replayed.unread
            self.skipped["source_unavailable"] += 1
        elif replayed.after is None:
            searched = any(sub.source in DOCUMENT_SOURCES for sub in replayed.before.outcome.plan.sub_questions)
            self.skipped["other_topic" if searched else "no_policy_read"] += 1
        else:
            before, after = told(replayed.before), told(replayed.after)
            if (kind := difference(before, after)) is not None:
                self.changes.append((kind, replayed.asked, before, after))

    def json(self) -> dict[str, Any]:
        """The report as JSON values, what differs most first."""
        counts = Counter((kind, before.ending, after.ending) for kind, _, before, after in self.changes)
        newest = max((one.question.asked_at for one in self.questions), default=None)
        return {
            "tenant": self.tenant,
            "draft": self.draft.names,
            "effective_from": self.draft.starts.isoformat(),
            "at": self.at.isoformat() if self.at else None,
            "newest_asked_at": newest.isoformat() if newest else None,
            "n_recorded": self.n_recorded,
            "n_runs": self.n_runs,
            "n_questions": len(self.questions),
            "n_done": self.n_done,
            "n_changed": len(self.changes),
            "n_runs_changed": sum(len(asked.recorded) for _, asked, _, _ in self.changes),
            "skipped": dict(sorted(self.skipped.items())),
            "unavailable": sorted(self.unavailable),
            "elapsed_s": round(self.elapsed_s, 3),
            "complete": self.n_done == len(self.questions),
            "counts": [
                {"differs": kind, "before": before, "after": after, "n": n}
                for (kind, before, after), n in sorted(counts.items(), key=lambda one: (_WEIGHT[one[0][0]], -one[1]))
            ],
            "changes": [_change_json(*change) for change in sorted(self.changes, key=lambda one: _WEIGHT[one[0]])],
        }


async def impact(
    application: Application,
    tenant: str,
    draft: str,
    *,
    at: str | None = None,
    since: str | None = None,
    customer: str | None = None,
    limit: int,
) -> AsyncGenerator[Impact, None]:
    """What would be answered otherwise if `draft` were published.

    Args:
        application: The application.
        tenant: Its slug.
        draft: A version's file, a folder of policies, or `policy@version` of a draft that was submitted.
        at: When all questions are asked, or `now`; None: each when it was.
        since: Only questions recorded from then on.
        customer: Only those of one customer.
        limit: Only the newest so many.

    Yields:
        What has been found so far: once before any question is asked, then again and again.

    Raises:
        PolicyParseError: With everything that is wrong with the draft.
        PolicyOverlapError, PolicyStateError: It could not be published.
        ConcurrentUpdateError: Others publish all the time.
    """
    change = await _read_change(application, tenant, draft)
    async with application.open_tenant(tenant) as (session, settings):
        instant = datetime.now(UTC) if at == NOW else read_instant("--at", at, zone=settings.zone)
        from_ = first_instant("--since", since, zone=settings.zone)
        recorded, n_recorded = await runs.questions(session, since=from_, customer=customer, limit=limit)
        topics = await change.topics(session)
    questions, n_unreadable = distinct(recorded, settings, at=instant)
    found = Impact(
        tenant=tenant, draft=change, at=instant, questions=questions, n_recorded=n_recorded, n_runs=len(recorded),
        skipped=Counter({"unreadable": n_unreadable} if n_unreadable else {}),
    )  # fmt: skip
    began = time.monotonic()
    yield found
    async with aclosing(replay(application, tenant, change, questions, topics=topics)) as steps:
        async for replayed in steps:
            for one in replayed:
                found.add(one)
            found.elapsed_s = time.monotonic() - began
            yield found


async def _read_change(application: Application, tenant: str, draft: str) -> DraftChange:
    path, embedder = Path(draft), application.vectors
    is_folder, is_file = await asyncio.to_thread(lambda: (path.is_dir(), path.is_file() or path.suffix == ".md"))
    if is_folder or is_file:
        async with application.open_tenant(tenant) as (session, settings):
            if is_folder:
                known = await store.term_types(session)
                read = await asyncio.to_thread(read_documents, path, settings, known=known)
            else:
                document, _ = await parse_file(session, settings, path, corrects=True)
                read = (document,)
        return DraftChange(documents=read, embedder=embedder)
    if "@" not in draft:
        raise InvalidRequestError("DRAFT", "is no file, no folder, and no policy@version of a submitted draft")
    stored, drafted = await stored_draft(application, tenant, draft)
    end = stored.content.withdrawn_from
    if drafted is None and end is not None:
        return DraftChange(withdrawn=(stored.policy, stored.version, end), embedder=embedder)
    return DraftChange(documents=(drafted,) if drafted else (), embedder=embedder)


def _change_json(kind: Difference, asked: Asked, before: Told, after: Told) -> dict[str, Any]:
    newest = asked.recorded[0]
    return {
        "differs": kind,
        "run_id": str(newest.run_id),
        "recorded_at": newest.recorded_at.isoformat(),
        "n_runs": len(asked.recorded),
        "customer": newest.customer,
        "conversation": newest.conversation,
        "question": asked.question.text,
        "asked_at": asked.question.asked_at.isoformat(),
        "before": told_json(before),
        "after": told_json(after),
    }
