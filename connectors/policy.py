"""The versioned policy store: terms of a topic, and passages of the documents that are not of rank `faq`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from connectors.base import Evidence, Locator, Lookup, Scope, evidence_key
from connectors.columns import clean
from connectors.local import reading
from connectors.passages import PASSAGES, PassageSearch, QueryEmbedder
from connectors.references import lost_references
from policies.applicability import RegionGroups
from policies.session import TenantSession
from policies.store import timeline_of_topic
from policies.terms import Term
from policies.version import Period, PolicyVersion

#: The need for all that a topic's policies state, beside which their versions come as evidence of their own.
TERMS: Final = "terms"
VERSIONS: Final = "versions"


class PolicyConnector:
    """Terms and passages of published policies. Source: the policy store, in our own database."""

    name = "policy"
    local = True

    def __init__(
        self,
        *,
        authorities: frozenset[str],
        region_groups: RegionGroups,
        embedder: QueryEmbedder | None = None,
        limit: int = 10,
    ) -> None:
        """Prepare the search.

        Args:
            authorities: Ranks whose passages are searched. Terms are read of every rank; who prevails is decided later.
            region_groups: The tenant's groups of regions.
            embedder: For search by meaning; None: by words alone.
            limit: Passages returned at most.
        """
        self._search = PassageSearch(
            source=self.name, authorities=authorities, region_groups=region_groups, embedder=embedder, limit=limit
        )

    async def fetch(
        self, lookup: Lookup, scope: Scope, *, session: TenantSession | None, timeout_s: float
    ) -> Sequence[Evidence]:
        """Return the terms of `topic` that can govern on `dates`, and for the need `passages` those nearest to `text`.

        Raises:
            SourceUnavailableError: No answer within `timeout_s`.
        """
        found: list[Evidence] = []
        async with reading(self.name, session, timeout_s=timeout_s) as opened:
            if opened.tenant_id != scope.tenant_id or not scope.audiences:
                return ()
            if lookup.needs != (PASSAGES,):
                found += await _terms(lookup, scope, session=opened)
            if PASSAGES in lookup.needs:
                found += await self._search.find(lookup, scope, session=opened)
            found += await lost_references(found, session=opened, instants=instants_asked_about(lookup))
        return found


#: A term is read once a recording and kept by the store, so its evidence is made once too.
_MAX_KEPT: Final = 65_536
_kept: dict[int, tuple[Term, Evidence]] = {}


def term_evidence(term: Term, *, source: str) -> Evidence:
    """What `term` states, as evidence."""
    known = _kept.get(id(term))
    # The term is held beside its evidence, so no other can have its identity while it is kept.
    if known is not None and known[1].source == source:
        return known[1]
    if len(_kept) >= _MAX_KEPT:
        _kept.clear()
    evidence = _term_evidence(term, source)
    _kept[id(term)] = term, evidence
    return evidence


def _term_evidence(term: Term, source: str) -> Evidence:
    version = term.clause.version
    locator = Locator(document=version.policy, version=version.version, clause=term.clause.anchor, lines=term.lines)
    return Evidence(
        key=evidence_key(source, locator, (term.name, term.value, term.rule, term.quote)),
        source=source,
        locator=locator,
        need=term.name,
        value=term.value,
        quote=term.quote,
        authority=version.authority,
        clause=term.clause,
        term=term,
    )


def version_evidence(version: PolicyVersion, *, source: str) -> Evidence:
    """That a version exists: what tells a gap in time from a topic that nobody wrote about."""
    locator = Locator(document=version.policy, version=version.version, clause="")
    return Evidence(
        key=evidence_key(source, locator, (version.valid.start, version.valid.end)),
        source=source,
        locator=locator,
        need=VERSIONS,
        value=None,
        quote=version.title,
        authority=version.authority,
        version=version,
    )


def dates_asked_about(lookup: Lookup) -> dict[str, Period]:
    """The lookup's `dates`: date fact -> the period it names."""
    stated = lookup.parameters.get("dates")
    periods = stated.items() if isinstance(stated, Mapping) else ()
    return {name: period for name, period in periods if isinstance(period, Period)}


def instants_asked_about(lookup: Lookup) -> list[datetime]:
    """When a clause that another refers to may have been in force for this lookup."""
    stated = (lookup.parameters.get("as_of"), lookup.parameters.get("asked_at"))
    instants = [one.start if isinstance(one, Period) else one for one in stated if isinstance(one, Period | datetime)]
    return [*instants, *(period.start for period in dates_asked_about(lookup).values())]


async def _terms(lookup: Lookup, scope: Scope, *, session: TenantSession) -> list[Evidence]:
    topic, asked_at = lookup.parameters.get("topic"), lookup.parameters.get("asked_at")
    if not isinstance(topic, str) or topic != clean(topic) or not isinstance(asked_at, datetime):
        return []
    timeline = await timeline_of_topic(
        session,
        topic=topic,
        needs=[need for need in lookup.needs if need != PASSAGES],
        dates=dates_asked_about(lookup),
        asked_at=asked_at,
        audiences=scope.audiences,
    )
    found = [term_evidence(term, source="policy") for term in timeline.terms]
    if TERMS in lookup.needs:
        found += [version_evidence(version, source="policy") for version in timeline.versions]
    return found
