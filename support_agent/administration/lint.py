"""What is wrong with policies: files before they are published, or what is published."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies import store
from policies.errors import Fault, PolicyParseError
from policies.session import TenantSession
from support_agent.administration.documents import parse_source, published_documents, read_documents, read_source
from support_agent.bootstrap import Application, Progress
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.lint import Finding


async def lint(
    application: Application, tenant: str, path: Path | None, *, overlay: Path | None = None, progress: Progress
) -> list[dict[str, Any]]:
    """Everything to be said of a file or folder of policies, or without one of what is published; by path and line.

    Raises:
        InvalidRequestError: There is no such file or folder, or an overlay goes with a file.
    """
    async with application.open_tenant(tenant) as (session, settings):
        names = await store.policies(session)
        if path is None:
            progress(f"{tenant}: checking {len(names)} policies")
            drafts: Sequence[PolicyDocument] = await published_documents(session, settings, names)
            found = await asyncio.to_thread(_findings, drafts, drafts, settings)
        else:
            try:
                drafts = await _read(session, settings, path, overlay=overlay)
            except PolicyParseError as error:
                return [_fault_json(fault) for fault in error.faults]
            found = await lint_documents(session, settings, drafts)
    return [asdict(finding) for finding in found]


async def lint_documents(session: TenantSession, tenant: Tenant, drafts: Sequence[PolicyDocument]) -> list[Finding]:
    """What lint says of versions that are to be published into the tenant's store."""
    concerned = await _concerned(session, drafts)
    published = await published_documents(session, tenant, concerned)
    return await asyncio.to_thread(_findings, drafts, published, tenant)


async def _concerned(session: TenantSession, drafts: Sequence[PolicyDocument]) -> set[str]:
    """The policies that the drafts can have to do with: of their topics, or named by them."""
    topics = {draft.front_matter.topic for draft in drafts}
    held = await store.topics(session)
    named = {word for draft in drafts for word in re.findall(r"[\w.-]+", f"{draft.text} {draft.keys()}")}
    return {policy for policy, topic in held if topic in topics or policy in named}


def _findings(drafts: Sequence[PolicyDocument], published: Sequence[PolicyDocument], tenant: Tenant) -> list[Finding]:
    from policies.lint import lint as findings  # noqa: PLC0415 - loads the Markdown parser, which is slow

    return findings(
        drafts, published=published, ladder=tenant.ladder, groups=tenant.region_groups, now=datetime.now(UTC)
    )


async def _read(
    session: TenantSession, tenant: Tenant, path: Path, *, overlay: Path | None
) -> Sequence[PolicyDocument]:
    if path.suffix == ".md":
        if overlay is not None:
            raise InvalidRequestError("--overlay", "goes with a folder of policies, not with one file")
        source, sidecar = read_source(path)
        # As it was named on the command line, so that an editor finds it.
        source = replace(source, path=str(path))
        sidecar = sidecar and replace(sidecar, path=str(path.with_name(sidecar.path)))
        return [parse_source(source, tenant, known=await store.term_types(session), sidecar=sidecar)]
    if not await asyncio.to_thread(path.is_dir):
        raise InvalidRequestError("PATH", "is neither a folder of policies nor a file whose name ends in .md")
    return await asyncio.to_thread(read_documents, path, tenant, overlay=overlay)


def _fault_json(fault: Fault) -> dict[str, Any]:
    return {
        "path": fault.path,
        "line": fault.line or 1,
        "rule": "unreadable",
        "severity": "error",
        "message": fault.message,
        "remedy": fault.remedy,
    }
