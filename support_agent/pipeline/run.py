"""The stages in order: what happens to one question from its text to its outcome.

question -> plan -> evidence -> verdict -> resolution -> decision -> answer, question back, refusal or escalation. Data
only flows down; this module alone knows the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policies.session import TenantSession
from support_agent.domain.outcome import Escalation, Outcome, Usage
from support_agent.domain.plan import Plan
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Language, Question
from support_agent.domain.reading import Reading
from support_agent.domain.run import Run
from support_agent.domain.tenant import Tenant
from support_agent.pipeline import conclusion, follow_up, multi_part, planning
from support_agent.pipeline.composition import clarify
from support_agent.pipeline.conclusion import Conclusion, Setting
from support_agent.pipeline.gathering import NOTHING_ASKED, Gathered, Trace, gather, with_assertions
from support_agent.pipeline.planning import Slots
from support_agent.pipeline.ports import Parts
from support_agent.pipeline.retrieval import Findings
from support_agent.pipeline.situation import conclude
from support_agent.pipeline.subject import subject_tokens

#: Statements that frame every question: begin, tenant, record, commit.
FRAME = 4
NO_PLAN = Plan(route="single", playbook=None, sub_questions=())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """How one question ended, and what that rests on."""

    concluded: Conclusion
    gathered: Gathered
    #: What the customer calls the topic that the question names.
    subject: str | None = None

    @property
    def orders(self) -> tuple[str, ...]:
        """Numbers of the orders it was about."""
        return tuple(case.subject for case in self.gathered.cases if case.subject is not None)


async def answer(question: Question, *, tenant: Tenant, parts: Parts, session: TenantSession) -> Run:
    """Take one question through all stages.

    Args:
        session: A session of the tenant, for every lookup on our own database.
    """
    trace = Trace(parts.clock, parts.clock())
    with trace.stage("read"):
        reading = parts.read(question)
        if question.conversation is not None and question.earlier is None and follow_up.leans(reading):
            question = replace(question, earlier=await parts.conversation(session, question))
        reading = follow_up.continued(question, reading, read=parts.read)
        questions = _told_apart(question, reading, parts)
    answered: list[_Answered] = []
    for text in questions:
        before = answered[-1] if answered else None
        part = reading if len(questions) == 1 else _read_part(question, text, reading.language, before, parts)
        answered.append(await _answer(question, part, tenant, parts, session, trace, before=before))
        if answered[-1].concluded.status == "refused":
            # Then nothing is told of the others either.
            break
    return _run(_joined(answered), question, reading, tenant, trace, parts, session)


def _told_apart(question: Question, reading: Reading, parts: Parts) -> tuple[str, ...]:
    """The questions in one text; the text alone where its words as a whole decide how it ends."""
    if planning.triage(reading, principal=question.principal) is not None:
        return (reading.text,)
    return multi_part.questions_in(reading, read=lambda text: parts.read(replace(question, text=text)))


def _read_part(question: Question, text: str, language: Language, before: _Answered | None, parts: Parts) -> Reading:
    """One of several questions; "it" is the order that the one before was about."""
    asked = replace(question, text=text, locale=language)
    reading = parts.read(asked)
    order = follow_up.referred_to(reading, before.orders) if before is not None else None
    return reading if order is None else parts.read(replace(asked, text=f"{reading.text} {order}"))


async def _answer(
    question: Question,
    reading: Reading,
    tenant: Tenant,
    parts: Parts,
    session: TenantSession,
    trace: Trace,
    *,
    before: _Answered | None,
) -> _Answered:
    """Take one question with one subject from its reading to its end.

    Args:
        before: The question before it in the same text: its lookups count, and its sub-questions are numbered first.
    """
    n_lookups = before.gathered.findings.n_lookups if before is not None else 0
    voice = parts.words.voice(reading.language, tenant.zone)
    setting = Setting(
        # From here on what counts is what is asked, whichever question said it.
        question=replace(question, text=reading.text),
        slots=planning.read_slots(reading, tenant=tenant, playbook=None, asked_at=question.asked_at),
        tenant=tenant,
        words=parts.words,
        voice=voice,
    )
    gathered = Gathered(plan=NO_PLAN, findings=Findings(n_lookups=n_lookups), cases=(), verdict=NOTHING_ASKED)
    ending = planning.triage(reading, principal=question.principal)
    playbook = None
    if ending is None:
        with trace.stage("plan"):
            playbook = (await planning.recognise(reading, tenant.playbooks, similarity=parts.similarity)).playbook
            slots = planning.read_slots(reading, tenant=tenant, playbook=playbook, asked_at=question.asked_at)
            setting = replace(setting, slots=slots)
            plan = planning.plan_playbook(playbook, setting.slots) if playbook else planning.plan_single(setting.slots)
            if before is not None:
                plan = planning.numbered_after(plan, before.gathered.plan)
        gathered = replace(gathered, plan=plan)
        ending = planning.gate(question, setting.slots, playbook=playbook)
    early = conclusion.ended(ending, setting) if ending else _asked_before_looking(question, setting, playbook)
    if early is None:
        gathered = with_assertions(await gather(gathered, playbook, setting, parts, session, trace))
        setting = replace(setting, evidence=gathered.findings.evidence)
        with trace.stage("compose"):
            followed = playbook if gathered.plan.playbook is not None else None
            concluded = conclusion.unless_it_refers_to_nothing(conclude(gathered, followed, setting), setting)
    else:
        concluded = early
    subject = next(iter(tenant.topics.get(setting.slots.topic or "", {}).get(reading.language, ())), None)
    return _Answered(concluded=concluded, gathered=gathered, subject=subject)


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
        gathered=Gathered(
            plan=multi_part.joined_plan([one.plan for one in gathered]),
            findings=replace(gathered[-1].findings, evidence=evidence),
            cases=tuple(case for one in gathered for case in one.cases),
            verdict=multi_part.joined_verdict([one.verdict for one in gathered]),
        ),
    )


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


def _run(
    answered: _Answered,
    question: Question,
    reading: Reading,
    tenant: Tenant,
    trace: Trace,
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
