"""What each sub-question asks of its source, once the evidence it depends on is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import combinations

from connectors.base import Evidence, Lookup, LookupValue
from policies.applicability import applies, unknown_dimensions
from policies.facts import FactValue
from policies.version import Period, PolicyVersion, instant_period
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.question import Question
from support_agent.domain.tenant import Tenant
from support_agent.domain.verdict import Verdict
from support_agent.pipeline.assessment import date_periods, statements_of_customer
from support_agent.pipeline.planning import MAX_ORDERS, ROLE_FACTS, Slots, searched
from support_agent.pipeline.retrieval import Findings
from support_agent.pipeline.subject import share_of, subject_tokens

PASSAGES = "passages"
#: All terms of a topic: what a comparison shows, and what a passage is checked against.
TERMS = "terms"
INSTANT = timedelta(microseconds=1)
#: The sources that answer from the policy store.
DOCUMENT_SOURCES = frozenset({"policy", "faq"})


def lookups_of(
    sub: SubQuestion, *, findings: Findings, question: Question, slots: Slots, tenant: Tenant
) -> list[tuple[str, Lookup]]:
    """The lookups of one sub-question: one, or for terms one a candidate order, since each has dates of its own."""
    if sub.source not in DOCUMENT_SOURCES:
        return [(sub.id, Lookup(source=sub.source, needs=sub.needs, parameters=sub.parameters))]
    if PASSAGES in sub.needs:
        parameters: dict[str, LookupValue] = {
            **searched(slots),
            "as_of": slots.as_of or instant_period(question.asked_at),
            "known": known_dimensions(findings.evidence, question, slots, tenant),
            **sub.parameters,
        }
        return [(sub.id, Lookup(source=sub.source, needs=sub.needs, parameters=parameters))]
    asked_for = instant_period(question.asked_at) if slots.as_of is None else slots.as_of
    return [
        (
            sub.id,
            Lookup(
                source=sub.source,
                needs=sub.needs,
                parameters={
                    **sub.parameters,
                    "dates": {"asked_at": asked_for, **periods},
                    "asked_at": question.asked_at,
                },
            ),
        )
        for periods in _periods_by_order(findings, question, slots, tenant)
    ]


def orders_in(evidence: Iterable[Evidence], *, asked_at: datetime) -> tuple[str, ...]:
    """The orders that the evidence holds, in its order; one that was placed after the question is not yet known."""
    found = [one for one in evidence if one.source == "orders"]
    later = {
        one.locator.document
        for one in found
        if one.need == ROLE_FACTS["purchase"] and isinstance(one.value, datetime) and one.value > asked_at
    }
    return tuple(dict.fromkeys(one.locator.document for one in found if one.locator.document not in later))


def known_dimensions(
    evidence: Iterable[Evidence], question: Question, slots: Slots, tenant: Tenant
) -> dict[str, FactValue]:
    """Where the customer stands, by applicability dimension; what is unknown, or differs by order, limits nothing."""
    facts: dict[str, FactValue] = {
        name: value for name, value in statements_of_customer(question, slots).items() if not isinstance(value, Period)
    }
    facts |= {one.need: one.value for one in evidence if one.source == "profile" and one.value is not None}
    return {dimension: facts[fact] for dimension, fact in tenant.dimensions.items() if fact in facts}


def with_further_facts(plan: Plan, verdict: Verdict, findings: Findings, slots: Slots, tenant: Tenant) -> Plan:
    """The plan with sub-questions for facts that what governs needs and no sub-question has asked for.

    Orders are asked for the numbers that the question names: one that is about no order is not answered for whichever
    orders the customer happens to have.
    """
    asked = {need for sub in plan.sub_questions for need in sub.needs}
    by_source: dict[str, list[str]] = {}
    for need in verdict.missing:
        declaration = tenant.facts.get(need)
        if declaration is not None and need not in asked and declaration.source not in findings.failures:
            by_source.setdefault(declaration.source, []).append(need)
    of_orders: list[dict[str, LookupValue]] = [{"order_number": number} for number in slots.order_numbers[:MAX_ORDERS]]
    if any(sub.source == "orders" for sub in plan.sub_questions):
        of_orders = of_orders or [{}]
    expanded = [
        (source, needs, parameters)
        for source, needs in sorted(by_source.items())
        if source in tenant.connectors
        for parameters in (of_orders if source == "orders" else [{}])
    ]
    further = [
        SubQuestion(id=f"q{number}", source=source, needs=tuple(needs), parameters=parameters)
        for number, (source, needs, parameters) in enumerate(expanded, start=len(plan.sub_questions) + 1)
    ]
    return replace(plan, sub_questions=(*plan.sub_questions, *further)) if further else plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two versions of one policy to compare; `ask` names the fact that decides which policy it is."""

    older: PolicyVersion | None = None
    newer: PolicyVersion | None = None
    ask: str | None = None


def sides_of_comparison(findings: Findings, *, question: Question, slots: Slots, tenant: Tenant) -> Sides:
    """The version in force on the date asked about and the one before it, of the policy that applies.

    Of several policies of the topic the highest rank is compared; an FAQ and a rendition explain others. Where nothing
    came before, the scheduled version that follows is the newer side.
    """
    on = (slots.as_of.end - INSTANT if slots.as_of.end else slots.as_of.start) if slots.as_of else question.asked_at
    known = {name: str(value) for name, value in known_dimensions(findings.evidence, question, slots, tenant).items()}
    lines: dict[str, list[PolicyVersion]] = {}
    for version in _versions(findings.evidence):
        if version.authority != "faq" and version.rendition_of is None:
            lines.setdefault(version.policy, []).append(version)
    pairs = []
    for versions in lines.values():
        pair = _neighbours(sorted(versions, key=lambda version: version.valid.start), on)
        if pair and applies(pair[1].applies_to, known, groups=tenant.region_groups, on=on) is not False:
            pairs.append(pair)
    if not pairs:
        return Sides()
    top = max(tenant.ladder.level(newer.authority) for _, newer in pairs)
    highest = [pair for pair in pairs if tenant.ladder.level(pair[1].authority) == top]
    asked = subject_tokens(slots.subject)
    named = [(_named(asked, newer.policy, findings.evidence), (older, newer)) for older, newer in highest]
    best = max(share for share, _ in named)
    meant = [pair for share, pair in named if share == best]
    if len(meant) > 1:
        unknown = {name for _, newer in meant for name in unknown_dimensions(newer.applies_to, known)}
        if ask := next((fact for name, fact in tenant.dimensions.items() if name in unknown), None):
            return Sides(ask=ask)
    older, newer = min(meant, key=lambda pair: pair[1].policy)
    return Sides(older=older, newer=newer)


def in_a_gap(findings: Findings, question: Question, slots: Slots, tenant: Tenant) -> bool:
    """Whether a policy that may apply has versions, but none in force on the date asked about.

    An FAQ and a rendition explain others and leave no gap of their own.
    """
    asked = slots.as_of or instant_period(question.asked_at)
    known = {name: str(value) for name, value in known_dimensions(findings.evidence, question, slots, tenant).items()}
    lines: dict[str, list[PolicyVersion]] = {}
    for one in findings.evidence:
        version = one.version
        if version is not None and version.authority != "faq" and version.rendition_of is None:
            lines.setdefault(version.policy, []).append(version)
    return any(
        not any(version.valid.overlaps(asked) for version in versions)
        and any(
            applies(version.applies_to, known, groups=tenant.region_groups, on=asked.start) is not False
            for version in versions
        )
        for versions in lines.values()
    )


def in_force_twice(policy: str, findings: Findings, question: Question, slots: Slots) -> bool:
    """Whether two versions of one policy are in force on the date asked about: loaded around the store's own rule."""
    asked = slots.as_of or instant_period(question.asked_at)
    versions = (one.version for one in findings.evidence if one.version is not None)
    found = {version.valid.start: version.valid for version in versions if version.policy == policy}
    standing = [valid for valid in found.values() if valid.overlaps(asked)]
    return any(one.overlaps(other) for one, other in combinations(standing, 2))


def _named(asked: Mapping[str, float], policy: str, evidence: Iterable[Evidence]) -> float:
    """How much of what is asked about stands in the policy's title, or in that of one of its renditions."""
    titles = {v.title for v in _versions(evidence) if policy in {v.policy, v.rendition_of}}
    return max(share_of(asked, title) for title in titles)


def _neighbours(versions: Sequence[PolicyVersion], on: datetime) -> tuple[PolicyVersion, PolicyVersion] | None:
    for index, version in enumerate(versions):
        if version.valid.contains(on):
            if index:
                return versions[index - 1], version
            return (version, versions[1]) if len(versions) > 1 else None
    return None


def _versions(evidence: Iterable[Evidence]) -> Iterable[PolicyVersion]:
    found = {}
    for one in evidence:
        if one.term is not None:
            version = one.term.clause.version
            found[version.policy, version.version] = version
    return found.values()


def _periods_by_order(
    findings: Findings, question: Question, slots: Slots, tenant: Tenant
) -> Sequence[Mapping[str, Period]]:
    """The date facts of each candidate order as periods; one entry when there is no order."""
    stated = statements_of_customer(question, slots)
    shared = {one.need: one.value for one in findings.evidence if one.source not in {"orders", *DOCUMENT_SOURCES}}
    per_order: dict[str, dict[str, FactValue]] = {}
    for one in findings.from_source("orders"):
        per_order.setdefault(one.locator.document, {})[one.need] = one.value
    facts = [{**shared, **own} for own in list(per_order.values())[:MAX_ORDERS]] or [shared]
    return [
        date_periods({**stated, **{name: value for name, value in own.items() if value is not None}}, tenant)
        for own in facts
    ]
