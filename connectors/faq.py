"""Questions and answers that somebody wrote down: passages of the documents of rank `faq`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from connectors.base import Evidence, Lookup, Scope
from connectors.local import reading
from connectors.passages import PassageSearch, QueryEmbedder
from connectors.references import lost_references
from policies.applicability import RegionGroups
from policies.session import TenantSession
from policies.version import Period

#: The rank of the documents that this source speaks for; `policy` speaks for all others.
RANK: Final = "faq"


class FaqConnector:
    """Passages of FAQ documents. Source: the policy store, in our own database; their terms come from `policy`."""

    name = "faq"
    local = True

    def __init__(self, *, region_groups: RegionGroups, embedder: QueryEmbedder | None = None, limit: int = 10) -> None:
        self._search = PassageSearch(
            source=self.name,
            authorities=frozenset({RANK}),
            region_groups=region_groups,
            embedder=embedder,
            limit=limit,
        )

    async def fetch(
        self, lookup: Lookup, scope: Scope, *, session: TenantSession | None, timeout_s: float
    ) -> Sequence[Evidence]:
        """Return the passages nearest to `text` among those in force in `as_of`, best first.

        Raises:
            SourceUnavailableError: No answer within `timeout_s`.
        """
        async with reading(self.name, session, timeout_s=timeout_s) as opened:
            if opened.tenant_id != scope.tenant_id or not scope.audiences:
                return ()
            found = await self._search.find(lookup, scope, session=opened)
            as_of = lookup.parameters.get("as_of")
            instants = [as_of.start] if isinstance(as_of, Period) else []
            return [*found, *await lost_references(found, session=opened, instants=instants)]
