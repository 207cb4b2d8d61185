"""From a file to what governs: submitted, approved by a second person, published."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from policies import drafts, lifecycle, store
from policies.drafts import Content, Draft
from policies.errors import Fault, PolicyParseError
from policies.session import TenantSession
from policies.written_keys import restarted, written_date, written_keys
from support_agent.administration.documents import SIDECAR, parse_file, parse_text
from support_agent.administration.lint import lint_documents
from support_agent.bootstrap import Application
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.request import first_instant

if TYPE_CHECKING:
    from policies.document import PolicyDocument

_SKELETON: Final = """\
---
policy: {policy}
topic: {policy}
title: {policy}
authority: {authority}
effective_from: {start}
time_zone: {zone}
language: {language}
owner:
---
## First clause {{#first-clause}}

What holds, in the words that an answer may quote.
"""


async def new(
    application: Application,
    tenant: str,
    policy: str,
    *,
    from_version: str | None,
    effective_from: str | None,
    output: Path | None,
) -> dict[str, Any]:
    """Write a file to edit: a copy of a version with a new start, or a skeleton where the policy has none yet.

    Raises:
        InvalidRequestError: The file is there already, or the date is none.
        NotFoundError: There is no such version.
    """
    async with application.open_tenant(tenant) as (session, settings):
        if from_version is None:
            found = await store.as_of(session, policy, as_of=datetime.now(UTC))
            from_version = found.version if found is not None else None
        held = None if from_version is None else await store.source(session, policy, from_version)
    if from_version is not None and held is None:
        raise NotFoundError("policy version", f"{policy}@{from_version}", hint="`support-agent policy list` shows them")
    zone = settings.zone if held is None else ZoneInfo(held.attributes["time_zone"])
    start = effective_from or datetime.now(zone).date().isoformat()
    first_instant("--effective-from", start, zone=zone)
    path = output or Path(f"{start[:10]}.md")
    _write_new(path, _skeleton(policy, settings, start=start) if held is None else restarted(held.text, start=start))
    if held is not None and held.sidecar is not None:
        _write_new(path.with_name(f"{path.stem}{SIDECAR}"), held.sidecar)
    return {"policy": policy, "from": from_version, "file": str(path), "effective_from": start}


def _skeleton(policy: str, tenant: Tenant, *, start: str) -> str:
    rank = "corporate" if "corporate" in tenant.ladder else min(tenant.ladder.rungs[-1])
    return _SKELETON.format(policy=policy, authority=rank, start=start, zone=tenant.time_zone, language=tenant.locale)


async def submit(application: Application, tenant: str, file: Path, *, by: str, why: str | None) -> dict[str, Any]:
    """Put a new version in review.

    Raises:
        PolicyParseError: With everything that is wrong with the file.
        PolicyStateError: The version is published already.
    """
    return await _hand_in(application, tenant, file, kind="version", by=by, why=why)


async def correct(application: Application, tenant: str, file: Path, *, by: str, why: str) -> dict[str, Any]:
    """Put a correction of a published version in review.

    Raises:
        PolicyParseError: With everything that is wrong with the file.
        PolicyStateError: The version is not published, or nothing differs.
    """
    return await _hand_in(application, tenant, file, kind="correction", by=by, why=why)


async def roll_back(
    application: Application, tenant: str, name: str, *, start: str, version: str | None, by: str, why: str
) -> dict[str, Any]:
    """Put a new version with the text of an old one in review.

    Raises:
        NotFoundError: There is no such version.
        PolicyStateError: The new version's name is taken.
    """
    policy, old = _split(name)
    async with application.open_tenant(tenant) as (session, settings):
        held = await store.source(session, policy, old)
        if held is None:
            raise NotFoundError("policy version", name, hint="`support-agent policy list` shows them")
        first_instant("--from", start, zone=ZoneInfo(held.attributes["time_zone"]))
        keys = {key: value for key, value in written_keys(held.attributes).items() if key != "effective_to"}
        content = Content(
            why=why, text=restarted(held.text, start=start), sidecar=held.sidecar, keys=keys | {"effective_from": start}
        )
        document = await _parsed(session, settings, content, policy, version or start[:10])
        draft = await lifecycle.submit(session, document, content=content, kind="rollback", by=by)
    return draft_json(draft, document)


async def withdraw(
    application: Application, tenant: str, name: str, *, start: str, by: str, why: str
) -> dict[str, Any]:
    """Put the end of a published version in review.

    Raises:
        PolicyStateError: The version is not published.
    """
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, settings):
        held = await store.source(session, policy, version)
        zone = settings.zone if held is None else ZoneInfo(held.attributes["time_zone"])
        content = Content(why=why, withdrawn_from=first_instant("--from", start, zone=zone))
        draft = await lifecycle.submit_withdrawal(session, policy, version, content=content, by=by)
    return draft_json(draft)


async def approve(
    application: Application, tenant: str, name: str, *, by: str, why: str | None, seen: str | None = None
) -> dict[str, Any]:
    """Approve the open draft of a version, as another person than its author.

    Args:
        application: The application.
        tenant: Its slug.
        name: `policy@version`.
        by: Who approves.
        why: Their reason, for the log.
        seen: Hash of the content that they looked at; other content is refused.

    Raises:
        PolicyStateError: There is none in review, `by` wrote it, or it has changed since it was seen.
    """
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, _):
        return draft_json(await lifecycle.approve(session, policy, version, by=by, why=why, seen=seen))


async def send_back(application: Application, tenant: str, name: str, *, by: str, why: str) -> dict[str, Any]:
    """Return the open draft of a version to its author."""
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, _):
        return draft_json(await lifecycle.send_back(session, policy, version, by=by, why=why))


async def discard(application: Application, tenant: str, name: str, *, by: str, why: str | None) -> dict[str, Any]:
    """Give the open draft of a version up."""
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, _):
        return draft_json(await lifecycle.discard(session, policy, version, by=by, why=why))


async def publish(application: Application, tenant: str, name: str, *, scheduled: bool, by: str) -> dict[str, Any]:
    """Publish the approved draft of a version whose date has come, or schedule one whose date lies ahead.

    Args:
        application: The application.
        tenant: Its slug.
        name: `policy@version`.
        scheduled: Whether the date is meant to lie ahead.
        by: Who publishes.

    Raises:
        PolicyStateError: It is not approved, or its date says otherwise than `scheduled`.
        PolicyOverlapError: Another version is in force at the same time.
    """
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, settings):
        draft = await lifecycle.open_draft(session, policy, version)
        document = await _document(session, settings, draft)
        done = await lifecycle.carry_out(
            session, draft, document, scheduled=scheduled, by=by, embedder=application.vectors
        )
        zone = settings.zone if document is None else ZoneInfo(document.front_matter.time_zone)
        when = written_date(done.effective_from, zone)
    state = "withdrawn" if document is None else "scheduled" if scheduled else "published"
    return draft_json(replace(draft, state="published")) | {"state": state, "effective_from": when}


async def open_drafts(application: Application, tenant: str) -> list[dict[str, Any]]:
    """The drafts on their way, by policy and version."""
    async with application.open_tenant(tenant) as (session, _):
        return [draft_json(draft) for draft in await drafts.drafts(session)]


async def stored_draft(application: Application, tenant: str, name: str) -> tuple[Draft, PolicyDocument | None]:
    """The open draft of a version and the document that its text reads as; None for a withdrawal."""
    policy, version = _split(name)
    async with application.open_tenant(tenant) as (session, settings):
        draft = await lifecycle.open_draft(session, policy, version)
        return draft, await _document(session, settings, draft)


def draft_json(draft: Draft, document: PolicyDocument | None = None) -> dict[str, Any]:
    """What every listing says of a draft."""
    said: dict[str, Any] = {
        "policy": draft.policy,
        "version": draft.version,
        "kind": draft.kind,
        "state": draft.state,
        "author": draft.author,
        "reviewer": draft.reviewer,
        "why": draft.content.why,
        "sha256": draft.content.sha256,
        "changed_at": draft.changed_at.isoformat(),
    }
    if draft.content.withdrawn_from is not None:
        said["withdrawn_from"] = draft.content.withdrawn_from.isoformat()
    if document is not None:
        head = document.front_matter
        said["effective_from"] = written_date(head.starts, ZoneInfo(head.time_zone))
    return said


async def _hand_in(
    application: Application, tenant: str, file: Path, *, kind: drafts.Kind, by: str, why: str | None
) -> dict[str, Any]:
    async with application.open_tenant(tenant) as (session, settings):
        document, keys = await parse_file(session, settings, file, corrects=kind == "correction")
        content = Content(why=why, text=document.text, sidecar=document.sidecar, keys=keys)
        found = await lint_documents(session, settings, [document])
        errors = [finding for finding in found if finding.severity == "error"]
        if errors:
            raise PolicyParseError(
                Fault(path=str(file), line=finding.line, message=finding.message, remedy=finding.remedy)
                for finding in errors
            )
        draft = await lifecycle.submit(session, document, content=content, kind=kind, by=by)
    return draft_json(draft, document) | {"warnings": [asdict(finding) for finding in found]}


async def _document(session: TenantSession, tenant: Tenant, draft: Draft) -> PolicyDocument | None:
    if draft.kind == "withdrawal":
        return None
    return await _parsed(session, tenant, draft.content, draft.policy, draft.version)


async def _parsed(
    session: TenantSession, tenant: Tenant, content: Content, policy: str, version: str
) -> PolicyDocument:
    known = await store.term_types(session)
    return parse_text(
        content.text or "", content.sidecar, tenant, policy=policy, version=version, keys=content.keys, known=known
    )


def _split(name: str) -> tuple[str, str]:
    policy, _, version = name.partition("@")
    if not policy or not version:
        raise InvalidRequestError("NAME", "must be POLICY@VERSION, such as refund-eu@2026-03-01")
    return policy, version


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise InvalidRequestError("--output", f"{path} is there already; name another file") from error
    except OSError as error:
        raise InvalidRequestError("--output", f"{path} cannot be written ({error.strerror})") from error
