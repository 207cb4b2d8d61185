"""What each sub-question asks of its source, once the evidence it depends on is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from connectors.base import Evidence, Lookup, LookupValue
from policies.facts import FactValue
from policies.version import Period, instant_period
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.question import Question
from support_agent.domain.tenant import Tenant
from support_agent.domain.verdict import Verdict
from support_agent.pipeline.assessment import date_periods, statements_of_customer
from support_agent.pipeline.planning import MAX_ORDERS, Slots
from support_agent.pipeline.retrieval import Findings

PASSAGES = "passages"
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
            "text": question.text,
            "as_of": slots.as_of or instant_period(question.asked_at),
            "known": known_dimensions(findings.evidence, question, slots, tenant),
            **sub.parameters,
        }
        return [(sub.id, Lookup(source=sub.source, needs=sub.needs, parameters=parameters))]
    return [
        (sub.id, Lookup(source=sub.source, needs=sub.needs, parameters={**sub.parameters, **_dates(facts, question)}))
        for facts in _facts_by_order(findings, question, slots, tenant)
    ]


def orders_in(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The order numbers that the evidence holds, in its order."""
    return tuple(dict.fromkeys(one.locator.document for one in evidence if one.source == "orders"))


def known_dimensions(
    evidence: Iterable[Evidence], question: Question, slots: Slots, tenant: Tenant
) -> dict[str, FactValue]:
    """Where the customer stands, by applicability dimension; what is unknown, or differs by order, limits nothing."""
    facts: dict[str, FactValue] = {
        name: value
        for name, value in statements_of_customer(question, slots).items()
        if not isinstance(value, Period)
    }
    facts |= {one.need: one.value for one in evidence if one.source == "profile" and one.value is not None}
    return {dimension: facts[fact] for dimension, fact in tenant.dimensions.items() if fact in facts}


def with_further_facts(plan: Plan, verdict: Verdict, findings: Findings, tenant: Tenant) -> Plan:
    """The plan with sub-questions for facts that what governs needs and no sub-question has asked for."""
    asked = {need for sub in plan.sub_questions for need in sub.needs}
    by_source: dict[str, list[str]] = {}
    for need in verdict.missing:
        declaration = tenant.facts.get(need)
        if declaration is not None and need not in asked and declaration.source not in findings.failures:
            by_source.setdefault(declaration.source, []).append(need)
    further = [
        SubQuestion(id=f"q{number}", source=source, needs=tuple(needs))
        for number, (source, needs) in enumerate(sorted(by_source.items()), start=len(plan.sub_questions) + 1)
        if source in tenant.connectors
    ]
    return replace(plan, sub_questions=(*plan.sub_questions, *further)) if further else plan


def _facts_by_order(
    findings: Findings, question: Question, slots: Slots, tenant: Tenant
) -> Sequence[Mapping[str, Period]]:
    stated = statements_of_customer(question, slots)
    shared = {one.need: one.value for one in findings.evidence if one.source not in {"orders", *DOCUMENT_SOURCES}}
    per_order: dict[str, dict[str, FactValue]] = {}
    for one in findings.from_source("orders"):
        per_order.setdefault(one.locator.document, {})[one.need] = one.value
    return [
        date_periods({**stated, **{name: value for name, value in {**shared, **facts}.items() if value is not None}}, tenant)
        for facts in (list(per_order.values())[:MAX_ORDERS] or [{}])
    ]


def _dates(periods: Mapping[str, Period], question: Question) -> dict[str, LookupValue]:
    return {"dates": dict(periods), "asked_at": question.asked_at}
