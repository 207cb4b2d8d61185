"""Loading a tenant from its folder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from policies import store
from support_agent.administration.documents import read_documents, refuse_in_bulk
from support_agent.bootstrap import Application, Progress
from support_agent.errors import InvalidRequestError
from support_agent.storage import tenants
from support_agent.tenants.folder import read_folder


async def load_tenant(
    application: Application, folder: Path, *, expected: str | None, progress: Progress
) -> dict[str, Any]:
    """Load a tenant from its folder, all or nothing; the same folder again changes nothing.

    Raises:
        PolicyParseError: With every fault of every file.
    """
    read = await asyncio.to_thread(read_folder, folder)
    tenant = read.tenant
    if expected is not None and expected != tenant.slug:
        raise InvalidRequestError("--tenant", f"differs from the tenant of the folder, {tenant.slug!r}")
    documents = await asyncio.to_thread(read_documents, read.documents, tenant, prefix="documents/")
    await application.check_sources(read)
    progress(f"{tenant.slug}: {len(documents)} policy versions read, storing")
    async with application.open_session(tenant.slug) as session:
        stored = await tenants.load(session)
        changed = await tenants.save(session, tenant.slug, dict(read.files))
        changed |= bool(await tenants.save_trial(session, orders=read.orders, customers=read.customers))
        published = await store.publish(
            session, documents, approval="imported", by="tenant load", embedder=application.vectors
        )
        refuse_in_bulk(stored.settings if stored else None, published)
    return {
        "tenant": tenant.slug,
        "n_policies": len({document.policy for document in documents}),
        "n_versions": len(documents),
        "changed": changed or bool(published.added or published.corrected),
    }
