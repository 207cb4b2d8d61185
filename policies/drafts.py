"""Drafts: what is to be published, and how far it has come.

A draft belongs to one version of one policy, and at most one is open for it. Submitting puts it in review; a second
person approves exactly that content or sends it back; only what is approved is published. A change of content starts
over. Who is the same person is told by the name, however it is typed.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, LiteralString, TypeAlias
from uuid import UUID, uuid4

import orjson

from policies.errors import PolicyStateError
from policies.session import TenantSession

Kind: TypeAlias = Literal["version", "correction", "rollback", "withdrawal"]
State: TypeAlias = Literal["draft", "in_review", "approved", "published", "discarded"]

_COLUMNS: Final[LiteralString] = (
    "draft_id, policy_id, version, kind, state, content, author, reviewer, created_at, changed_at"
)
_OPEN: Final[LiteralString] = f"""
select {_COLUMNS} from policy_drafts
where tenant_id = %(tenant)s and policy_id = %(policy)s and version = %(version)s
  and state in ('draft', 'in_review', 'approved')
for update
"""
_ALL: Final[LiteralString] = f"""
select {_COLUMNS} from policy_drafts
where tenant_id = %(tenant)s and (%(closed)s or state in ('draft', 'in_review', 'approved'))
order by policy_id collate "C", version collate "C", created_at
"""
_ADD: Final[LiteralString] = """
insert into policy_drafts (tenant_id, draft_id, policy_id, version, kind, state, content, author)
values (%(tenant)s, %(draft)s, %(policy)s, %(version)s, %(kind)s, 'in_review', %(content)s::jsonb, %(author)s)
"""
_CHANGE: Final[LiteralString] = """
update policy_drafts
set state = %(state)s, content = %(content)s::jsonb, author = %(author)s, reviewer = %(reviewer)s,
    changed_at = clock_timestamp()
where tenant_id = %(tenant)s and draft_id = %(draft)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a draft would publish: a text with what was said beside it, or the end of a version."""

    why: str | None
    #: The Markdown and its sidecar as they were handed in; None for a withdrawal.
    text: str | None = None
    sidecar: str | None = None
    #: Front-matter keys that hold where text and sidecar say nothing.
    keys: dict[str, Any] | None = None
    #: Of a withdrawal: the instant from which the version no longer governs.
    withdrawn_from: datetime | None = None

    @property
    def json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.json).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A change of one version, on its way to being published."""

    id: UUID
    policy: str
    version: str
    kind: Kind
    state: State
    content: Content
    #: Who last changed the content.
    author: str
    #: Who approved it, or sent it back.
    reviewer: str | None
    created_at: datetime
    changed_at: datetime

    @property
    def name(self) -> str:
        return f"{self.policy}@{self.version}"


def is_same_person(one: str, other: str) -> bool:
    """Whether two names are one person's: width, case and blanks around make no second person."""
    return _person(one) == _person(other)


def _person(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


async def open_draft(session: TenantSession, policy: str, version: str) -> Draft | None:
    """The open draft of a version, held until the transaction ends; None when there is none."""
    rows = await session.fetch(_OPEN, {"tenant": session.tenant_id, "policy": policy, "version": version})
    return _draft(rows[0]) if rows else None


async def drafts(session: TenantSession, *, closed: bool = False) -> list[Draft]:
    """The open drafts, by policy and version; with `closed`, also those that were published or discarded."""
    rows = await session.fetch(_ALL, {"tenant": session.tenant_id, "closed": closed})
    return [_draft(row) for row in rows]


async def put_in_review(
    session: TenantSession, policy: str, version: str, *, kind: Kind, content: Content, author: str
) -> Draft:
    """Store `content` as the open draft of a version, in review; an earlier approval of other content is void.

    The caller holds the policy's lock: two who submit at once take their turns.

    Raises:
        PolicyStateError: The version has an open draft of another kind.
    """
    held = await open_draft(session, policy, version)
    if held is not None and held.kind != kind:
        raise PolicyStateError(
            policy,
            version,
            problem=f"{held.author!r} has a {held.kind} of it open",
            remedy="publish or discard that first",
        )
    if held is not None:
        await _save(session, replace(held, state="in_review", content=content, author=author, reviewer=None))
    else:
        added = {
            "tenant": session.tenant_id, "draft": uuid4(), "policy": policy, "version": version, "kind": kind,
            "content": content.json.decode(), "author": author,
        }  # fmt: skip
        await session.fetch(_ADD, added)
    stored = await open_draft(session, policy, version)
    assert stored is not None  # noqa: S101 - written above, in this transaction
    return stored


async def approve(session: TenantSession, draft: Draft, *, by: str) -> None:
    """Approve exactly the content of `draft`.

    Raises:
        PolicyStateError: It is not in review, or `by` is its author.
    """
    _require(draft, "in_review", step="approved")
    if is_same_person(draft.author, by):
        raise PolicyStateError(
            draft.policy,
            draft.version,
            problem=f"{draft.author!r} wrote it, and nobody approves their own change",
            remedy="ask a second person to approve it",
        )
    await _save(session, replace(draft, state="approved", reviewer=by))


async def send_back(session: TenantSession, draft: Draft, *, by: str) -> None:
    """Return it to its author as a draft; submitting it again puts it back in review."""
    _require(draft, "in_review", "approved", step="sent back")
    await _save(session, replace(draft, state="draft", reviewer=by))


async def discard(session: TenantSession, draft: Draft) -> None:
    """Give it up; the version may have another draft afterwards."""
    await _save(session, replace(draft, state="discarded"))


async def mark_published(session: TenantSession, draft: Draft) -> None:
    """Close it: what it says is published.

    Raises:
        PolicyStateError: It is not approved.
    """
    require_approved(draft)
    await _save(session, replace(draft, state="published"))


def require_approved(draft: Draft) -> None:
    """Refuse a draft that nobody approved.

    Raises:
        PolicyStateError: It is not approved.
    """
    _require(draft, "approved", step="published")


_REMEDIES: Final = {
    "draft": "it was sent back to its author, who submits it again",
    "in_review": "a second person approves it first: `policy approve`",
    "approved": "it is approved: publish it, schedule it, or send it back",
}


def _require(draft: Draft, *states: State, step: str) -> None:
    if draft.state not in states:
        raise PolicyStateError(
            draft.policy,
            draft.version,
            problem=f"its {draft.kind} is {draft.state.replace('_', ' ')} and cannot be {step}",
            remedy=_REMEDIES[draft.state],
        )


async def _save(session: TenantSession, draft: Draft) -> None:
    parameters = {
        "tenant": session.tenant_id, "draft": draft.id, "state": draft.state, "content": draft.content.json.decode(),
        "author": draft.author, "reviewer": draft.reviewer,
    }  # fmt: skip
    await session.fetch(_CHANGE, parameters)


def _draft(row: Sequence[Any]) -> Draft:
    draft_id, policy, version, kind, state, said, author, reviewer, created_at, changed_at = row
    ends = said["withdrawn_from"]
    content = Content(
        why=said["why"], text=said["text"], sidecar=said["sidecar"], keys=said["keys"],
        withdrawn_from=None if ends is None else datetime.fromisoformat(ends),
    )  # fmt: skip
    return Draft(
        id=draft_id, policy=policy, version=version, kind=kind, state=state, content=content, author=author,
        reviewer=reviewer, created_at=created_at, changed_at=changed_at,
    )  # fmt: skip
