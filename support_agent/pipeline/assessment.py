"""What the evidence says about one order, or about the policy when no order is named.

Facts come from the record, else from what the customer states; value terms are resolved first, rules run on the
resolved values, and a rule's results are resolved like values. Nothing here asks anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from connectors.base import Evidence, Locator, evidence_key
from policies.facts import FactValue
from policies.rules import load_rule
from policies.version import Period, PolicyVersion, day_period, instant_period
from support_agent.domain.conflict import DateValue, Resolution, Situation, StatedDate
from support_agent.domain.outcome import Decision
from support_agent.domain.plan import Plan
from support_agent.domain.question import Question
from support_agent.domain.tenant import Tenant
from support_agent.pipeline import decision
from support_agent.pipeline.composition import Mismatch
from support_agent.pipeline.planning import Slots
from support_agent.pipeline.resolution import Spoken, resolve, resolve_passages

CUSTOMER = "customer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One order with everything that was made of its evidence; `subject` None: no order."""

    subject: str | None
    #: Facts by name; null ones are absent.
    facts: Mapping[str, FactValue]
    #: Facts and resolved terms.
    values: Mapping[str, FactValue]
    #: Fact or term -> the evidence that its value rests on.
    of: Mapping[str, Evidence]
    #: What the customer stated and a record contradicts.
    mismatches: tuple[Mismatch, ...] = ()
    #: Term -> what the ladder made of it, in the order in which they were needed.
    resolutions: Mapping[str, Resolution] = field(default_factory=dict)
    decision: Decision | None = None
    #: Facts that what governs needs and nobody has stated.
    missing: tuple[str, ...] = ()

    @property
    def zone(self) -> ZoneInfo | None:
        """The zone of the policy that decides; None when none does."""
        deciding = self.resolutions.get(self.decision.term) if self.decision else None
        winner = deciding.winner if deciding else next((r.winner for r in self.resolutions.values() if r.winner), None)
        return winner.evidence.clause.version.zone if winner and winner.evidence.clause else None


def statements_of_customer(question: Question, slots: Slots) -> dict[str, FactValue | Period]:
    """What the customer states, by fact: flags and words, and dates of events as periods."""
    return {**slots.event_dates, **slots.asserted, **question.stated_facts}


def assess(
    subject: str | None,
    *,
    evidence: Sequence[Evidence],
    plan: Plan,
    question: Question,
    slots: Slots,
    tenant: Tenant,
) -> Case:
    """Everything that `evidence` says about the order `subject`.

    Args:
        evidence: All of the run; records of other orders are left aside.
    """
    stated = statements_of_customer(question, slots)
    case = _facts(subject, evidence, stated, tenant)
    by_need: dict[str, list[Evidence]] = {}
    for one in evidence:
        if one.term is not None:
            by_need.setdefault(one.need, []).append(one)
    work = _Work(
        by_need=by_need,
        question=question,
        tenant=tenant,
        situation=_situation(case, stated, slots, question, tenant, evidence, general=subject is None),
        values=dict(case.facts),
        of=dict(case.of),
    )
    wanted = [need for need in plan.checklist if need in by_need]
    for need in dict.fromkeys([*([plan.decide] if plan.decide in by_need else []), *wanted]):
        work.settle(need)
    decided = None
    if plan.decide is not None and (resolution := work.resolutions.get(plan.decide)) is not None:
        asserted = frozenset(name for name, one in work.of.items() if one.source == CUSTOMER)
        decided = decision.decide(resolution, values=work.values, asked_at=question.asked_at, asserted=asserted)
    return replace(
        case,
        values=work.values,
        of=work.of,
        resolutions=work.resolutions,
        decision=decided,
        missing=_missing(work.resolutions, tenant),
    )


def weigh_passages(
    case: Case, spoken: Iterable[Spoken], *, question: Question, slots: Slots, tenant: Tenant
) -> Resolution | None:
    """What the ladder makes of passages that contradict each other on the question; None: none do."""
    stated = statements_of_customer(question, slots)
    situation = _situation(case, stated, slots, question, tenant, (), general=case.subject is None)
    return resolve_passages(spoken, question=question.text, situation=situation)


def date_periods(facts: Mapping[str, FactValue | Period], tenant: Tenant) -> dict[str, Period]:
    """The date facts as periods wide enough for every policy's zone: what the store is asked for."""
    periods = {}
    for name, value in facts.items():
        if (period := _wide(value)) is not None and (name in tenant.facts):
            periods[name] = period
    return periods


def _wide(value: FactValue | Period) -> Period | None:
    match value:
        case Period():
            return value
        case datetime():
            return instant_period(value)
        case date():
            east, west = ZoneInfo("Etc/GMT-14"), ZoneInfo("Etc/GMT+12")
            return Period(start=day_period(value, east).start, end=day_period(value, west).end)
        case _:
            return None


class _Work:
    """Terms as they are settled, each once, those that a rule names before the rule."""

    def __init__(
        self,
        *,
        by_need: Mapping[str, Sequence[Evidence]],
        question: Question,
        tenant: Tenant,
        situation: Situation,
        values: dict[str, FactValue],
        of: dict[str, Evidence],
    ) -> None:
        self.values, self.of = values, of
        self.resolutions: dict[str, Resolution] = {}
        self._by_need = by_need
        self._question = question
        self._tenant = tenant
        self._situation = situation
        self._settling: set[str] = set()

    def settle(self, need: str) -> None:
        """Resolve `need` and, before it, the terms that its rules name."""
        if need in self.resolutions or need in self._settling:
            return
        self._settling.add(need)
        rules = self._by_need[need]
        for name in sorted(decision.references(rules)):
            if name in self._by_need:
                self.settle(name)
        candidates = decision.evaluate_rules(rules, values=self.values, asked_at=self._question.asked_at)
        resolution = resolve(need, candidates, self._situation)
        self.resolutions[need] = resolution
        if resolution.status == "settled" and resolution.winner is not None:
            self.values[need] = resolution.winner.value
            self.of[need] = resolution.winner.evidence


def _facts(
    subject: str | None, evidence: Iterable[Evidence], stated: Mapping[str, FactValue | Period], tenant: Tenant
) -> Case:
    of: dict[str, Evidence] = {}
    for one in evidence:
        about_another = one.source == "orders" and one.locator.document != subject
        if one.clause is None and one.authority == "record" and not about_another:
            of.setdefault(one.need, one)
    facts: dict[str, FactValue] = {name: one.value for name, one in of.items() if one.value is not None}
    mismatches = []
    for name, value in stated.items():
        record = of.get(name)
        if record is not None and record.value is not None:
            if not _agrees(value, record.value, tenant):
                mismatches.append(Mismatch(fact=name, stated=value, record=record))
        elif not isinstance(value, Period):
            of[name] = asserted_evidence(name, value)
            facts[name] = value
    return Case(subject=subject, facts=facts, values=facts, of=of, mismatches=tuple(mismatches))


def asserted_evidence(name: str, value: FactValue) -> Evidence:
    """What the customer states, as evidence of the lowest kind: used where no record speaks, and named."""
    locator = Locator(document=CUSTOMER, version=None, clause=name)
    said = value.isoformat() if isinstance(value, datetime | date) else str(value)
    return Evidence(
        key=evidence_key(CUSTOMER, locator, said),
        source=CUSTOMER,
        locator=locator,
        need=name,
        value=value,
        quote=said,
        authority=CUSTOMER,
    )


def _agrees(stated: FactValue | Period, recorded: FactValue, tenant: Tenant) -> bool:
    """Whether a statement and a record say the same; a day or a range agrees with every instant in it."""
    if not isinstance(recorded, datetime | date):
        return stated == recorded
    period = recorded_period(recorded, tenant)
    match stated:
        case Period():
            return stated.overlaps(period)
        case datetime() if isinstance(recorded, datetime):
            return stated == recorded
        case date():
            return day_period(stated, tenant.zone).overlaps(period)
        case _:
            return False


def recorded_period(value: datetime | date, tenant: Tenant) -> Period:
    """A recorded date as a period: the instant, or the whole day in the tenant's zone."""
    return instant_period(value) if isinstance(value, datetime) else day_period(value, tenant.zone)


def _situation(
    case: Case,
    stated: Mapping[str, FactValue | Period],
    slots: Slots,
    question: Question,
    tenant: Tenant,
    evidence: Iterable[Evidence],
    *,
    general: bool,
) -> Situation:
    dates: dict[str, DateValue] = {
        name: value for name, value in case.facts.items() if isinstance(value, datetime | date)
    }
    for name, value in stated.items():
        if isinstance(value, Period) and name not in case.facts:
            dates.setdefault(name, value)
    known = {dimension: _text(case.facts.get(fact)) for dimension, fact in tenant.dimensions.items()}

    def holds(when: str, zone: ZoneInfo) -> bool | frozenset[str]:
        found = load_rule(when).evaluate(case.facts, asked_at=question.asked_at, zone=zone)
        return found.missing if found.missing or not isinstance(found.value, bool) else found.value

    return Situation(
        asked_at=question.asked_at,
        ladder=tenant.ladder,
        dates=dates,
        stated=_stated_date(slots),
        general=general,
        known=known,
        dimension_facts=tenant.dimensions,
        groups=tenant.region_groups,
        holds=holds,
        versions=_versions(evidence),
    )


def _stated_date(slots: Slots) -> StatedDate | None:
    if slots.as_of is not None:
        return StatedDate(period=slots.as_of)
    return next((StatedDate(period=period, fact=fact) for fact, period in slots.event_dates.items()), None)


def _versions(evidence: Iterable[Evidence]) -> tuple[PolicyVersion, ...]:
    versions = [e.term.clause.version for e in evidence if e.term is not None]
    return tuple({id(version): version for version in versions}.values())


def _missing(resolutions: Mapping[str, Resolution], tenant: Tenant) -> tuple[str, ...]:
    """The facts that a resolution waits for; a term that waits for another term names that one's facts."""
    needed = [name for resolution in resolutions.values() for name in sorted(resolution.needs_facts)]
    return tuple(dict.fromkeys(name for name in needed if name in tenant.facts or name not in resolutions))


def _text(value: FactValue) -> str | None:
    return value if isinstance(value, str) else None
