"""That a statement refers to a clause which the store no longer has: evidence of its own, beside the statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from connectors.base import Evidence, evidence_key
from policies.references import gone, references_in
from policies.session import TenantSession

#: The need of such evidence; its locator is the clause that refers, its quote what is gone.
LOST_REFERENCE: Final = "lost_reference"


async def lost_references(
    found: Sequence[Evidence], *, session: TenantSession, instants: Iterable[datetime]
) -> list[Evidence]:
    """What of `found` refers to clauses that are gone; no statement is sent where nothing refers to any."""
    referring = [(one, references) for one in found if "#" in one.quote and (references := references_in(one.quote))]
    if not referring:
        return []
    lost = set(await gone(session, (r for _, references in referring for r in references), instants=instants))
    return [
        Evidence(
            key=evidence_key(one.source, one.locator, (LOST_REFERENCE, str(reference))),
            source=one.source,
            locator=one.locator,
            need=LOST_REFERENCE,
            value=None,
            quote=str(reference),
            authority=one.authority,
        )
        for one, references in referring
        for reference in references
        if reference in lost
    ]
