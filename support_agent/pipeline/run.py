"""The stages in order: what happens to one question from its text to its outcome.

question -> plan -> evidence -> verdict -> resolution -> decision -> answer, question back, refusal or escalation. Data
only flows down; this module alone knows the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID

from connectors.base import Connector, Evidence, Lookup, Scope
from policies.applicability import applies
from policies.session import TenantSession
from policies.version import PolicyVersion
from support_agent.domain.outcome import Escalation, Outcome, Usage
from support_agent.domain.plan import Plan
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Earlier, Question
from support_agent.domain.reading import Reading
from support_agent.domain.run import LookupRecord, Round, Run
from support_agent.domain.tenant import Tenant
from support_agent.domain.verdict import Verdict
from support_agent.pipeline import conclusion, follow_up, multi_part, planning, retrieval
from support_agent.pipeline.assessment import Case, assess, weigh_passages
from support_agent.pipeline.composition import clarify, next_step
from support_agent.pipeline.conclusion import Conclusion, Setting
from support_agent.pipeline.lookups import (
    PASSAGES,
    TERMS,
    in_a_gap,
    in_force_twice,
    known_dimensions,
    lookups_of,
    orders_in,
    sides_of_comparison,
    with_further_facts,
)
from support_agent.pipeline.planning import Slots
from support_agent.pipeline.ports import Conversation, Similarity, Words
from support_agent.pipeline.relevance import Leading, leading
from support_agent.pipeline.resolution import Spoken
from support_agent.pipeline.retrieval import Findings
from support_agent.pipeline.subject import subject_tokens
from support_agent.pipeline.verification import CheckedNeed, Progress, audit

#: Statements that frame every question: begin, tenant, record, commit.
FRAME = 4
#: Rounds in a row without new evidence after which the search stops.
BARREN_ROUNDS = 2
NOTHING_ASKED = Verdict(sufficient=False, missing=(), conflicts=(), next_action="stop")
NO_PLAN = Plan(route="single", playbook=None, sub_questions=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the stages are handed from outside."""

    connectors: Mapping[str, Connector]
    words: Words
    read: Callable[[Question], Reading]
    conversation: Conversation
    #: None: no vectors; words alone recognise a question.
    similarity: Similarity | None
    #: Monotonic seconds.
    clock: Callable[[], float]
    new_id: Callable[[], UUID]


@dataclass(slots=True)
class _Trace:
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
class _Answered:
    """How one question ended, and what that rests on."""

    concluded: Conclusion
    gathered: _Gathered
    #: What the customer calls the topic that the question names.
    subject: str | None = None

    @property
    def orders(self) -> tuple[str, ...]:
        """Numbers of the orders it was about."""
        return tuple(case.subject for case in self.gathered.cases if case.subject is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """What the rounds brought."""

    plan: Plan
    findings: Findings
    cases: tuple[Case, ...]
    verdict: Verdict
    #: A limit ended the search before every sub-question was asked.
    spent: bool = False


async def answer(question: Question, *, tenant: Tenant, parts: Parts, session: TenantSession) -> Run:
    """Take one question through all stages.

    Args:
        session: A session of the tenant, for every lookup on our own database.
    """
    trace = _Trace(parts.clock, parts.clock())
    with trace.stage("read"):
        reading = parts.read(question)
        if question.conversation is not None and question.earlier is None and follow_up.leans(reading):
            question = replace(question, earlier=await parts.conversation(session, question))
        reading = follow_up.continued(question, reading, read=parts.read)
        questions = _told_apart(question, reading, parts)
    answered: list[_Answered] = []
    for text in questions:
        asked = replace(question, text=text)
        if answered:
            asked = replace(asked, locale=reading.language, earlier=_part_before(answered[-1], asked))
        part = reading if len(questions) == 1 else follow_up.continued(asked, parts.read(asked), read=parts.read)
        answered.append(await _answer(asked, part, tenant, parts, session, trace, n_lookups=_n_lookups(answered)))
    return _run(_joined(answered), question, reading, tenant, trace, parts, session)


def _told_apart(question: Question, reading: Reading, parts: Parts) -> tuple[str, ...]:
    """The questions in one text; the text alone where its words as a whole decide how it ends."""
    if planning.triage(reading, principal=question.principal) is not None:
        return (reading.text,)
    return multi_part.questions_in(reading, read=lambda text: parts.read(replace(question, text=text)))


async def _answer(
    question: Question,
    reading: Reading,
    tenant: Tenant,
    parts: Parts,
    session: TenantSession,
    trace: _Trace,
    *,
    n_lookups: int,
) -> _Answered:
    """Take one question with one subject from its reading to its end.

    Args:
        n_lookups: Lookups already made for other questions of the same text.
    """
    voice = parts.words.voice(reading.language, tenant.zone)
    setting = Setting(
        # From here on what counts is what is asked, whichever question said it.
        question=replace(question, text=reading.text),
        slots=planning.read_slots(reading, tenant=tenant, playbook=None, asked_at=question.asked_at),
        tenant=tenant,
        words=parts.words,
        voice=voice,
    )
    gathered = _Gathered(plan=NO_PLAN, findings=Findings(n_lookups=n_lookups), cases=(), verdict=NOTHING_ASKED)
    ending = planning.triage(reading, principal=question.principal)
    playbook = None
    if ending is None:
        with trace.stage("plan"):
            playbook = await _recognised(reading, tenant, parts)
            slots = planning.read_slots(reading, tenant=tenant, playbook=playbook, asked_at=question.asked_at)
            setting = replace(setting, slots=slots)
            plan = planning.plan_playbook(playbook, setting.slots) if playbook else planning.plan_single(setting.slots)
        gathered = replace(gathered, plan=plan)
        ending = planning.gate(question, setting.slots, playbook=playbook)
    early = conclusion.ended(ending, setting) if ending else _asked_before_looking(question, setting, playbook)
    if early is None:
        gathered = _with_assertions(await _gather(gathered, playbook, setting, parts, session, trace))
        setting = replace(setting, evidence=gathered.findings.evidence)
        with trace.stage("compose"):
            followed = playbook if gathered.plan.playbook is not None else None
            concluded = conclusion.unless_it_refers_to_nothing(_conclude(gathered, followed, setting), setting)
    else:
        concluded = early
    subject = next(iter(tenant.topics.get(setting.slots.topic or "", {}).get(reading.language, ())), None)
    return _Answered(concluded=concluded, gathered=gathered, subject=subject)


def _part_before(part: _Answered, question: Question) -> Earlier:
    """A part as what was asked before the next one, so that "it" is what the first was about."""
    return Earlier(text=question.text, asked_at=question.asked_at, status=part.concluded.status, orders=part.orders)


def _n_lookups(answered: Sequence[_Answered]) -> int:
    return answered[-1].gathered.findings.n_lookups if answered else 0


def _joined(answered: Sequence[_Answered]) -> _Answered:
    """One question's end of those of its parts."""
    if len(answered) == 1:
        return answered[0]
    gathered = [part.gathered for part in answered]
    evidence, numbers = multi_part.joined_evidence([one.findings.evidence for one in gathered])
    return _Answered(
        concluded=multi_part.joined_conclusion(
            [part.concluded for part in answered], subjects=[part.subject for part in answered], evidence=numbers
        ),
        gathered=_Gathered(
            plan=multi_part.joined_plan([one.plan for one in gathered]),
            findings=replace(gathered[-1].findings, evidence=evidence),
            cases=tuple(case for one in gathered for case in one.cases),
            verdict=multi_part.joined_verdict([one.verdict for one in gathered]),
        ),
    )


async def _recognised(reading: Reading, tenant: Tenant, parts: Parts) -> Playbook | None:
    decided, undecided = planning.by_words(reading, tenant.playbooks)
    if decided is not None or parts.similarity is None or not undecided:
        return decided
    likeness = await parts.similarity(reading.text, undecided)
    return planning.by_likeness(reading, undecided, likeness)


def _asked_before_looking(question: Question, setting: Setting, playbook: Playbook | None) -> Conclusion | None:
    """A question back that needs no lookup: a date with two readings, a staff member who named no customer."""
    slots = setting.slots
    if slots.ambiguous is not None:
        options = [setting.voice.own("day_option", start=period.start) for period in slots.ambiguous.alternatives]
        return conclusion.ask_back(clarify("date", setting.voice, options=options, written=slots.ambiguous.text))
    if question.principal.kind == "staff" and question.principal.customer_id is None and _needs_order(playbook, slots):
        return conclusion.ask_back(clarify("customer", setting.voice))
    if playbook is not None and playbook.topic_slot and slots.topic is None and _names_no_subject(playbook, question):
        words = (topic[setting.voice.language] for topic in setting.tenant.topics.values())
        return conclusion.ask_back(clarify("topic", setting.voice, options=[named[0] for named in words if named]))
    return None


def _names_no_subject(playbook: Playbook, question: Question) -> bool:
    """Whether there is nothing to look for: two versions of what, or words of asking alone."""
    return playbook.form == "comparison" or not subject_tokens(question.text)


def _needs_order(playbook: Playbook | None, slots: Slots) -> bool:
    return bool(slots.order_numbers) or bool(playbook and playbook.order_slot)


async def _gather(
    gathered: _Gathered,
    playbook: Playbook | None,
    setting: Setting,
    parts: Parts,
    session: TenantSession,
    trace: _Trace,
) -> _Gathered:
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
    return _Gathered(plan=plan, findings=findings, cases=cases, verdict=verdict, spent=spent)


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


def _with_assertions(gathered: _Gathered) -> _Gathered:
    """What the customer stated and an answer may rest on, numbered after what the sources said."""
    findings = gathered.findings
    stated = [e for case in gathered.cases for e in case.of.values() if e.source == "customer"]
    evidence = {e.key: e for e in (*findings.evidence, *stated)}
    return replace(gathered, findings=replace(findings, evidence=tuple(evidence.values())))


async def _scope(
    plan: Plan, findings: Findings, setting: Setting, parts: Parts, session: TenantSession, trace: _Trace
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
    lead = _leading(findings, setting).lead
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


def _leading(findings: Findings, setting: Setting) -> Leading:
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


def _conclude(gathered: _Gathered, playbook: Playbook | None, setting: Setting) -> Conclusion:
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
    gathered: _Gathered, case: Case, setting: Setting, unread: Sequence[str], step: str | None
) -> Conclusion:
    found = _leading(gathered.findings, setting)
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


def _run(
    answered: _Answered,
    question: Question,
    reading: Reading,
    tenant: Tenant,
    trace: _Trace,
    parts: Parts,
    session: TenantSession,
) -> Run:
    concluded, gathered = answered.concluded, answered.gathered
    escalation = (
        Escalation(id=str(parts.new_id()), reason=concluded.reason, need=concluded.need) if concluded.reason else None
    )
    outcome = Outcome(
        run_id=str(parts.new_id()),
        status=concluded.status,
        language=reading.language,
        answer=concluded.answer,
        plan=gathered.plan,
        verdict=gathered.verdict,
        rounds=len(trace.rounds),
        usage=Usage(
            lookups=gathered.findings.n_lookups,
            statements=session.n_statements + FRAME,
            elapsed_ms=(parts.clock() - trace.started) * 1000,
        ),
        next_step=concluded.next_step,
        decision=concluded.decision,
        governing_date=concluded.governing_date,
        citations=concluded.citations,
        conflicts=concluded.conflicts,
        uncertainties=concluded.uncertainties,
        clarification=concluded.clarification,
        escalation=escalation,
        time_zone=concluded.time_zone or tenant.time_zone,
    )
    return Run(
        question=question,
        reading=reading,
        rounds=tuple(trace.rounds),
        evidence=gathered.findings.evidence,
        resolutions=tuple(r for case in gathered.cases for r in case.resolutions.values()),
        draft=concluded.draft,
        outcome=outcome,
        revision=tenant.revision,
        timings=trace.timings,
    )
