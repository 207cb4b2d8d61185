"""Folders of policies: read into the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from policies import store
from policies.authority import Ladder
from support_agent.administration.documents import read_documents
from support_agent.bootstrap import Application, Progress
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError, TenantExistsError
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
            report |= {
                "n_published": len(done.added) + len(done.corrected),
                "n_unchanged": len(done.unchanged),
            }
    return report


def _check_unchanged(tenant: Tenant, *, time_zone: str | None, authorities: str | None) -> None:
    """Refuse flags for a new tenant that say otherwise than the one there is."""
    if time_zone is not None and time_zone != tenant.time_zone:
        raise TenantExistsError(tenant.slug, flag="--time-zone", has=tenant.time_zone)
    if authorities is not None and Ladder.parse(authorities) != tenant.ladder:
        ranks = ",".join("=".join(sorted(rung)) for rung in tenant.ladder.rungs)
        raise TenantExistsError(tenant.slug, flag="--authorities", has=ranks)
