"""Policy documents in a folder, read with a tenant's ladder, zone, facts and regions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from policies.errors import PolicyParseError
from support_agent.domain.tenant import Tenant

if TYPE_CHECKING:
    from policies.document import PolicyDocument
    from policies.front_matter import Surroundings


def surroundings(tenant: Tenant) -> Surroundings:
    """What a document of the tenant may rely on."""
    from policies.front_matter import Surroundings  # noqa: PLC0415 - loads the Markdown parser, which is slow

    return Surroundings(
        ladder=tenant.ladder,
        time_zone=tenant.time_zone,
        facts=tenant.facts,
        region_groups=frozenset(tenant.region_groups),
    )


def read_documents(
    folder: Path, tenant: Tenant, *, overlay: Path | None = None, prefix: str = ""
) -> tuple[PolicyDocument, ...]:
    """The documents below `folder`; none when there is no such folder.

    Raises:
        PolicyParseError: With every fault of every file, their paths behind `prefix`.
    """
    from policies.importing import read_policy_folder  # noqa: PLC0415 - loads the Markdown parser, which is slow

    if not folder.is_dir():
        return ()
    found = read_policy_folder(folder, around=surroundings(tenant), overlay=overlay)
    if found.faults:
        raise PolicyParseError(replace(fault, path=prefix + fault.path) for fault in found.faults)
    return found.documents
