"""Folders of policies: read into the store, and written out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policies import store
from policies.authority import Ladder
from policies.exporting import exported_files
from support_agent.administration.documents import read_documents, refuse_in_bulk
from support_agent.bootstrap import Application, Progress
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError, TenantExistsError
from support_agent.request import read_instant
from support_agent.storage import tenants
from support_agent.tenants.folder import new_tenant_files, read_tenant


async def import_policies(  # noqa: PLR0913 - what the command may say
    application: Application,
    folder: Path,
    tenant: str,
    *,
    publish: bool,
    create_tenant: bool,
    time_zone: str | None,
    authorities: str | None,
    overlay: Path | None,
    imported_by: str,
    progress: Progress,
) -> dict[str, Any]:
    """Read and check a folder of policies and, if asked to, publish all of it or nothing.

    Raises:
        PolicyParseError: With every fault of every file.
    """
    async with application.open_session(tenant) as session:
        found = await tenants.load(session)
        if found is None and not create_tenant:
            raise NotFoundError("tenant", tenant, hint="add --create-tenant to make it")
        files = found[0] if found else new_tenant_files(tenant, time_zone=time_zone, authorities=authorities)
        current = read_tenant(files, revision=0)
        if found is not None:
            _check_unchanged(current, time_zone=time_zone, authorities=authorities)
        if not await asyncio.to_thread(folder.is_dir):
            raise InvalidRequestError("FOLDER", "is not a folder")
        documents = await asyncio.to_thread(read_documents, folder, current, overlay=overlay)
        report = {
            "tenant": tenant,
            "n_policies": len({document.policy for document in documents}),
            "n_versions": len(documents),
            "n_published": 0,
            "n_unchanged": 0,
        }
        if publish:
            progress(f"{tenant}: {report['n_versions']} versions read, publishing")
            await tenants.save(session, tenant, dict(files))
            done = await store.publish(
                session, documents, approval="imported", by=imported_by, embedder=application.vectors
            )
            refuse_in_bulk(found[0] if found else None, done)
            report |= {
                "n_published": len(done.added) + len(done.corrected),
                "n_unchanged": len(done.unchanged),
            }
    return report


async def export_policies(
    application: Application,
    folder: Path,
    tenant: str,
    *,
    policies: Sequence[str],
    known_at: str | None,
    progress: Progress,
) -> dict[str, Any]:
    """Write the published policies out as a folder that `policy import` reads back to the same store.

    Raises:
        InvalidRequestError: The folder holds something already, or cannot be written.
        NotFoundError: The tenant has no such policy.
    """
    async with application.open_tenant(tenant) as (session, settings):
        names = await store.policies(session)
        for policy in policies:
            if policy not in names:
                raise NotFoundError("policy", policy, hint="`support-agent policy list` shows them")
        known = read_instant("known-at", known_at, zone=settings.zone)
        versions = await store.sources(session, policies or names, known_at=known)
    progress(f"{tenant}: writing {len(versions)} versions")
    files = exported_files(versions, time_zone=settings.time_zone)
    await asyncio.to_thread(_write_folder, folder, files)
    return {
        "tenant": tenant,
        "folder": str(folder),
        "n_policies": len({version.policy for version, _ in versions}),
        "n_versions": len(versions),
        "files": sorted(files),
    }


def _write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """All files or none: they are written beside the folder, which then takes its name."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidRequestError("FOLDER", "holds something already; name a new one")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            for name, text in files.items():
                path = Path(beside, "all", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            Path(beside, "all").mkdir(exist_ok=True)
            Path(beside, "all").replace(folder)
    except OSError as error:
        raise InvalidRequestError("FOLDER", f"cannot be written ({error.strerror})") from error


def _check_unchanged(tenant: Tenant, *, time_zone: str | None, authorities: str | None) -> None:
    """Refuse flags for a new tenant that say otherwise than the one there is."""
    if time_zone is not None and time_zone != tenant.time_zone:
        raise TenantExistsError(tenant.slug, flag="--time-zone", has=tenant.time_zone)
    if authorities is not None and Ladder.parse(authorities) != tenant.ladder:
        ranks = ",".join("=".join(sorted(rung)) for rung in tenant.ladder.rungs)
        raise TenantExistsError(tenant.slug, flag="--authorities", has=ranks)
