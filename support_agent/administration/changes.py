"""How a policy changed: the difference of two versions, and its whole history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from policies import store
from policies.events import Event, events
from policies.rows import encode_value
from policies.session import TenantSession
from policies.store import Recording
from support_agent.administration.catalogue import recording_json, standing, standing_json
from support_agent.administration.documents import parse_source, read_source, stored_document
from support_agent.administration.lifecycle import draft_json, stored_draft
from support_agent.bootstrap import Application
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.rendering.contract import point_json
from support_agent.request import read_instant

if TYPE_CHECKING:
    from policies.clauses import DocumentTerm
    from policies.document import PolicyDocument

_HINT: Final = "`support-agent policy history POLICY` shows its versions"


async def diff(
    application: Application, tenant: str, one: str, other: str | None, *, known_at: str | None = None
) -> dict[str, Any]:
    """What differs between two versions.

    Args:
        application: The application.
        tenant: Its slug.
        one: `policy@version`, or the path of a file that ends in `.md`.
        other: As `one`, the newer side. Without it `one` is the newer side: against the version before it, and a file
            against the version that governs when it begins.
        known_at: Stored versions as the store knew them then.

    Raises:
        NotFoundError: There is no such version, or none to compare with.
        PolicyParseError: With everything that is wrong with a file.
    """
    async with application.open_tenant(tenant) as (session, settings):
        known = read_instant("--known-at", known_at, zone=settings.zone)
        newer = await _side(session, settings, other or one, known_at=known)
        if other is None:
            older = await _before(session, settings, newer, known_at=known)
        else:
            older = await _side(session, settings, one, known_at=known)
    return _difference(older, newer)


async def review(application: Application, tenant: str, name: str) -> dict[str, Any]:
    """What approving the open draft of `policy@version` lets be published, beside what is published now.

    Raises:
        PolicyStateError: It has no open draft.
    """
    draft, newer = await stored_draft(application, tenant, name)
    older = None
    async with application.open_tenant(tenant) as (session, settings):
        if newer is not None and draft.kind == "correction":
            older = await stored_document(session, settings, newer.policy, newer.version)
        elif newer is not None:
            older = await _earlier(session, settings, newer, known_at=None)
    return {
        "draft": draft_json(draft, newer),
        # Nothing is left out of either: what cannot be compared is shown whole.
        "diff": None if older is None or newer is None else _difference(older, newer),
        "text": newer.text if newer is not None and older is None else None,
    }


def _difference(older: PolicyDocument, newer: PolicyDocument) -> dict[str, Any]:
    from policies.diff import diff as differences  # noqa: PLC0415 - loads the Markdown parser, which is slow

    found = differences(older, newer)
    return {
        "old": older.name,
        "new": newer.name,
        "keys": [{"key": change.key, "old": change.old, "new": change.new} for change in found.keys],
        "clauses": [
            {
                "kind": change.kind,
                "old": change.old,
                "new": change.new,
                "heading": change.heading,
                "lines": list(change.lines),
                "moved": change.moved,
                "marks": [[mark.operation, mark.text] for mark in change.marks],
                "attributes": [{"key": a.key, "old": a.old, "new": a.new} for a in change.attributes],
            }
            for change in found.clauses
        ],
        "terms": [
            {"name": change.name, "clause": change.clause, "old": _term(change.old), "new": _term(change.new)}
            for change in found.terms
        ],
        "n_unchanged": found.n_unchanged,
    }


async def history(application: Application, tenant: str, policy: str, *, known_at: str | None = None) -> dict[str, Any]:
    """A policy's versions with their gaps, what the store held before a correction, and the log of who did what.

    Raises:
        NotFoundError: The tenant has no such policy, or had none then.
    """
    async with application.open_tenant(tenant) as (session, settings):
        known = read_instant("--known-at", known_at, zone=settings.zone)
        recordings = await store.recordings(session, policy)
        told = await events(session, policy)
    held = standing(recordings, known_at=known)
    earlier = [one for one in recordings if _was_by(one.version.recorded.end, known)]
    if not held and not earlier:
        raise NotFoundError("policy", policy, hint="`support-agent policy list` shows them")
    now = known or datetime.now(UTC)
    return {
        "policy": policy,
        "title": (held or earlier)[-1].version.title,
        "known_at": now.isoformat(),
        "versions": standing_json(held, now=now),
        "gaps": list(_gaps(held)),
        "earlier": [recording_json(recording, now=now) for recording in earlier],
        "events": [_event(event) for event in told if _was_by(event.at, known)],
    }


def _was_by(at: datetime | None, known_at: datetime | None) -> bool:
    # All that was written is past, whatever this machine's clock says; the instants are the database's.
    return at is not None and (known_at is None or at <= known_at)


async def _side(session: TenantSession, tenant: Tenant, name: str, *, known_at: datetime | None) -> PolicyDocument:
    if name.endswith(".md"):
        source, sidecar = read_source(Path(name))
        return parse_source(source, tenant, known=None, sidecar=sidecar)
    policy, _, version = name.partition("@")
    if not version:
        raise InvalidRequestError("VERSION", "must be POLICY@VERSION, or a file whose name ends in .md")
    found = await stored_document(session, tenant, policy, version, known_at=known_at)
    if found is None:
        raise NotFoundError("policy version", name, hint=_HINT)
    return found


async def _before(
    session: TenantSession, tenant: Tenant, newer: PolicyDocument, *, known_at: datetime | None
) -> PolicyDocument:
    """The version that `newer` follows in time.

    Raises:
        NotFoundError: It is the first.
    """
    found = await _earlier(session, tenant, newer, known_at=known_at)
    if found is None:
        raise NotFoundError("version before", newer.name, hint=f"name the one to compare with; {_HINT}")
    return found


async def _earlier(
    session: TenantSession, tenant: Tenant, newer: PolicyDocument, *, known_at: datetime | None
) -> PolicyDocument | None:
    held = await store.versions(session, newer.policy, known_at=known_at)
    earlier = [version.version for version in held if version.valid.start < newer.valid.start]
    if not earlier:
        return None
    return await stored_document(session, tenant, newer.policy, earlier[-1], known_at=known_at)


def _term(term: DocumentTerm | None) -> dict[str, Any] | None:
    if term is None:
        return None
    return {"value": encode_value(term.value), "rule": term.rule, "type": term.type, "better": term.better}


def _gaps(standing: Sequence[Recording]) -> Iterator[dict[str, Any]]:
    for before, after in pairwise(standing):
        end, start = before.version.valid.end, after.version.valid.start
        if end is not None and end < start:
            zone = before.version.zone
            yield {"from": point_json(end, zone), "to": point_json(start, zone), "after": before.version.version}
    if standing and (last := standing[-1].version).valid.end is not None:
        yield {"from": point_json(last.valid.end, last.zone), "to": None, "after": last.version}


def _event(event: Event) -> dict[str, Any]:
    return {
        "at": None if event.at is None else event.at.isoformat(),
        "person": event.person,
        "action": event.action,
        "version": event.version,
        "why": event.why,
        "details": dict(event.details),
    }
