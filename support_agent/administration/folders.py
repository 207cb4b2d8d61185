"""Folders of policies: read into the store, and written out of it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from policies import store
from policies.authority import Ladder
from policies.exporting import exported_files
from policies.facts import FactType
from policies.session import TenantSession
from policies.version import Period
from support_agent.administration.documents import read_documents, refuse_in_bulk, stored_document
from support_agent.bootstrap import Application, Progress
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError, TenantExistsError
from support_agent.rendering.contract import point_json
from support_agent.request import read_instant
from support_agent.storage import tenants
from support_agent.tenants.folder import new_tenant_files, read_tenant

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.embedding import Embedder, Embedders


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
    often: Progress = lambda _: None,
) -> dict[str, Any]:
    """Read and check a folder of policies, say what publishing it comes to, and, if asked to, publish all or nothing.

    Args:
        application: The application.
        folder: One folder a policy.
        tenant: The tenant's slug.
        publish: Whether to publish; without it nothing is stored.
        create_tenant: Whether the tenant may be new.
        time_zone: Of a new tenant.
        authorities: Of a new tenant.
        overlay: A file of keys to use instead of the folder's own overlay.
        imported_by: Who imports.
        progress: Told of each stage.
        often: Told how far a stage has come, after each step of it.

    Raises:
        PolicyParseError: With every fault of every file.
    """
    async with application.open_session(tenant) as session:
        held = await tenants.load(session)
        stored = held.settings if held else None
        if stored is None and not create_tenant:
            raise NotFoundError("tenant", tenant, hint="add --create-tenant to make it")
        files = _tenant_files(stored, tenant, time_zone=time_zone, authorities=authorities)
        current = read_tenant(files, revision=0)
        # Of a name that no folder can have `Path.is_dir` raises.
        if not await asyncio.to_thread(os.path.isdir, folder):
            raise InvalidRequestError("FOLDER", "is not a folder")
        known = await store.term_types(session)
        documents = await _read(folder, current, overlay=overlay, known=known, often=often)
        planned = await store.planned(session, documents)
        changes = await _changes(session, current, documents, planned)
        if publish:
            progress(f"{tenant}: {len(documents)} versions read, publishing")
            await tenants.save(session, tenant, dict(files))
            vectors = None if application.vectors is None else _ToldEmbedders(application.vectors, often)
            await store.publish(session, documents, approval="imported", by=imported_by, embedder=vectors)
            refuse_in_bulk(stored, planned)
    return {
        "tenant": tenant,
        "published": publish,
        "n_policies": len({document.policy for document in documents}),
        "n_versions": len(documents),
        "n_published": len(planned.added) if publish else 0,
        "n_added": len(planned.added),
        "n_corrected": sum(change["change"] == "corrected" for change in changes),
        "n_unchanged": len(planned.unchanged),
        "changes": changes,
    }


def _tenant_files(
    stored: Mapping[str, Any] | None, slug: str, *, time_zone: str | None, authorities: str | None
) -> Mapping[str, Any]:
    """The tenant's settings: those stored, which the flags for a new tenant must not contradict, or a new tenant's.

    Raises:
        TenantExistsError: A flag says otherwise than the tenant there is.
    """
    if stored is None:
        return new_tenant_files(slug, time_zone=time_zone, authorities=authorities)
    tenant = read_tenant(stored, revision=0)
    if time_zone is not None and time_zone != tenant.time_zone:
        raise TenantExistsError(slug, flag="--time-zone", has=tenant.time_zone)
    if authorities is not None and Ladder.parse(authorities) != tenant.ladder:
        ranks = ",".join("=".join(sorted(rung)) for rung in tenant.ladder.rungs)
        raise TenantExistsError(slug, flag="--authorities", has=ranks)
    return stored


async def _read(
    folder: Path, tenant: Tenant, *, overlay: Path | None, known: Mapping[str, FactType], often: Progress
) -> tuple[PolicyDocument, ...]:
    """The folder's documents, read in a thread that ends when this is cancelled."""
    stopped = threading.Event()

    def tell(n_read: int) -> None:
        if stopped.is_set():
            raise asyncio.CancelledError
        often(f"{n_read} versions read")

    try:
        return await asyncio.to_thread(read_documents, folder, tenant, overlay=overlay, known=known, progress=tell)
    finally:
        stopped.set()


class _ToldEmbedders:
    """Embedders whose batches are told of."""

    def __init__(self, vectors: Embedders, often: Progress) -> None:
        self._vectors, self._often = vectors, often

    def of(self, model: str) -> Embedder:
        return _ToldEmbedder(self._vectors.of(model), self._often)


class _ToldEmbedder:
    def __init__(self, embedder: Embedder, often: Progress) -> None:
        self.model = embedder.model
        self.embed_query = embedder.embed_query
        self._embedder, self._often = embedder, often
        self._n_done = 0

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = await self._embedder.embed_documents(texts)
        self._n_done += len(texts)
        self._often(f"{self._n_done} passages given vectors")
        return vectors


async def _changes(
    session: TenantSession, tenant: Tenant, documents: Sequence[PolicyDocument], planned: store.Publication
) -> list[dict[str, Any]]:
    """What publishing changes, by policy and version; a text that stays is no change, another period of it is."""
    given = {document.name: document for document in documents}
    periods = dict(planned.other_periods)
    found = [_change(name, "added") for name in planned.added]
    for name in planned.corrected:
        if name in periods:
            zone = given[name].front_matter.time_zone if name in given else tenant.time_zone
            found.append(_change(name, "period") | _period(periods[name], ZoneInfo(zone)))
        else:
            differs = await _differs(session, tenant, given[name])
            found.append(_change(name, "corrected") | {"differs": differs})
    found += [_change(name, "left_withdrawn") for name in planned.left_withdrawn]
    return sorted(found, key=lambda change: (change["policy"], change["version"]))


def _change(name: str, kind: str) -> dict[str, Any]:
    policy, _, version = name.partition("@")
    return {"policy": policy, "version": version, "change": kind}


def _period(period: Period, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "effective_from": point_json(period.start, zone),
        "effective_to": None if period.end is None else point_json(period.end, zone),
    }


async def _differs(session: TenantSession, tenant: Tenant, document: PolicyDocument) -> list[str]:
    """What a version says otherwise than the store has it: keys, then clauses, then terms by their names."""
    from policies.diff import diff  # noqa: PLC0415 - loads the Markdown parser, which is slow

    held = await stored_document(session, tenant, document.policy, document.version)
    if held is None:
        return []
    # An end that the next version gives is none of its own.
    found = diff(held, document.ending(held.front_matter.ends) if held.front_matter.ends is None else document)
    clauses = [f"#{change.new or change.old} {change.kind}" for change in found.clauses]
    said = [*(change.key for change in found.keys), *clauses, *(change.name for change in found.terms)]
    return said or ["text"]


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
        known = read_instant("--known-at", known_at, zone=settings.zone)
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
