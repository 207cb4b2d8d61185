"""Sources kept in memory, for tests and trials; they keep the promises of those that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal
from uuid import UUID

from connectors.base import Evidence, Lookup, Scope
from connectors.errors import SourceUnavailableError
from connectors.faq import RANK as FAQ
from connectors.passages import PASSAGES, known_dimensions, passage_evidence, period_asked_about, texts_in_terms
from connectors.policy import dates_asked_about, term_evidence
from connectors.records import Row
from connectors.settings import RecordSettings, SettingsFault
from policies.applicability import RegionGroups, applies
from policies.search import PassageHit
from policies.session import TenantSession
from policies.terms import Term
from policies.text import question_tokens, tokens
from policies.version import Period, instant_period


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One row, and whose it is."""

    row: Row
    customer_id: str
    account_id: str | None = None


class MemoryRecords:
    """The rows of one source by tenant; stands for a foreign database or for the trial tables."""

    local = False

    def __init__(
        self, settings: RecordSettings, records: Mapping[UUID, Sequence[MemoryRecord]], *, takes_s: float = 0.0
    ) -> None:
        """Keep `records` by tenant.

        Args:
            settings: How their rows are read.
            records: Tenant -> records.
            takes_s: How long each read takes; a read that is given less time fails, without waiting.
        """
        self._settings = settings
        self._records = records
        self._takes_s = takes_s

    async def read(
        self,
        lookup: str,
        scope: Scope,
        *,
        parameters: Mapping[str, object],
        session: TenantSession | None,  # noqa: ARG002 Memory needs none.
        timeout_s: float,
    ) -> Sequence[Row]:
        if self._takes_s > timeout_s:
            raise SourceUnavailableError(self._settings.source, waited_s=timeout_s)
        return [
            record.row
            for record in self._records.get(scope.tenant_id, ())
            if _in_scope(record, scope, with_account=lookup != "by_customer")
            and (lookup != "by_number" or record.row.get(self._settings.record) == parameters["order_number"])
        ]

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:  # noqa: ARG002 There is no database to ask.
        return []

    async def aclose(self) -> None:
        """Nothing to close."""


def _in_scope(record: MemoryRecord, scope: Scope, *, with_account: bool) -> bool:
    if record.customer_id == scope.customer_id:
        return True
    return with_account and bool(scope.account_id) and record.account_id == scope.account_id


class MemoryPolicy:
    """Terms and passages by tenant; stands for the policy store. A version without terms is not known to it."""

    local = False

    def __init__(
        self,
        *,
        terms: Mapping[UUID, Sequence[Term]],
        passages: Mapping[UUID, Sequence[PassageHit]],
        region_groups: RegionGroups,
        name: Literal["policy", "faq"] = "policy",
        limit: int = 10,
    ) -> None:
        """Keep both; `faq` states the passages of its rank alone, `policy` all terms and the other passages."""
        self.name: str = name
        self._terms = terms
        self._passages = passages
        self._groups = region_groups
        self._limit = limit

    async def fetch(
        self,
        lookup: Lookup,
        scope: Scope,
        *,
        session: TenantSession | None,  # noqa: ARG002 Memory needs none.
        timeout_s: float,  # noqa: ARG002 Memory answers at once.
    ) -> Sequence[Evidence]:
        found: list[Evidence] = []
        if self.name == "policy" and lookup.needs != (PASSAGES,):
            found += [term_evidence(term, source=self.name) for term in self._governing(lookup, scope)]
        if self.name == "faq" or PASSAGES in lookup.needs:
            found += [passage_evidence(hit, source=self.name) for hit in self._nearest(lookup, scope)]
        return found

    def _governing(self, lookup: Lookup, scope: Scope) -> list[Term]:
        topic, asked_at = lookup.parameters.get("topic"), lookup.parameters.get("asked_at")
        if not isinstance(asked_at, datetime):
            return []
        periods = [*dates_asked_about(lookup).values(), instant_period(asked_at)]
        visible = [
            term
            for term in self._terms.get(scope.tenant_id, ())
            if term.clause.version.topic == topic
            and {term.clause.version.audience, term.clause.audience} <= scope.audiences
        ]
        visible.sort(key=lambda term: (term.clause.version.policy, term.clause.version.valid.start))
        meant = {
            (policy, start)
            for policy, terms in _grouped(visible).items()
            for period in periods
            for start in _starts_around(period, terms, needs=lookup.needs)
        }
        return [t for t in visible if (t.clause.version.policy, t.clause.version.valid.start) in meant]

    def _nearest(self, lookup: Lookup, scope: Scope) -> list[PassageHit]:
        text, as_of = lookup.parameters.get("text"), period_asked_about(lookup)
        if not isinstance(text, str) or as_of is None:
            return []
        topic, known = lookup.parameters.get("topic"), known_dimensions(lookup)
        asked = frozenset(question_tokens(" ".join([text, *texts_in_terms(lookup)])))
        hits = [
            replace(hit, score=float(len(asked.intersection(tokens(hit.text)))), found_by=("words",))
            for hit in self._passages.get(scope.tenant_id, ())
            if (hit.clause.version.authority == FAQ) == (self.name == "faq")
            and {hit.clause.version.audience, hit.clause.audience} <= scope.audiences
            and hit.clause.valid.overlaps(as_of)
            and topic in {None, hit.clause.version.topic}
            and applies(hit.clause.applies_to, known, groups=self._groups, on=as_of.start) is not False
        ]
        found = [hit for hit in hits if hit.score]
        return sorted(found, key=lambda hit: (-hit.score, hit.clause.locator, hit.lines))[: self._limit]


def _grouped(terms: Sequence[Term]) -> dict[str, list[Term]]:
    policies: dict[str, list[Term]] = {}
    for term in terms:
        policies.setdefault(term.clause.version.policy, []).append(term)
    return policies


def _starts_around(period: Period, terms: Sequence[Term], *, needs: Sequence[str]) -> Iterator[datetime]:
    """Starts of one policy's versions in the period, of its neighbours, and of those nearest with another value."""
    starts = sorted({term.clause.version.valid.start for term in terms})
    first = max((start for start in starts if start <= period.start), default=period.start)
    last = max((start for start in starts if period.end is None or start < period.end), default=period.start)
    yield from (start for start in starts if first <= start <= last)
    yield from [start for start in starts if start < first][-1:]
    yield from [start for start in starts if start > last and not period.contains(start)][:1]
    for need in needs:
        changes = list(_changes(need, terms))
        yield from [before for before, after in changes if after <= first][-1:]
        yield from [after for _, after in changes if after > last][:1]


def _changes(name: str, terms: Sequence[Term]) -> Iterator[tuple[datetime, datetime]]:
    """Starts of neighbouring versions that say the term differently, oldest first."""
    said: dict[datetime, set[object]] = {}
    for term in terms:
        if term.name == name:
            statement = (term.value, term.rule, term.clause.applies_to)
            said.setdefault(term.clause.version.valid.start, set()).add(statement)
    yield from ((before, after) for before, after in pairwise(said) if said[before] != said[after])
