"""Round after round: what is asked next, what it brought, and whether that is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from connectors.base import Evidence, Lookup, Scope
from policies.applicability import applies
from policies.session import TenantSession
from support_agent.domain.plan import Plan
from support_agent.domain.playbook import Playbook
from support_agent.domain.run import LookupRecord, Round
from support_agent.domain.tenant import Tenant
from support_agent.domain.verdict import Verdict
from support_agent.pipeline import planning, retrieval
from support_agent.pipeline.assessment import Case, assess, weigh_passages
from support_agent.pipeline.conclusion import Setting
from support_agent.pipeline.lookups import (
    PASSAGES,
    TERMS,
    known_dimensions,
    lookups_of,
    orders_in,
    with_further_facts,
)
from support_agent.pipeline.ports import Parts
from support_agent.pipeline.relevance import Leading, leading
from support_agent.pipeline.resolution import Spoken
from support_agent.pipeline.retrieval import Findings
from support_agent.pipeline.verification import CheckedNeed, Progress, audit

#: Rounds in a row without new evidence after which the search stops.
BARREN_ROUNDS = 2
NOTHING_ASKED = Verdict(sufficient=False, missing=(), conflicts=(), next_action="stop")


@dataclass(slots=True)
class Trace:
    """What a run has cost and gathered so far."""

    clock: Callable[[], float]
    started: float
    #: When the first lookup could be made: from then on the time budget runs.
    gathering: float | None = None
    rounds: list[Round] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = self.clock()
        try:
            yield
        finally:
            self.timings[name] = round(self.timings.get(name, 0.0) + (self.clock() - began) * 1000, 3)

    def deadline(self, budget_s: float) -> float:
        if self.gathering is None:
            self.gathering = self.clock()
        return self.gathering + budget_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the rounds brought."""

    plan: Plan
    findings: Findings
    cases: tuple[Case, ...]
    verdict: Verdict
    #: A limit ended the search before every sub-question was asked.
    spent: bool = False


async def gather(
    gathered: Gathered,
    playbook: Playbook | None,
    setting: Setting,
    parts: Parts,
    session: TenantSession,
    trace: Trace,
) -> Gathered:
    """Round after round until every need is confirmed, nothing is left to ask, or a limit is reached."""
    budget = setting.tenant.budget
    plan, deadline = gathered.plan, trace.deadline(budget.time_s)
    scope, findings, records = await _scope(plan, gathered.findings, setting, parts, session, trace)
    cases: tuple[Case, ...] = ()
    verdict, spent, barren = NOTHING_ASKED, False, 0
    for number in range(1, budget.max_rounds + 1):
        wanted = retrieval.unsent(_lookups(plan, findings, setting, parts), findings)
        room = max(0, budget.max_lookups - findings.n_lookups) if parts.clock() < deadline else 0
        spent = len(wanted) > room
        if number > 1 and not wanted[:room]:
            break
        with trace.stage("retrieve"):
            fetched = await retrieval.fetch(
                wanted[:room],
                connectors=parts.connectors,
                scope=scope,
                session=session,
                deadline=deadline,
                clock=parts.clock,
            )
        findings, new = retrieval.add(findings, fetched)
        records += new
        plan = _refined(plan, findings, setting)
        with trace.stage("resolve"):
            checked = _with_leading_terms(plan, findings, setting)
            cases = _with_passages_weighed(checked, _cases(checked, findings, setting), findings, setting)
        with trace.stage("verify"):
            exhausted = spent or number == budget.max_rounds
            verdict = _verdict(checked, playbook, cases, findings, setting, exhausted=exhausted)
        plan = with_further_facts(plan, verdict, findings, setting.slots, setting.tenant)
        if plan.decide in verdict.missing and verdict.next_action == "stop" and not exhausted:
            plan = planning.with_passages_instead(plan)
        barren = 0 if any(record.n_added for record in records) else barren + 1
        trace.rounds.append(Round(number=len(trace.rounds) + 1, lookups=records, verdict=verdict))
        records = ()
        if spent or barren >= BARREN_ROUNDS or not _lookups(plan, findings, setting, parts):
            break
    else:
        spent = True
    return Gathered(plan=plan, findings=findings, cases=cases, verdict=verdict, spent=spent)


def with_assertions(gathered: Gathered) -> Gathered:
    """What the customer stated and an answer may rest on, numbered after what the sources said."""
    findings = gathered.findings
    stated = [e for case in gathered.cases for e in case.of.values() if e.source == "customer"]
    evidence = {e.key: e for e in (*findings.evidence, *stated)}
    return replace(gathered, findings=replace(findings, evidence=tuple(evidence.values())))


def _lookups(plan: Plan, findings: Findings, setting: Setting, parts: Parts) -> list[tuple[str, Lookup]]:
    """What the next round would ask: every sub-question whose inputs are there, of a source that there is."""
    return [
        pair
        for sub in retrieval.due(plan, findings)
        if sub.source in parts.connectors
        for pair in lookups_of(
            sub, findings=findings, question=setting.question, slots=setting.slots, tenant=setting.tenant
        )
    ]


async def _scope(
    plan: Plan, findings: Findings, setting: Setting, parts: Parts, session: TenantSession, trace: Trace
) -> tuple[Scope, Findings, tuple[LookupRecord, ...]]:
    """What the caller may see; the customer's profile says which account they belong to and is evidence at once."""
    principal, tenant = setting.question.principal, setting.tenant
    scope = Scope(
        tenant_id=tenant.id,
        customer_id=principal.customer_id,
        verified=principal.verified,
        audiences=frozenset({"public", "staff"}) if principal.kind == "staff" else frozenset({"public"}),
    )
    profiles = [sub for sub in plan.sub_questions if sub.source == "profile"]
    if not scope.sees_records or "profile" not in parts.connectors:
        # Asked and answered: there is nothing of theirs to see.
        return scope, replace(findings, brought={sub.id: () for sub in profiles}), ()
    wanted = tuple(dict.fromkeys(need for sub in profiles for need in sub.needs))
    lookup = Lookup(source="profile", needs=wanted)
    with trace.stage("retrieve"):
        fetched = await retrieval.fetch(
            [(profiles[0].id if profiles else "scope", lookup)],
            connectors=parts.connectors,
            scope=scope,
            session=session,
            deadline=trace.deadline(tenant.budget.time_s),
            clock=parts.clock,
        )
    findings, records = retrieval.add(findings, fetched)
    brought = dict.fromkeys((sub.id for sub in profiles), next(iter(findings.brought.values())))
    account = next((e.value for e in findings.evidence if e.need == tenant.dimensions["accounts"]), None)
    return (
        replace(scope, account_id=account if isinstance(account, str) else None),
        replace(findings, brought={**findings.brought, **brought}),
        records,
    )


def _refined(plan: Plan, findings: Findings, setting: Setting) -> Plan:
    """For a question about passages: what is still to be asked after what was found.

    The terms of the topic they stand in, so that no contradiction stays hidden; where the topic that the question
    seemed to name has nothing that speaks to it, one search of all topics; what a translation is of; and for a customer
    of whom it is known where they stand, what the question may have in mind and does not hold for them.
    """
    searches = [sub for sub in plan.sub_questions if PASSAGES in sub.needs]
    if plan.decide is not None or not searches:
        return plan
    lead = leading_here(findings, setting).lead
    topic = lead.clause.version.topic if lead and lead.clause else plan.topic
    asked = {sub.parameters.get("topic") for sub in plan.sub_questions if TERMS in sub.needs}
    if topic is not None and topic not in asked:
        plan = planning.with_terms_of(plan, topic)
    if lead is None and all("topic" in sub.parameters for sub in searches):
        plan = planning.with_wider_search(plan)
    original = lead.clause.version.rendition_of if lead and lead.clause else None
    if original is not None and not any(sub.parameters.get("topic") == original for sub in plan.sub_questions):
        # Policies that a tenant has not put under a topic are topics of their own.
        plan = planning.with_search_of_topic(plan, original)
    known = known_dimensions(findings.evidence, setting.question, setting.slots, setting.tenant)
    if known and not any("known" in sub.parameters for sub in searches):
        plan = planning.with_search_for_others(plan)
    return plan


def leading_here(findings: Findings, setting: Setting) -> Leading:
    """What leads among the passages that hold for this customer."""
    known = known_dimensions(findings.evidence, setting.question, setting.slots, setting.tenant)
    where = {dimension: value for dimension, value in known.items() if isinstance(value, str)}
    groups, on = setting.tenant.region_groups, setting.question.asked_at
    here = [
        e
        for e in findings.evidence
        if e.need != PASSAGES
        or e.clause is None
        or applies(e.clause.applies_to, where, groups=groups, on=on) is not False
    ]
    return leading(here, setting.slots.subject, setting.slots.glossed)


def _cases(plan: Plan, findings: Findings, setting: Setting) -> tuple[Case, ...]:
    subjects: Sequence[str | None] = orders_in(findings.evidence, asked_at=setting.question.asked_at)[
        : planning.MAX_ORDERS
    ] or (None,)
    return tuple(
        assess(
            subject,
            evidence=findings.evidence,
            plan=plan,
            question=setting.question,
            slots=setting.slots,
            tenant=setting.tenant,
        )
        for subject in subjects
    )


def _with_passages_weighed(
    plan: Plan, cases: tuple[Case, ...], findings: Findings, setting: Setting
) -> tuple[Case, ...]:
    """The cases with what is made of passages that contradict each other; where terms do, they have been compared."""
    if plan.decide is not None or not any(PASSAGES in sub.needs for sub in plan.sub_questions):
        return cases
    found = leading(findings.evidence, setting.slots.subject, setting.slots.glossed)
    spoken = [
        Spoken(evidence=hit, clause=hit.clause, standing=standing)
        for hit, standing in zip(found.hits, found.standings, strict=True)
        if hit.clause is not None
    ]
    return tuple(_weighed(case, spoken, setting) for case in cases)


def _weighed(case: Case, spoken: Sequence[Spoken], setting: Setting) -> Case:
    if any(resolution.conflict for resolution in case.resolutions.values()):
        return case
    made = weigh_passages(case, spoken, question=setting.question, slots=setting.slots, tenant=setting.tenant)
    if made is None or made.conflict is None:
        return case
    missing = (*case.missing, *sorted(made.needs_facts - set(case.missing)))
    return replace(case, resolutions={**case.resolutions, made.need: made}, missing=missing)


def _with_leading_terms(plan: Plan, findings: Findings, setting: Setting) -> Plan:
    """For passages, the terms to resolve are those of the passage that leads; for an empty topic, all it ever had."""
    if plan.decide is not None or not any(TERMS in sub.needs for sub in plan.sub_questions):
        return plan
    names: tuple[str, ...] = ()
    if any(PASSAGES in sub.needs for sub in plan.sub_questions):
        found = leading(findings.evidence, setting.slots.subject, setting.slots.glossed)
        names = found.terms if found.lead else _value_terms(findings.evidence)
    subs = tuple(replace(sub, needs=names) if TERMS in sub.needs else sub for sub in plan.sub_questions)
    return replace(plan, sub_questions=subs)


def _value_terms(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(e.need for e in evidence if e.term is not None and e.term.rule is None))


def _verdict(
    plan: Plan,
    playbook: Playbook | None,
    cases: Sequence[Case],
    findings: Findings,
    setting: Setting,
    *,
    exhausted: bool,
) -> Verdict:
    """The audit of the case that is furthest from an answer."""
    asked = frozenset(
        (sub.source, need)
        for sub in plan.sub_questions
        if sub.id in findings.brought and sub.source not in findings.failures
        for need in sub.needs
    )
    verdicts = []
    for case in cases:
        own = [e for e in findings.evidence if e.source != "orders" or e.locator.document == case.subject]
        stated = [e for e in case.of.values() if e.source == "customer"]
        progress = Progress(
            checklist=_checklist(plan, playbook, case, setting.tenant),
            evidence=[*own, *stated],
            resolutions=case.resolutions,
            asked=asked,
            failed=frozenset(findings.failures),
            exhausted=exhausted,
            on_conflict=plan.on_conflict,
        )
        verdicts.append(audit(progress))
    return next((verdict for verdict in verdicts if not verdict.sufficient), verdicts[0])


def _checklist(plan: Plan, playbook: Playbook | None, case: Case, tenant: Tenant) -> list[CheckedNeed]:
    # A fact that may be null and is not waited for is no gap: a rule that is decided without it stands.
    needs = {
        need: CheckedNeed(need=need, source=sub.source, critical=sub.critical, askable=need in tenant.facts)
        for sub in plan.sub_questions
        for need in sub.needs
        if need != TERMS and (need in case.values or need not in tenant.facts or not tenant.facts[need].null)
    }
    for need in case.missing:
        source = tenant.facts[need].source if need in tenant.facts else "customer"
        needs.setdefault(need, CheckedNeed(need=need, source=source, askable=True))
    for slot in playbook.asserted if playbook else ():
        if slot.fact in case.missing:
            needs[slot.fact] = CheckedNeed(need=slot.fact, source="customer", askable=True)
    return list(needs.values())
