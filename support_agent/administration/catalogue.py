"""The policies of a tenant as they are read: which there are, what governs when, one version's text, search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from policies import search as passages
from policies import store
from policies.events import Event, events
from policies.reembedding import vector_model
from policies.store import Recording
from policies.text import question_tokens
from policies.version import PolicyVersion, instant_period
from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.rendering.contract import point_json
from support_agent.request import read_instant


async def versions(application: Application, tenant: str, *, known_at: str | None) -> list[dict[str, Any]]:
    """Every version of every policy, by policy and start."""
    async with application.open_tenant(tenant) as (session, settings):
        known = read_instant("--known-at", known_at, zone=settings.zone)
        recordings = await store.recordings(session)
    return standing_json(standing(recordings, known_at=known), now=known or datetime.now(UTC))


async def as_of(
    application: Application, tenant: str, at: str, *, policy: str | None, known_at: str | None
) -> list[dict[str, Any]]:
    """The version of each policy in force at an instant, and the `next` one; `version` is null for a policy in a gap.

    Raises:
        NotFoundError: The tenant has no such policy.
    """
    async with application.open_tenant(tenant) as (session, settings):
        zone = settings.zone
        instant = read_instant("DATE", at, zone=zone) or datetime.now(UTC)
        known = read_instant("--known-at", known_at, zone=zone)
        names = await store.policies(session)
        if policy is not None and policy not in names:
            raise NotFoundError("policy", policy, hint="`support-agent policy list` shows them")
        held = await store.versions(session, policy, known_at=known)
    in_force = {version.policy: version for version in held if version.valid.contains(instant)}
    # By start, so that the last one written is the first to come.
    ahead = {version.policy: version for version in reversed(held) if version.valid.start > instant}
    return [
        {
            **(version_json(in_force[name]) if name in in_force else {"policy": name, "version": None}),
            "next": _next(ahead.get(name)),
        }
        for name in ([policy] if policy is not None else names)
    ]


def _next(version: PolicyVersion | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {"version": version.version, "effective_from": point_json(version.valid.start, version.zone)}


async def document(application: Application, tenant: str, name: str, *, known_at: str | None) -> dict[str, Any]:
    """One version with its text: `policy@version`, or the version of `policy` in force now.

    Raises:
        NotFoundError: There is no such policy or version, or none in force.
    """
    policy, _, version = name.partition("@")
    async with application.open_tenant(tenant) as (session, settings):
        known = read_instant("--known-at", known_at, zone=settings.zone)
        if not version:
            in_force = await store.as_of(session, policy, as_of=datetime.now(UTC), known_at=known)
            version = in_force.version if in_force else ""
        held = await store.show(session, policy, version, known_at=known) if version else None
        told = await events(session, policy)
    if held is None:
        raise NotFoundError("policy version", name, hint="`support-agent policy list` shows them")
    return {
        **version_json(held.version),
        "text": held.text,
        "sha256": held.sha256,
        "approval": held.approval,
        "recorded_by": held.recorded_by,
        "why": _reason(told, held.version),
        "clauses": [
            {"anchor": clause.anchor, "heading": clause.heading, "lines": list(clause.lines)} for clause in held.clauses
        ],
    }


async def search(
    application: Application, tenant: str, text: str, *, at: str | None, staff: bool, limit: int
) -> list[dict[str, Any]]:
    """The passages in force nearest to `text`, best first."""
    if not text.strip():
        raise InvalidRequestError("TEXT", "is empty")
    async with application.open_tenant(tenant) as (session, settings):
        instant = read_instant("--at", at, zone=settings.zone) or datetime.now(UTC)
        model = await vector_model(session)
        hits = await passages.search(
            session,
            tokens=question_tokens(text),
            vector=await application.vectors.of(model).embed_query(text) if application.vectors else None,
            model=model,
            as_of=instant_period(instant),
            audiences=("public", "staff") if staff else ("public",),
            known={},
            groups={},
            topic=None,
            authorities=None,
            limit=limit,
        )
    return [
        {
            "clause": hit.clause.locator,
            "heading": hit.clause.heading,
            "quote": hit.text,
            "lines": list(hit.lines),
            "score": round(hit.score, 6),
            "found_by": list(hit.found_by),
        }
        for hit in hits
    ]


def _reason(told: Sequence[Event], version: PolicyVersion) -> str | None:
    """Why the text that a version has was published, as the log has it."""
    reasons = [
        event.why
        for event in told
        if event.version == version.version
        and event.action in {"published", "corrected"}
        and event.at is not None
        and (version.recorded.end is None or event.at < version.recorded.end)
    ]
    return reasons[-1] if reasons else None


def standing(recordings: Iterable[Recording], *, known_at: datetime | None) -> list[Recording]:
    """Those of `recordings` that the store held then; without an instant, those that it holds."""
    held = ((recording, recording.version.recorded) for recording in recordings)
    return [one for one, period in held if (period.end is None if known_at is None else period.contains(known_at))]


def standing_json(standing: Sequence[Recording], *, now: datetime) -> list[dict[str, Any]]:
    """Versions that stand together, by policy and start, each with its state."""
    following = [*standing[1:], None]
    return [recording_json(one, now=now, following=next_) for one, next_ in zip(standing, following, strict=True)]


def recording_json(recording: Recording, *, now: datetime, following: Recording | None = None) -> dict[str, Any]:
    """A version as the store held it, with its state; `following` is the recording after it in time, of any policy."""
    return {
        **version_json(recording.version),
        "state": _state(recording, now=now, following=following),
        "approval": recording.approval,
        "recorded_by": recording.recorded_by,
    }


def _state(recording: Recording, *, now: datetime, following: Recording | None) -> str:
    valid = recording.version.valid
    if recording.version.recorded.end is not None and recording.version.recorded.end <= now:
        return "corrected"
    if valid.start > now:
        return "scheduled"
    if valid.contains(now):
        return "in_force"
    if recording.withdrawn:
        return "withdrawn"
    if following is None or following.version.policy != recording.version.policy:
        return "expired"
    return "superseded" if following.version.valid.start == valid.end else "expired"


def version_json(version: PolicyVersion) -> dict[str, Any]:
    """What every listing says of one version; dates are those of its own zone."""
    zone, valid = version.zone, version.valid
    return {
        "policy": version.policy,
        "version": version.version,
        "title": version.title,
        "topic": version.topic,
        "language": version.language,
        "authority": version.authority,
        "audience": version.audience,
        "effective_from": point_json(valid.start, zone),
        "effective_to": point_json(valid.end, zone) if valid.end else None,
        "time_zone": version.time_zone,
        "governed_by": version.governed_by,
        "applies_to": {name: sorted(values) for name, values in version.applies_to.dimensions().items()},
        "recorded_from": version.recorded.start.isoformat(),
        "recorded_to": version.recorded.end.isoformat() if version.recorded.end else None,
    }
