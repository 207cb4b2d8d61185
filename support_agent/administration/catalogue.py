"""The policies of a tenant as they are read: which there are, what governs when, one version's text, search."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from policies import search as passages
from policies import store
from policies.text import question_tokens
from policies.version import PolicyVersion, instant_period
from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.rendering.contract import point_json
from support_agent.request import read_instant


async def versions(application: Application, tenant: str, *, known_at: str | None) -> list[dict[str, Any]]:
    """Every version of every policy, by policy and start."""
    async with application.open_tenant(tenant) as (session, settings):
        zone = settings.zone
        found = await store.versions(session, known_at=read_instant("known-at", known_at, zone=zone))
    return [version_json(version) for version in found]


async def as_of(
    application: Application, tenant: str, at: str, *, policy: str | None, known_at: str | None
) -> list[dict[str, Any]]:
    """The version of each policy in force at an instant; `version` is null for a policy without one.

    Raises:
        NotFoundError: The tenant has no such policy.
    """
    async with application.open_tenant(tenant) as (session, settings):
        zone = settings.zone
        instant = read_instant("DATE", at, zone=zone) or datetime.now(UTC)
        known = read_instant("known-at", known_at, zone=zone)
        names = await store.policies(session)
        if policy is not None and policy not in names:
            raise NotFoundError("policy", policy, hint="`support-agent policy list` shows them")
        in_force = {v.policy: v for v in await store.versions_as_of(session, as_of=instant, known_at=known)}
    wanted = [policy] if policy is not None else names
    return [version_json(in_force[name]) if name in in_force else {"policy": name, "version": None} for name in wanted]


async def document(application: Application, tenant: str, name: str, *, known_at: str | None) -> dict[str, Any]:
    """One version with its text: `policy@version`, or the version of `policy` in force now.

    Raises:
        NotFoundError: There is no such policy or version, or none in force.
    """
    policy, _, version = name.partition("@")
    async with application.open_tenant(tenant) as (session, settings):
        zone = settings.zone
        known = read_instant("known-at", known_at, zone=zone)
        if not version:
            found = await store.as_of(session, policy, as_of=datetime.now(UTC), known_at=known)
            version = found.version if found else ""
        found_document = await store.show(session, policy, version, known_at=known) if version else None
    if found_document is None:
        raise NotFoundError("policy version", name, hint="`support-agent policy list` shows them")
    return {
        **version_json(found_document.version),
        "text": found_document.text,
        "sha256": found_document.sha256,
        "approval": found_document.approval,
        "recorded_by": found_document.recorded_by,
        "clauses": [
            {"anchor": clause.anchor, "heading": clause.heading, "lines": list(clause.lines)}
            for clause in found_document.clauses
        ],
    }


async def search(
    application: Application, tenant: str, text: str, *, at: str | None, staff: bool, limit: int
) -> list[dict[str, Any]]:
    """The passages in force nearest to `text`, best first."""
    if not text.strip():
        raise InvalidRequestError("TEXT", "is empty")
    async with application.open_tenant(tenant) as (session, settings):
        zone = settings.zone
        hits = await passages.search(
            session,
            tokens=question_tokens(text),
            vector=await application.vectors.embed_query(text) if application.vectors else None,
            as_of=instant_period(read_instant("at", at, zone=zone) or datetime.now(UTC)),
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
