"""The steps of a change: submitted, approved by a second person, published; each is an event in the log.

A new version, a correction, a rollback and a withdrawal all take these steps. Until the last one nothing that governs
has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, LiteralString

from policies import drafts
from policies.drafts import Content, Draft, Kind
from policies.errors import PolicyStateError
from policies.events import Action, Event, record
from policies.publishing import clock, lock, not_published, publish, withdraw
from policies.session import TenantSession
from policies.superseding import check_withdrawal
from policies.version import Period

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.embedding import Embedders

_RECORDED: Final[LiteralString] = """
select d.sha256, v.valid_from, v.valid_to, v.recorded_to, v.withdrawn
from policy_versions v
join policy_documents d on d.tenant_id = v.tenant_id and d.document_id = v.document_id
where v.tenant_id = %(tenant)s and v.policy_id = %(policy)s and v.version = %(version)s
order by v.recorded_from desc limit 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A version as it was last recorded."""

    sha256: str
    valid: Period
    #: Whether the store still holds it so.
    stands: bool
    withdrawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What became of a draft."""

    draft: Draft
    #: From when it governs, or no longer does.
    effective_from: datetime
    #: Whether that lies ahead.
    scheduled: bool


async def submit(session: TenantSession, document: PolicyDocument, *, content: Content, kind: Kind, by: str) -> Draft:
    """Put a new version, a correction or a rollback in review.

    Raises:
        PolicyStateError: The version is published already, or for a correction is not; or nothing differs.
    """
    await lock(session, [document.policy])
    await _check_text(session, document, kind)
    return await _in_review(session, document.policy, document.version, kind=kind, content=content, by=by)


async def submit_withdrawal(session: TenantSession, policy: str, version: str, *, content: Content, by: str) -> Draft:
    """Put the end of a published version in review.

    Raises:
        PolicyStateError: The version is not published, has ended by then, or has governed from an earlier day.
    """
    await lock(session, [policy])
    held = await _recorded(session, policy, version)
    if held is None or not held.stands:
        raise not_published(policy, version)
    assert content.withdrawn_from is not None  # noqa: S101 - what makes it a withdrawal
    check_withdrawal(policy, version, held.valid, from_=content.withdrawn_from, now=await clock(session))
    return await _in_review(session, policy, version, kind="withdrawal", content=content, by=by)


async def approve(
    session: TenantSession, policy: str, version: str, *, by: str, why: str | None, seen: str | None = None
) -> Draft:
    """Approve the open draft of a version, exactly as it stands.

    Args:
        session: A session of the tenant.
        policy: Its policy.
        version: The version.
        by: Who approves.
        why: Their reason, for the log.
        seen: Hash of the content that they looked at, when they did.

    Raises:
        PolicyStateError: There is none in review, `by` wrote it, or it has changed since it was seen.
    """
    draft = await open_draft(session, policy, version)
    if seen is not None and seen != draft.content.sha256:
        raise PolicyStateError(
            policy,
            version,
            problem=f"{draft.author!r} has changed it meanwhile",
            remedy="look at it again: `policy review`",
        )
    await drafts.approve(session, draft, by=by)
    return await _told(session, draft, "approved", by=by, why=why)


async def send_back(session: TenantSession, policy: str, version: str, *, by: str, why: str) -> Draft:
    """Return the open draft of a version to its author.

    Raises:
        PolicyStateError: There is none in review or approved.
    """
    draft = await open_draft(session, policy, version)
    await drafts.send_back(session, draft, by=by)
    return await _told(session, draft, "sent_back", by=by, why=why)


async def discard(session: TenantSession, policy: str, version: str, *, by: str, why: str | None) -> Draft:
    """Give the open draft of a version up.

    Raises:
        PolicyStateError: There is none.
    """
    draft = await open_draft(session, policy, version)
    await drafts.discard(session, draft)
    return await _told(session, draft, "discarded", by=by, why=why)


async def carry_out(
    session: TenantSession,
    draft: Draft,
    document: PolicyDocument | None,
    *,
    scheduled: bool,
    by: str,
    embedder: Embedders | None = None,
) -> Published:
    """Publish what a draft says.

    Args:
        session: A session of the tenant, in read-committed isolation.
        draft: What `open_draft` gave in this transaction, which holds it and its policy.
        document: What its text reads as now; None for a withdrawal.
        scheduled: Whether its start is meant to lie ahead: nobody schedules or publishes by accident.
        by: Who publishes.
        embedder: Gives new passages their vectors.

    Raises:
        PolicyStateError: It is not approved, what it is about has changed meanwhile, or its start says otherwise than
            `scheduled`.
        PolicyOverlapError: Another version is in force at the same time.
    """
    drafts.require_approved(draft)
    starts = draft.content.withdrawn_from if document is None else document.valid.start
    assert starts is not None  # noqa: S101 - a draft without a text is a withdrawal, which has a date
    ahead = starts > await clock(session)
    if ahead != scheduled:
        raise _other_command(draft, starts, ahead=ahead)
    approval, why = str(draft.reviewer), draft.content.why
    if document is None:
        await withdraw(session, draft.policy, draft.version, from_=starts, approval=approval, by=by)
        details = {"approval": approval, "withdrawn_from": starts.isoformat()}
        await record(session, [_event(draft, "withdrawn", by=by, why=why, details=details)])
    else:
        await _check_text(session, document, draft.kind)
        await publish(session, [document], approval=approval, by=by, why=why, embedder=embedder)
    await drafts.mark_published(session, draft)
    return Published(draft=draft, effective_from=starts, scheduled=ahead)


async def open_draft(session: TenantSession, policy: str, version: str) -> Draft:
    """The open draft of a version; it and its policy are held until the transaction ends.

    Raises:
        PolicyStateError: There is none.
    """
    # The policy before the draft, as whoever submits takes them: in the other order two people wait in a circle.
    await lock(session, [policy])
    found = await drafts.open_draft(session, policy, version)
    if found is None:
        remedy = "submit one; `policy list --drafts` shows them"
        raise PolicyStateError(policy, version, problem="it has no open draft", remedy=remedy)
    return found


async def _in_review(
    session: TenantSession, policy: str, version: str, *, kind: Kind, content: Content, by: str
) -> Draft:
    draft = await drafts.put_in_review(session, policy, version, kind=kind, content=content, author=by)
    return await _told(session, draft, "submitted", by=by, why=content.why)


async def _told(session: TenantSession, draft: Draft, action: Action, *, by: str, why: str | None) -> Draft:
    """The draft after a step, once the log tells of it."""
    details = {"kind": draft.kind, "sha256": draft.content.sha256}
    await record(session, [_event(draft, action, by=by, why=why, details=details)])
    return await drafts.open_draft(session, draft.policy, draft.version) or draft


def _event(draft: Draft, action: Action, *, by: str, why: str | None, details: Mapping[str, Any]) -> Event:
    return Event(policy=draft.policy, version=draft.version, action=action, person=by, why=why, details=details)


async def _recorded(session: TenantSession, policy: str, version: str) -> _Recorded | None:
    """The last recording of a version, standing or not."""
    rows = await session.fetch(_RECORDED, {"tenant": session.tenant_id, "policy": policy, "version": version})
    if not rows:
        return None
    sha256, start, end, recorded_to, withdrawn = rows[0]
    stands = recorded_to is None
    return _Recorded(sha256=sha256, valid=Period(start=start, end=end), stands=stands, withdrawn=withdrawn)


async def _check_text(session: TenantSession, document: PolicyDocument, kind: Kind) -> None:
    refused = partial(PolicyStateError, document.policy, document.version)
    held = await _recorded(session, document.policy, document.version)
    if kind != "correction":
        if held is not None and held.stands:
            raise refused(
                problem="it is published, and published text never changes",
                remedy="`policy correct` puts a mistake right; a new rule is a new version",
            )
        if held is not None:
            raise refused(problem="it was withdrawn before it began", remedy="give the new one another name")
        return
    if held is None or not held.stands:
        raise not_published(document.policy, document.version)
    if held.withdrawn:
        raise refused(problem="it is withdrawn", remedy="publish a new version, from the day it governs again")
    if held.sha256 == document.fingerprint:
        raise refused(problem="it says what is published already", remedy="change the text, then correct it")


def _other_command(draft: Draft, starts: datetime, *, ahead: bool) -> PolicyStateError:
    when = "lies ahead" if ahead else "has come"
    command = "schedule" if ahead else "publish"
    return PolicyStateError(
        draft.policy,
        draft.version,
        problem=f"its date, {starts.isoformat()}, {when}",
        remedy=f"use `policy {command} {draft.name}`",
    )
