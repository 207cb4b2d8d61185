"""The glossary in the database. Every change raises the tenant's revision, so the next question is read by it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from policies.session import TenantSession
from support_agent.domain.glossary import GlossaryEntry

_RAISE = "UPDATE tenants SET revision = revision + 1 WHERE tenant_id = %(tenant)s"
_LIST = """
SELECT says, means, language, added_by, added_at, removed_by, removed_at FROM glossary_entries
 WHERE tenant_id = %(tenant)s AND (removed_at IS NULL OR %(removed)s)
 ORDER BY entry_id
"""
_ADD = """
INSERT INTO glossary_entries (tenant_id, says, means, language, added_by)
VALUES (%(tenant)s, %(says)s, %(means)s, %(language)s, %(by)s)
"""
_REMOVE = """
UPDATE glossary_entries SET removed_by = %(by)s, removed_at = clock_timestamp()
 WHERE tenant_id = %(tenant)s AND removed_at IS NULL
   AND says = %(says)s AND means = %(means)s AND language = %(language)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEntry:
    """An entry, with who added and removed it and when; instants are UTC."""

    entry: GlossaryEntry
    added_by: str
    added_at: datetime
    removed_by: str | None
    removed_at: datetime | None


async def hold(session: TenantSession) -> None:
    """Raise the revision, and keep others from changing the glossary until the transaction ends."""
    await session.fetch(_RAISE, {"tenant": session.tenant_id})


async def entries(session: TenantSession, *, removed: bool = False) -> list[RecordedEntry]:
    """The entries in the order in which they were added; on demand with those that were removed."""
    rows = await session.fetch(_LIST, {"tenant": session.tenant_id, "removed": removed})
    return [
        RecordedEntry(
            entry=GlossaryEntry(says=says, means=means, language=language),
            added_by=added_by,
            added_at=added_at,
            removed_by=removed_by,
            removed_at=removed_at,
        )
        for says, means, language, added_by, added_at, removed_by, removed_at in rows
    ]


async def add(session: TenantSession, entry: GlossaryEntry, *, by: str) -> None:
    """Add an entry that is not there; `hold` comes first."""
    await session.fetch(_ADD, {**_parameters(session, entry), "by": by})


async def remove(session: TenantSession, entry: GlossaryEntry, *, by: str) -> None:
    """End an entry; `hold` comes first. What was read by it says so in its run."""
    await session.fetch(_REMOVE, {**_parameters(session, entry), "by": by})


def _parameters(session: TenantSession, entry: GlossaryEntry) -> dict[str, Any]:
    return {"tenant": session.tenant_id, "says": entry.says, "means": entry.means, "language": entry.language}
