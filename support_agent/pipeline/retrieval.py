"""Retrieve: ask every sub-question whose inputs are known, within scope and budget.

Lookups on our own database share its one connection and run one after the other, which is faster there than in
parallel; lookups of other sources run beside each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.base import Connector, Evidence, Lookup, Scope
from connectors.errors import SourceError
from policies.session import TenantSession
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.run import LookupRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What has been asked and found so far; evidence number n is `evidence[n - 1]`."""

    evidence: tuple[Evidence, ...] = ()
    #: Sub-question -> keys of the evidence it brought, in the source's order.
    brought: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Source -> why it failed.
    failures: Mapping[str, SourceError] = field(default_factory=dict)
    #: Every lookup sent, as (source, needs, parameters): none is sent twice.
    sent: frozenset[str] = frozenset()
    n_lookups: int = 0

    def from_source(self, source: str) -> list[Evidence]:
        return [evidence for evidence in self.evidence if evidence.source == source]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one lookup brought, or why it failed."""

    sub_question: str
    lookup: Lookup
    evidence: Sequence[Evidence]
    elapsed_ms: float
    failure: SourceError | None = None


def due(plan: Plan, findings: Findings) -> tuple[SubQuestion, ...]:
    """The sub-questions not yet asked whose inputs have been asked for."""
    asked = findings.brought.keys()
    return tuple(
        sub for sub in plan.sub_questions if sub.id not in asked and all(before in asked for before in sub.after)
    )


def unsent(lookups: Iterable[tuple[str, Lookup]], findings: Findings) -> list[tuple[str, Lookup]]:
    """The lookups that do not repeat one already sent."""
    return [(sub, lookup) for sub, lookup in lookups if signature(lookup) not in findings.sent]


async def fetch(
    lookups: Sequence[tuple[str, Lookup]],
    *,
    connectors: Mapping[str, Connector],
    scope: Scope,
    session: TenantSession,
    deadline: float,
    clock: Callable[[], float],
) -> list[Fetched]:
    """Send the lookups; a source that fails is a value, and the others' answers stand.

    Args:
        lookups: Pairs of sub-question id and lookup.
        deadline: When all of them must have answered, by `clock`.
        clock: Monotonic seconds.
    """

    async def one(sub_question: str, lookup: Lookup) -> Fetched:
        started = clock()
        connector = connectors[lookup.source]
        try:
            evidence = await connector.fetch(
                lookup,
                scope,
                session=session if connector.local else None,
                timeout_s=max(deadline - started, 0.0),
            )
        except SourceError as error:
            return Fetched(
                sub_question=sub_question,
                lookup=lookup,
                evidence=(),
                elapsed_ms=(clock() - started) * 1000,
                failure=error,
            )
        return Fetched(
            sub_question=sub_question, lookup=lookup, evidence=evidence, elapsed_ms=(clock() - started) * 1000
        )

    async def ours() -> list[Fetched]:
        return [await one(sub, lookup) for sub, lookup in lookups if connectors[lookup.source].local]

    foreign = [one(sub, lookup) for sub, lookup in lookups if not connectors[lookup.source].local]
    if not foreign:
        return await ours()
    local, others = await asyncio.gather(ours(), asyncio.gather(*foreign))
    found = {id(fetched.lookup): fetched for fetched in (*local, *others)}
    return [found[id(lookup)] for _, lookup in lookups]


def add(findings: Findings, fetched: Sequence[Fetched]) -> tuple[Findings, tuple[LookupRecord, ...]]:
    """The findings with what was fetched, each statement once, and the record of every lookup."""
    known = {evidence.key for evidence in findings.evidence}
    evidence = list(findings.evidence)
    brought = dict(findings.brought)
    failures = dict(findings.failures)
    records = []
    for item in fetched:
        new = list({e.key: e for e in item.evidence if e.key not in known}.values())
        known.update(e.key for e in new)
        evidence.extend(new)
        keys = tuple(e.key for e in item.evidence)
        brought[item.sub_question] = brought.get(item.sub_question, ()) + keys
        if item.failure is not None:
            failures[item.lookup.source] = item.failure
        records.append(_record(item, n_added=len(new)))
    added = replace(
        findings,
        evidence=tuple(evidence),
        brought=brought,
        failures=failures,
        sent=findings.sent | {signature(item.lookup) for item in fetched},
        n_lookups=findings.n_lookups + len(fetched),
    )
    return added, tuple(records)


def signature(lookup: Lookup) -> str:
    """What makes two lookups of one question the same."""
    return repr((lookup.source, lookup.needs, sorted(lookup.parameters.items(), key=lambda item: item[0])))


def _record(item: Fetched, *, n_added: int) -> LookupRecord:
    return LookupRecord(
        sub_question=item.sub_question,
        source=item.lookup.source,
        needs=item.lookup.needs,
        parameters=item.lookup.parameters,
        n_returned=len(item.evidence),
        n_added=n_added,
        elapsed_ms=round(item.elapsed_ms, 3),
        failure=str(item.failure) if item.failure else None,
    )
