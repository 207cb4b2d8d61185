"""Which row of the situation table fits what was gathered, and what of it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from connectors.base import Evidence
from policies.version import PolicyVersion
from support_agent.domain.playbook import Playbook
from support_agent.pipeline import conclusion, planning
from support_agent.pipeline.assessment import Case
from support_agent.pipeline.composition import clarify, next_step
from support_agent.pipeline.conclusion import Conclusion, Setting
from support_agent.pipeline.gathering import Gathered, leading_here
from support_agent.pipeline.lookups import (
    PASSAGES,
    TERMS,
    in_a_gap,
    in_force_twice,
    orders_in,
    sides_of_comparison,
)
from support_agent.pipeline.retrieval import Findings


def conclude(gathered: Gathered, playbook: Playbook | None, setting: Setting) -> Conclusion:
    """The row of the situation table that fits."""
    plan, findings = gathered.plan, gathered.findings
    down = [sub for sub in plan.sub_questions if sub.source in findings.failures]
    if (lost := next((sub for sub in down if sub.critical), None)) is not None:
        return conclusion.hand_over("source_unavailable", setting, need=lost.needs[0])
    unread = tuple(dict.fromkeys(sub.source for sub in down))
    found = orders_in(findings.evidence, asked_at=setting.question.asked_at)
    absent = [number for number in setting.slots.order_numbers if number not in found]
    if absent and any(sub.source == "orders" for sub in plan.sub_questions):
        return conclusion.order_not_found(absent[0], setting)
    if playbook is not None and playbook.form in {"decision", "facts"}:
        if gathered.spent and not gathered.verdict.sufficient:
            return conclusion.nothing_found(setting, missing=gathered.verdict.missing)
        if playbook.order_slot and (question := _which_order(found, setting)) is not None:
            return question
        return conclusion.from_playbook(playbook, gathered.cases, setting, plan=plan, unread=unread)
    case = gathered.cases[0]
    step = _next_step(playbook, case, setting)
    if playbook is not None and playbook.form == "comparison":
        return _compared(findings, case, setting, unread, step)
    return _from_passages(gathered, case, setting, unread, step)


def _which_order(found: Sequence[str], setting: Setting) -> Conclusion | None:
    """A question back when no order fits, or more than can be compared."""
    if len(found) > planning.MAX_ORDERS:
        clarification = replace(clarify("order", setting.voice), question=setting.voice.own("too_many_orders"))
        return conclusion.ask_back(clarification)
    stated = any(name.startswith("order.") for name in setting.question.stated_facts)
    return None if found or stated else conclusion.ask_back(clarify("order", setting.voice))


def _from_passages(
    gathered: Gathered, case: Case, setting: Setting, unread: Sequence[str], step: str | None
) -> Conclusion:
    found = leading_here(gathered.findings, setting)
    if found.lead is None:
        # A topic that has versions but none in force is a gap, and said; one that nobody wrote about is not known.
        gap = next((r for r in case.resolutions.values() if r.status == "policy_gap"), None)
        if gap is not None or in_a_gap(gathered.findings, setting.question, setting.slots, setting.tenant):
            need = gap.need if gap else None
            return conclusion.hand_over("policy_gap", setting, need=need, resolutions=case.resolutions.values())
        return conclusion.nothing_found(setting)
    beside = None
    if setting.question.principal.kind == "staff":
        hits = found.hits
    elif PASSAGES in case.resolutions:
        hits = (_prevailing(found.lead, case),)
    elif (fact := _tells_apart(found.hits, case, setting)) is not None:
        return conclusion.ask_back(clarify(fact, setting.voice))
    elif not found.clear:
        options = dict.fromkeys(_heading(hit) for hit in found.hits[: planning.MAX_ORDERS])
        return conclusion.ask_back(clarify("passages", setting.voice, options=list(options)))
    else:
        hits = (_prevailing(found.lead, case),)
        beside = found.beside if hits[0] is found.lead else None
    versions = [hit.clause.version for hit in hits[:1] if hit.clause is not None]
    # A rendition is as good as its original.
    policies = {name for version in versions for name in (version.policy, version.rendition_of) if name is not None}
    if any(in_force_twice(policy, gathered.findings, setting.question, setting.slots) for policy in policies):
        return conclusion.hand_over("conflict", setting, need=PASSAGES, resolutions=case.resolutions.values())
    # A passage may only stand alone when the other sources on its topic have been read.
    unchecked = any(
        TERMS in sub.needs and sub.id not in gathered.findings.brought for sub in gathered.plan.sub_questions
    )
    return conclusion.from_passages(
        hits,
        case,
        setting,
        plan=gathered.plan,
        unread=unread,
        unchecked=unchecked,
        step=step,
        wanted=found.sought,
        beside=beside,
    )


def _tells_apart(hits: Sequence[Evidence], case: Case, setting: Setting) -> str | None:
    """The unknown fact that says which of several policies on one topic the question is about.

    Only policies that say the same thing each for their own customers count: clauses of one heading, limited in the
    same dimension to other values.
    """
    lead = hits[0].clause
    if lead is None:
        return None
    alike = [
        hit.clause
        for hit in hits[1:]
        if hit.clause is not None
        and hit.clause.version.topic == lead.version.topic
        and hit.clause.version.policy != lead.version.policy
        and hit.clause.anchor == lead.anchor
    ]
    for dimension, fact in setting.tenant.dimensions.items():
        own = lead.applies_to.dimensions().get(dimension)
        others = [clause.applies_to.dimensions().get(dimension) for clause in alike]
        if own is not None and case.facts.get(fact) is None and any(o is not None and not o & own for o in others):
            return fact
    return None


def _prevailing(lead: Evidence, case: Case) -> Evidence:
    """The passage to quote: the one that leads, or the one that prevails over it, itself or by its term."""
    weighed = case.resolutions.get(PASSAGES)
    if weighed is not None and weighed.winner is not None:
        return weighed.winner.evidence
    for resolution in case.resolutions.values():
        winner = resolution.winner
        if winner and winner.evidence.clause and lead.clause and winner.evidence.clause.locator != lead.clause.locator:
            speakers = [winner, *resolution.agreeing]
            if not any(s.evidence.clause and s.evidence.clause.locator == lead.clause.locator for s in speakers):
                return winner.evidence
    return lead


def _heading(hit: Evidence) -> str:
    return f"{hit.clause.version.title}: {hit.clause.heading}" if hit.clause else hit.locator.document


def _compared(findings: Findings, case: Case, setting: Setting, unread: Sequence[str], step: str | None) -> Conclusion:
    sides = sides_of_comparison(findings, question=setting.question, slots=setting.slots, tenant=setting.tenant)
    if sides.ask is not None:
        return conclusion.ask_back(clarify(sides.ask, setting.voice))
    if sides.older is None or sides.newer is None:
        return conclusion.nothing_found(setting)
    older, newer = (_terms_in(findings.evidence, side) for side in (sides.older, sides.newer))
    return conclusion.from_comparison(older, newer, case, setting, unread=unread, step=step)


def _terms_in(evidence: Sequence[Evidence], version: PolicyVersion) -> list[Evidence]:
    found = [e for e in evidence if e.term is not None and e.term.clause.version.version == version.version]
    return [e for e in found if e.term is not None and e.term.clause.version.policy == version.policy]


def _next_step(playbook: Playbook | None, case: Case, setting: Setting) -> str | None:
    if playbook is None or not playbook.next_steps:
        return None
    return next_step(playbook.next_steps[0], conclusion.grounds_of(case, setting), setting.voice)
