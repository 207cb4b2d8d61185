"""How versions supersede each other: the timelines of policies as they stand, and as they are to be.

Each version lasts to its own end, or else to the next version's start, so a new version closes the one before it.
Nothing is read or written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING
from uuid import UUID

from policies.errors import PolicyOverlapError, PolicyStateError
from policies.version import Period

if TYPE_CHECKING:
    from policies.document import PolicyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One version in a policy's timeline, present or to be."""

    policy: str
    version: str
    topic: str
    audience: str
    authority: str
    document_id: UUID
    start: datetime
    #: Its own end, by its document or by a withdrawal; None: until the next version.
    own_end: datetime | None
    end: datetime | None
    withdrawn: bool
    #: The recording that holds it now, and None where none does.
    recording_id: UUID | None = None
    #: Who made that recording, and when.
    recorded: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.policy, self.version

    @property
    def name(self) -> str:
        return f"{self.policy}@{self.version}"

    def is_said_by(self, other: Entry | None) -> bool:
        return other is not None and (self.document_id, self.start, self.end, self.withdrawn) == (
            other.document_id,
            other.start,
            other.end,
            other.withdrawn,
        )


def without_given_ends(documents: Sequence[PolicyDocument]) -> list[PolicyDocument]:
    """An end at which the next version starts says nothing of its own: a version put between them moves it."""
    following = {
        id(before): after.valid.start for before, after in pairwise(documents) if before.policy == after.policy
    }
    return [
        document.ending(None)
        if document.valid.end is not None and document.valid.end == following.get(id(document))
        else document
        for document in documents
    ]


def given_entry(document_id: UUID, document: PolicyDocument, present: Mapping[tuple[str, str], Entry]) -> Entry:
    """The entry of a version that is to be published, its own end by its document, or by a withdrawal if that is first.

    Raises:
        PolicyStateError: It would end before it begins.
    """
    head = document.front_matter
    held = present.get((document.policy, document.version))
    # Publishing its text again does not undo a withdrawal.
    held_until = held.end if held is not None and held.withdrawn else None
    withdrawn_from = min((end for end in (document.withdrawn_from, held_until) if end is not None), default=None)
    end = min((end for end in (head.ends, withdrawn_from) if end is not None), default=None)
    if end is not None and end <= head.starts:
        raise PolicyStateError(
            document.policy,
            document.version,
            problem=f"it ends at {end.isoformat()}, before it would begin",
            remedy="give it an earlier start, or a new version another name",
        )
    return Entry(
        policy=document.policy,
        version=document.version,
        topic=head.topic,
        audience=head.audience,
        authority=head.authority,
        document_id=document_id,
        start=head.starts,
        own_end=end,
        end=end,
        withdrawn=end is not None and end == withdrawn_from,
    )


def timelines(given: Sequence[Entry], present: Mapping[tuple[str, str], Entry]) -> list[Entry]:
    """The timelines of all policies as they are to be.

    Raises:
        PolicyOverlapError: Two versions would be in force at once.
        PolicyStateError: One version is given twice.
    """
    for key, n_given in Counter(entry.key for entry in given).items():
        if n_given > 1:
            raise PolicyStateError(*key, problem="it is given twice", remedy="give each version a name of its own")
    entries = {**present, **{entry.key: entry for entry in given}}
    ordered = sorted(entries.values(), key=lambda entry: (entry.policy, entry.start, entry.version))
    return [entry for _, timeline in groupby(ordered, key=attrgetter("policy")) for entry in _ended(list(timeline))]


def check_withdrawal(policy: str, version: str, valid: Period, *, from_: datetime, now: datetime) -> None:
    """Refuse an end of a version that governs in `valid` which would change nothing, or what has been.

    Raises:
        PolicyStateError: It has ended by then, or would never have governed though it did.
    """
    if valid.end is not None and valid.end <= from_:
        raise PolicyStateError(policy, version, problem="it has ended by then", remedy="give an earlier date")
    if from_ <= valid.start <= now:
        raise PolicyStateError(
            policy,
            version,
            problem=f"it has governed since {valid.start.isoformat()}",
            remedy="withdraw it from a later date, or correct it",
        )


def _ended(timeline: Sequence[Entry]) -> Iterator[Entry]:
    for entry, following in pairwise(timeline):
        if entry.start == following.start or (entry.own_end is not None and entry.own_end > following.start):
            published = entry.recorded or following.recorded
            raise PolicyOverlapError(entry.policy, entry.version, following.version, published=published)
        yield replace(entry, end=entry.own_end or following.start)
    yield replace(timeline[-1], end=timeline[-1].own_end)
