"""What the evidence amounts to: an answer, a question back, a refusal, or a case for a person.

The situation table of the design, row by row: each function is one way to end and takes what was found as values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from connectors.base import Evidence
from connectors.references import LOST_REFERENCE as LOST
from policies.facts import FactValue
from policies.version import Clause, Period
from support_agent.domain.claim import Draft, Grounds
from support_agent.domain.conflict import Conflict, GoverningDate, Resolution
from support_agent.domain.outcome import Citation, Clarification, Decision, EscalationReason, Status
from support_agent.domain.plan import Plan
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Question
from support_agent.domain.tenant import Tenant
from support_agent.pipeline import composition
from support_agent.pipeline.assessment import Case, statements_of_customer
from support_agent.pipeline.citation import Composition, finish
from support_agent.pipeline.composition import Uncertainty
from support_agent.pipeline.decision import calculate, holding
from support_agent.pipeline.extract import Sought
from support_agent.pipeline.planning import Ending, Slots
from support_agent.pipeline.ports import Voice, Words

_MARKER = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """How a question ends, before it is numbered, timed and stored."""

    status: Status
    answer: str
    next_step: str | None = None
    decision: Decision | None = None
    governing_date: GoverningDate | None = None
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    uncertainties: tuple[str, ...] = ()
    clarification: Clarification | None = None
    #: Why a person takes over, and on which need.
    reason: EscalationReason | None = None
    need: str | None = None
    draft: Draft | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What every way to end needs besides what was found."""

    question: Question
    slots: Slots
    tenant: Tenant
    words: Words
    voice: Voice
    #: All evidence of the run, in run order.
    evidence: tuple[Evidence, ...] = ()


def ended(ending: Ending, setting: Setting) -> Conclusion:
    """A question that ended before anything was looked up."""
    return Conclusion(status=ending.status, answer=setting.voice.own(ending.text), reason=ending.reason)


def order_not_found(number: str, setting: Setting) -> Conclusion:
    """The same words for an order of somebody else and for one that does not exist."""
    return Conclusion(status="refused", answer=setting.voice.own("order_not_found", number=number))


def nothing_found(setting: Setting, *, missing: Iterable[str] = ()) -> Conclusion:
    """Not known: byte for byte the same for what nobody wrote down and for what the scope hides."""
    labels = [setting.voice.label(name) for name in missing]
    if labels:
        return Conclusion(status="no_answer", answer=setting.voice.own("no_answer_missing", missing=labels))
    return Conclusion(status="no_answer", answer=setting.voice.own("no_answer"))


def ask_back(clarification: Clarification, conflicts: Iterable[Conflict] = ()) -> Conclusion:
    """One question back to the customer."""
    return Conclusion(
        status="needs_clarification",
        answer=composition.clarification_text(clarification),
        clarification=clarification,
        conflicts=tuple(conflicts),
    )


def hand_over(
    reason: EscalationReason, setting: Setting, *, need: str | None = None, resolutions: Iterable[Resolution] = ()
) -> Conclusion:
    """A case for a person, with a holding message for the customer."""
    found = list(resolutions)
    dated = next((r.governing_date for r in found if r.need == need), None)
    return Conclusion(
        status="escalated",
        answer=setting.voice.own("escalated", reason=reason),
        reason=reason,
        need=need,
        conflicts=_conflicts(found),
        governing_date=dated,
    )


def unless_it_refers_to_nothing(concluded: Conclusion, setting: Setting) -> Conclusion:
    """The conclusion, or a case for a person where what governs it refers to a clause that is gone.

    Such a clause says less than it means, and nobody knows what it meant to add.
    """
    lost = {(e.locator.document, e.locator.version, e.locator.clause) for e in setting.evidence if e.need == LOST}
    cited = (c for c in concluded.citations if c.role == "governing")
    if not lost or not any((c.document, c.version, c.clause) in lost for c in cited):
        return concluded
    need = concluded.decision.term if concluded.decision else None
    handed = hand_over("missing_evidence", setting, need=need)
    return replace(
        handed,
        conflicts=concluded.conflicts,
        governing_date=concluded.governing_date,
        draft=concluded.draft,
        time_zone=concluded.time_zone,
    )


def from_playbook(
    playbook: Playbook, cases: Sequence[Case], setting: Setting, *, plan: Plan, unread: Sequence[str]
) -> Conclusion:
    """The answer of a playbook for its candidate orders, or what keeps it from one.

    Args:
        cases: One for each candidate order, or one without an order.
        unread: Sources of needs that are not critical and could not be read.
    """
    for case in cases:
        if (stopped := _stopped(playbook, case, setting, plan)) is not None:
            return stopped
    told = [_told(playbook, case, setting, unread) for case in cases]
    named = all(case.subject in setting.slots.order_numbers for case in cases)
    if not named and len({_gist(playbook, case, setting) for case in cases}) > 1:
        options = [composition.order_option(case.facts, case.subject or "", setting.voice) for case in cases]
        return ask_back(composition.clarify("order", setting.voice, options=options))
    if (failed := next((one for one in told if one.answer is None), None)) is not None:
        resolutions = [r for case in cases for r in case.resolutions.values()]
        return _unsupported(failed, setting, resolutions, need=plan.decide)
    composed, first = _joined(told), cases[0]
    deciding = first.resolutions.get(first.decision.term) if first.decision else None
    return Conclusion(
        status="answered",
        answer=composed.answer or "",
        next_step=composed.next_step,
        decision=first.decision,
        governing_date=deciding.governing_date if deciding else None,
        citations=composed.citations,
        conflicts=_conflicts(first.resolutions.values()),
        uncertainties=composed.draft.notes,
        draft=composed.draft,
        time_zone=str(first.zone) if first.zone else None,
    )


def from_passages(  # noqa: PLR0913 - what each stage made of the passages
    hits: Sequence[Evidence],
    case: Case,
    setting: Setting,
    *,
    plan: Plan,
    unread: Sequence[str],
    unchecked: bool,
    step: str | None,
    wanted: Sought,
    beside: Evidence | None = None,
) -> Conclusion:
    """What the policy says: a quoted passage, or all of them for staff; an open conflict is shown.

    Args:
        hits: The passage that leads for a customer, all for staff; best first.
        wanted: What of a long passage is quoted.
        beside: What a customer is quoted beside it.
        case: What the ladder made of the terms of those passages.
        unchecked: A limit was reached before the other sources on the topic were read.
    """
    resolutions = list(case.resolutions.values())
    quoted = [hit.clause for hit in hits[:1] if hit.clause is not None]
    setting = _in_zone_of(quoted, setting)
    notes = [*_uncertainties(resolutions, unread, case, setting, quoted=quoted), *_stale(hits, resolutions, setting)]
    if unchecked:
        notes += [Uncertainty(kind="budget", subject=clause.version.title) for clause in quoted]
    if (stopped := _gap_or_conflict(plan, case, setting, notes)) is not None:
        return stopped
    ranked = setting.question.principal.kind == "staff"
    if case.missing and not ranked:
        return ask_back(composition.clarify(case.missing[0], setting.voice), _conflicts(resolutions))
    draft = composition.passage_draft(
        hits,
        grounds_of(case, setting),
        setting.voice,
        wanted=wanted,
        beside=beside,
        ranked=ranked,
        uncertainties=notes,
    )
    settled = next((r for r in resolutions if r.winner is not None), None)
    return _composed("answered", draft, case, setting, resolutions, governing=settled, step=step)


def from_comparison(
    older: Sequence[Evidence],
    newer: Sequence[Evidence],
    case: Case,
    setting: Setting,
    *,
    unread: Sequence[str],
    step: str | None,
) -> Conclusion:
    """Two versions side by side."""
    quoted = [side[0].clause for side in (older, newer) if side and side[0].clause is not None]
    setting = _in_zone_of(quoted, setting)
    notes = _uncertainties((), unread, case, setting, quoted=quoted)
    draft = composition.comparison_draft(older, newer, grounds_of(case, setting), setting.voice, uncertainties=notes)
    return _composed("answered", draft, case, setting, (), governing=None, step=step)


def _composed(
    status: Status,
    draft: Draft,
    case: Case,
    setting: Setting,
    resolutions: Sequence[Resolution],
    *,
    governing: Resolution | None,
    step: str | None = None,
) -> Conclusion:
    composed = finish(
        draft,
        grounds_of(case, setting),
        language=setting.voice.language,
        zone=setting.voice.zone,
        next_step=step,
    )
    if composed.answer is None:
        return _unsupported(composed, setting, resolutions)
    return Conclusion(
        status=status,
        answer=composed.answer,
        next_step=composed.next_step,
        governing_date=governing.governing_date if governing else None,
        citations=composed.citations,
        conflicts=_conflicts(resolutions),
        uncertainties=draft.notes,
        draft=draft,
        time_zone=str(setting.voice.zone),
    )


def _unsupported(
    composed: Composition, setting: Setting, resolutions: Iterable[Resolution], *, need: str | None = None
) -> Conclusion:
    """A draft with a figure that nothing supports is never sent: a person gets the case, and the draft is kept."""
    if not composed.unsupported:
        return nothing_found(setting)
    return replace(hand_over("missing_evidence", setting, need=need, resolutions=resolutions), draft=composed.draft)


def _gap_or_conflict(plan: Plan, case: Case, setting: Setting, notes: Sequence[Uncertainty] = ()) -> Conclusion | None:
    """A gap in a policy that applies, whatever else speaks; else an open conflict, handed over or shown."""
    resolutions = list(case.resolutions.values())
    gap = next((r for r in resolutions if r.status == "policy_gap"), None)
    if gap is not None:
        return hand_over("policy_gap", setting, need=gap.need, resolutions=resolutions)
    opened = next((r for r in resolutions if r.status == "open" and r.conflict), None)
    if opened is None or opened.conflict is None:
        return None
    if plan.on_conflict == "escalate":
        return hand_over("conflict", setting, need=opened.need, resolutions=resolutions)
    draft = composition.conflict_draft(opened.conflict, grounds_of(case, setting), setting.voice, uncertainties=notes)
    return _composed("answered_with_conflict", draft, case, setting, resolutions, governing=opened)


def _stopped(playbook: Playbook, case: Case, setting: Setting, plan: Plan) -> Conclusion | None:
    """What keeps a case from its decision: a gap, an open conflict, a fact that nobody stated."""
    if case.decision is not None:
        # A rule that was decided without a term does not wait for it.
        return None
    if (stopped := _gap_or_conflict(plan, case, setting)) is not None:
        return stopped
    if plan.decide is None:
        return None
    if case.missing:
        need = case.missing[0]
        ask = next((slot.ask for slot in playbook.asserted if slot.fact == need), None)
        clarification = composition.clarify(need, setting.voice, ask=ask)
        return ask_back(clarification, _conflicts(case.resolutions.values()))
    return nothing_found(setting)


def _told(playbook: Playbook, case: Case, setting: Setting, unread: Sequence[str]) -> Composition:
    voice = _voice(case, setting)
    grounds = grounds_of(case, setting, playbook=playbook)
    values = {**grounds.values, **{name: made.value for name, made in grounds.calculated.items()}}
    asked_at, zone = setting.question.asked_at, voice.zone
    resolutions = list(case.resolutions.values())
    draft = composition.worded_draft(
        holding(playbook.wording, values=values, asked_at=asked_at, zone=zone),
        grounds,
        voice,
        decision=case.decision,
        resolutions=resolutions,
        mismatches=case.mismatches,
        uncertainties=[
            *_uncertainties(_used(resolutions, case), unread, case, setting),
            *_judged_today(case, setting, voice),
        ],
        placed_by=frozenset(setting.tenant.dimensions.values()),
    )
    steps = holding(playbook.next_steps, values=values, asked_at=asked_at, zone=zone)
    step = composition.next_step(steps[0] if steps else None, grounds, voice)
    return finish(draft, grounds, language=voice.language, zone=voice.zone, next_step=step)


def _judged_today(case: Case, setting: Setting, voice: Voice) -> list[Uncertainty]:
    """That a decision holds for the day of the question, when the customer names a later one."""
    if case.decision is None or setting.slots.ahead is None:
        return []
    return [Uncertainty(kind="judged_today", subject=voice.own("day_option", start=setting.question.asked_at))]


def _used(resolutions: Iterable[Resolution], case: Case) -> list[Resolution]:
    if case.decision is None:
        return list(resolutions)
    return [r for r in resolutions if r.need == case.decision.term or r.need in case.decision.inputs]


def _gist(playbook: Playbook, case: Case, setting: Setting) -> tuple[object, ...]:
    """What makes the answers for two orders differ: the decision and which of the playbook's sentences are said."""
    if case.decision is not None:
        return (case.decision.value,)
    values = {**case.values}
    zone = _voice(case, setting).zone
    said = holding(playbook.wording, values=values, asked_at=setting.question.asked_at, zone=zone)
    return tuple(playbook.wording.index(sentence) for sentence in said)


def grounds_of(case: Case, setting: Setting, *, playbook: Playbook | None = None) -> Grounds:
    """Everything that an answer about `case` may rest on; with the playbook's calculations when one is given."""
    stated = statements_of_customer(setting.question, setting.slots)
    made = {}
    if playbook is not None:
        made = calculate(
            playbook,
            values=case.values,
            asked_at=setting.question.asked_at,
            zone=_voice(case, setting).zone,
        )
    return Grounds(
        evidence=setting.evidence,
        facts=setting.tenant.facts,
        asked_at=setting.question.asked_at,
        of=case.of,
        values=case.values,
        calculated=made,
        stated={name: _points(value) for name, value in stated.items()} | _as_of(setting.slots),
    )


def _as_of(slots: Slots) -> dict[str, tuple[FactValue, ...]]:
    return {} if slots.as_of is None else {"stated": _points(slots.as_of)}


def _points(value: FactValue | Period) -> tuple[FactValue, ...]:
    if not isinstance(value, Period):
        return (value,)
    return (value.start, *((value.end,) if value.end else ()))


def _in_zone_of(quoted: Sequence[Clause], setting: Setting) -> Setting:
    """The setting with dates in the zone of what is quoted: a version begins on its own policy's day."""
    if not quoted:
        return setting
    return replace(setting, voice=setting.words.voice(setting.voice.language, quoted[0].version.zone))


def _voice(case: Case, setting: Setting) -> Voice:
    """The customer's language with dates in the deciding policy's zone."""
    zone: ZoneInfo = case.zone or setting.voice.zone
    return setting.voice if zone == setting.voice.zone else setting.words.voice(setting.voice.language, zone)


def _uncertainties(
    resolutions: Iterable[Resolution],
    unread: Sequence[str],
    case: Case,
    setting: Setting,
    *,
    quoted: Sequence[Clause] = (),
) -> list[Uncertainty]:
    """What an answer leaves open: whom its clauses are meant for, when nobody said, and sources that were not read."""
    found = list(resolutions)
    winners = [r.winner.evidence.clause for r in found if r.winner is not None]
    limits: dict[str, str] = {}
    for clause in [*quoted, *(clause for clause in winners if clause is not None)]:
        for dimension, allowed in clause.applies_to.dimensions().items():
            fact = setting.tenant.dimensions[dimension]
            if case.facts.get(fact) is None:
                limits.setdefault(fact, f"{setting.voice.label(fact)}: {', '.join(sorted(allowed))}")
    unstated = dict.fromkeys(fact for r in found for fact in sorted(r.unstated) if fact not in limits)
    return [
        *(Uncertainty(kind="unstated", subject=fact) for fact in unstated),
        *([Uncertainty(kind="limited", subject="; ".join(limits.values()))] if limits else []),
        *(Uncertainty(kind="source_unavailable", subject=source) for source in unread),
    ]


def _stale(hits: Sequence[Evidence], resolutions: Iterable[Resolution], setting: Setting) -> list[Uncertainty]:
    """Renditions older than their originals, where one is quoted or yielded to its original."""
    on = setting.slots.as_of.start if setting.slots.as_of else setting.question.asked_at
    originals = {
        e.clause.version.policy: e.clause.version
        for e in setting.evidence
        if e.clause is not None and e.clause.version.valid.contains(on)
    }
    yielded = [
        judged.candidate.evidence
        for resolution in resolutions
        if resolution.conflict is not None
        for judged in resolution.conflict.candidates
        if judged.removed_by == "rendition"
    ]
    stale = {}
    for hit in (*hits[:1], *yielded):
        version = hit.clause.version if hit.clause else None
        original = originals.get(version.rendition_of or "") if version else None
        if version is not None and original is not None and version.valid.start < original.valid.start:
            stale[version.title] = Uncertainty(kind="stale_rendition", subject=version.title)
    return list(stale.values())


def _conflicts(resolutions: Iterable[Resolution]) -> tuple[Conflict, ...]:
    return tuple(r.conflict for r in resolutions if r.conflict is not None)


def _joined(parts: Sequence[Composition]) -> Composition:
    """Several orders' answers as one: equal citations share a marker."""
    if len(parts) == 1:
        return parts[0]
    citations: list[Citation] = []
    texts = []
    for part in parts:
        numbers: dict[str, int] = {}
        for citation in part.citations:
            known = next((c for c in citations if replace(c, marker=0) == replace(citation, marker=0)), None)
            if known is None:
                known = replace(citation, marker=len(citations) + 1)
                citations.append(known)
            numbers[str(citation.marker)] = known.marker
        texts.append(_renumbered(part.answer or "", numbers))
    draft = Draft(
        claims=tuple(claim for part in parts for claim in part.draft.claims),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.draft.notes)),
    )
    steps = dict.fromkeys(part.next_step for part in parts if part.next_step)
    return Composition(
        draft=draft, answer="\n".join(texts), citations=tuple(citations), next_step=" ".join(steps) or None
    )


def _renumbered(text: str, numbers: Mapping[str, int]) -> str:
    return _MARKER.sub(lambda match: f"[{numbers[match[1]]}]", text)
