"""Policy documents in files, read with a tenant's ladder, zone, facts and regions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from policies import layout, store
from policies.encoding import MAX_BYTES
from policies.errors import PolicyParseError
from policies.facts import FactType
from policies.front_matter import Keys, Surroundings
from policies.marked_yaml import entry_of
from policies.session import TenantSession
from policies.written_keys import written_keys
from support_agent.domain.tenant import Tenant
from support_agent.errors import FourEyesError, InvalidRequestError
from support_agent.tenants.folder import read_tenant

if TYPE_CHECKING:
    from policies.document import PolicyDocument, SourceFile

SIDECAR: Final = layout.SIDECAR


def surroundings(tenant: Tenant) -> Surroundings:
    """What a document of the tenant may rely on."""
    return Surroundings(
        ladder=tenant.ladder,
        time_zone=tenant.time_zone,
        facts=tenant.facts,
        region_groups=frozenset(tenant.region_groups),
    )


def read_documents(
    folder: Path,
    tenant: Tenant,
    *,
    overlay: Path | None = None,
    prefix: str = "",
    known: Mapping[str, FactType] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[PolicyDocument, ...]:
    """The documents below `folder`; none when there is no such folder.

    Args:
        folder: One folder a policy.
        tenant: Whose ladder, zone and facts hold.
        overlay: A file of keys to use instead of the folder's own overlay.
        prefix: Stands before the paths in faults.
        known: Types of the value terms that published versions define.
        progress: Told how many documents have been read, after each.

    Raises:
        PolicyParseError: With every fault of every file, their paths behind `prefix`.
    """
    from policies.importing import read_policy_folder  # noqa: PLC0415 - loads the Markdown parser, which is slow

    if not folder.is_dir():
        return ()
    found = read_policy_folder(folder, around=surroundings(tenant), overlay=overlay, known=known, progress=progress)
    if found.faults:
        raise PolicyParseError(replace(fault, path=prefix + fault.path) for fault in found.faults)
    return found.documents


def refuse_in_bulk(stored: Mapping[str, Any] | None, publication: store.Publication) -> None:
    """Refuse what came in bulk, so without a second person's approval, where the tenant as stored requires one.

    Raises:
        FourEyesError: It does, and something would change.
    """
    changed = (*publication.added, *publication.corrected)
    if stored is not None and changed and read_tenant(stored, revision=0, trial=False).four_eyes:
        raise FourEyesError(changed[0], n_more=len(changed) - 1)


def read_source(path: Path) -> tuple[SourceFile, SourceFile | None]:
    """A version's file, and the sidecar beside it.

    Raises:
        InvalidRequestError: There is no such file.
    """
    from policies.document import SourceFile  # noqa: PLC0415 - loads the Markdown parser, which is slow

    def read(file: Path) -> SourceFile:
        with file.open("rb") as stream:
            # One byte more than there may be: the parser then says that it is too much.
            return SourceFile(path=file.name, content=stream.read(MAX_BYTES + 1))

    sidecar = path.with_name(f"{path.stem}{SIDECAR}")
    try:
        if path.suffix != ".md" or not path.is_file():
            raise InvalidRequestError("FILE", "is not a file called VERSION.md, such as 2026-03-01.md")
        return read(path), read(sidecar) if sidecar.is_file() else None
    except (OSError, ValueError) as error:
        raise InvalidRequestError("FILE", f"cannot be read ({type(error).__name__})") from error


async def stored_document(
    session: TenantSession, tenant: Tenant, policy: str, version: str, *, known_at: datetime | None = None
) -> PolicyDocument | None:
    """A published version as its author wrote it; None when there is no such version."""
    held = await store.source(session, policy, version, known_at=known_at)
    return None if held is None else _parsed(held, tenant, policy, version)


async def published_documents(
    session: TenantSession, tenant: Tenant, policies: Collection[str]
) -> list[PolicyDocument]:
    """The published versions of some policies as their authors wrote them; what was withdrawn ends when it was.

    Where another version ends one, its end stays open: a version put between them moves it.
    """
    found = []
    for version, held in await store.sources(session, policies):
        document = _parsed(held, tenant, version.policy, version.version)
        found.append(document.ending(version.valid.end) if held.withdrawn else document)
    return found


def _parsed(held: store.StoredSource, tenant: Tenant, policy: str, version: str) -> PolicyDocument:
    return parse_text(
        held.text, held.sidecar, tenant, policy=policy, version=version, keys=written_keys(held.attributes)
    )


async def parse_file(
    session: TenantSession, tenant: Tenant, path: Path, *, corrects: bool
) -> tuple[PolicyDocument, dict[str, Any] | None]:
    """A version's file, and the front-matter keys that hold where it says nothing.

    There are such keys where it `corrects` a version, found by the names of its folder and file: a text without front
    matter of ours keeps what was said beside it.

    Raises:
        InvalidRequestError: There is no such file.
        PolicyParseError: With everything that is wrong with it.
    """
    (source, sidecar), full = await asyncio.to_thread(lambda: (read_source(path), path.absolute()))
    held = await store.source(session, full.parent.name, full.stem) if corrects else None
    keys = None if held is None else written_keys(held.attributes)
    known = await store.term_types(session)
    return parse_source(source, tenant, known=known, sidecar=sidecar, keys=keys), keys


def parse_text(
    text: str,
    sidecar: str | None,
    tenant: Tenant,
    *,
    policy: str,
    version: str,
    keys: Mapping[str, Any] | None,
    known: Mapping[str, FactType] | None = None,
) -> PolicyDocument:
    """A version that the store keeps, or a draft of one; otherwise as `parse_source`."""
    from policies.document import SourceFile  # noqa: PLC0415 - loads the Markdown parser, which is slow

    path = f"{policy}/{version}"
    beside = None if sidecar is None else SourceFile(path=f"{path}{SIDECAR}", content=sidecar.encode())
    source = SourceFile(path=f"{path}.md", content=text.encode())
    return parse_source(source, tenant, known=known, sidecar=beside, keys=keys, version=version)


def parse_source(
    source: SourceFile,
    tenant: Tenant,
    *,
    known: Mapping[str, FactType] | None,
    sidecar: SourceFile | None = None,
    keys: Mapping[str, Any] | None = None,
    version: str | None = None,
) -> PolicyDocument:
    """One version, read and checked by itself.

    Args:
        source: Its Markdown.
        tenant: Whose ladder, zone and facts hold.
        known: Types of the value terms that published versions define; None leaves its rules unchecked.
        sidecar: What stands beside it.
        keys: Front-matter keys that hold where neither says anything.
        version: Its name; default: that of the file.

    Raises:
        PolicyParseError: With everything that is wrong with it.
    """
    from policies.document import parse_document  # noqa: PLC0415 - loads the Markdown parser, which is slow
    from policies.rule_checks import check_rules  # noqa: PLC0415 - loads the Markdown parser

    beyond = [Keys(path=source.path, entries=entry_of(dict(keys)).mapping() or {})] if keys else []
    parsed = parse_document(source, around=surroundings(tenant), version=version, sidecar=sidecar, defaults=beyond)
    if isinstance(parsed, list):
        raise PolicyParseError(parsed)
    if known is not None and (faults := check_rules([parsed], facts=tenant.facts, known=known)):
        raise PolicyParseError(faults)
    return parsed
