"""Compose: the claims of an answer, each with the numbers of the evidence it rests on, in the order they are said.

What is said comes from the playbook's wordings and the package's texts through a `Voice`; what may be said was decided
before. Figures are checked and evidence numbers become markers in `citation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Final, Literal

from connectors.base import Evidence
from policies.facts import FactValue
from policies.quantities import quantities
from policies.version import Period
from support_agent.domain.claim import Claim, Draft, Grounds
from support_agent.domain.conflict import Candidate, Conflict, Resolution
from support_agent.domain.outcome import Clarification, Decision
from support_agent.domain.playbook import ClaimWording, NextStep, Wording
from support_agent.pipeline.citation import MAX_PASSAGES, excerpt
from support_agent.pipeline.ports import Voice

_DOTTED_NAME: Final = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """What an answer could not rest on; `subject` is a fact, a source, a title, or needs in words."""

    kind: Literal["unstated", "source_unavailable", "stale_rendition", "budget", "words_only"]
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A fact that the customer stated otherwise than the record does; a period when they named no day."""

    fact: str
    stated: FactValue | Period
    record: Evidence


def worded_draft(
    sentences: Sequence[ClaimWording],
    grounds: Grounds,
    voice: Voice,
    *,
    decision: Decision | None = None,
    resolutions: Sequence[Resolution] = (),
    mismatches: Sequence[Mismatch] = (),
    uncertainties: Sequence[Uncertainty] = (),
) -> Draft:
    """An answer in the playbook's words: a decision, or facts of a record.

    A sentence about something that was not found is left out. After the playbook's sentences come a contradicted
    assertion, the governing date, and how conflicts on what the decision used were settled. Without a sentence that
    rests on the deciding rule there is no decision to tell and the draft is empty.
    """
    claims = list(_worded(sentences, grounds, voice))
    used: frozenset[str] = frozenset()
    if decision is not None:
        rule = grounds.number(grounds.of[decision.term])
        if not any(rule in claim.evidence for claim in claims):
            return Draft(claims=())
        used = frozenset({decision.term, *decision.inputs})
        claims = _with_inputs(claims, decision, grounds, voice)
    claims += [_mismatch(mismatch, grounds, voice) for mismatch in mismatches]
    claims += [
        _claim(voice.own("asserted", label=voice.label(name), name=name, value=evidence.value), grounds, evidence)
        for name in sorted(used)
        if (evidence := grounds.of.get(name)) is not None and evidence.source == "customer"
    ]
    deciding = [resolution for resolution in resolutions if resolution.need in used]
    claims += _governing(deciding, decision, grounds, voice)
    claims += _settled([r.conflict for r in deciding if r.conflict is not None], grounds, voice)
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def passage_draft(
    hits: Sequence[Evidence],
    grounds: Grounds,
    voice: Voice,
    *,
    ranked: bool = False,
    uncertainties: Sequence[Uncertainty] = (),
) -> Draft:
    """What the policy says, never yes or no: the first of `hits`, or all of them as a list for staff (`ranked`)."""
    claims: list[Claim] = []
    for hit in hits if ranked else hits[:1]:
        if hit.clause is None:
            continue
        period, quote = hit.clause.valid, excerpt(hit.quote)
        if ranked:
            text = voice.own(
                "ranked_passage",
                title=hit.clause.version.title,
                heading=hit.clause.heading,
                start=period.start,
                end=period.end,
                quote=quote,
            )
        else:
            text = voice.own("passage", faq=hit.authority == "faq", start=period.start, quote=quote)
        claims.append(_claim(text, grounds, hit, item=ranked))
        if period.start > grounds.asked_at:
            claims.append(_claim(voice.own("not_yet", start=period.start), grounds, hit))
        governed_by = hit.clause.version.governed_by
        if not ranked and governed_by not in {None, "asked_at"}:
            claims.append(_claim(voice.own("own_date", label=voice.label(str(governed_by))), grounds, hit))
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def comparison_draft(
    older: Sequence[Evidence],
    newer: Sequence[Evidence],
    grounds: Grounds,
    voice: Voice,
    *,
    uncertainties: Sequence[Uncertainty] = (),
) -> Draft:
    """Two versions side by side: what each says, with its dates, and the values that changed.

    Args:
        older: Terms and passages of the earlier version, best first; likewise `newer`.
    """
    changed = list(_changed_terms(older, newer))
    first = changed[0] if changed else None
    claims = [
        _claim(
            voice.own("side", start=side.clause.valid.start, end=side.clause.valid.end, quote=excerpt(side.quote)),
            grounds,
            side,
        )
        for evidence, at in ((older, 0), (newer, 1))
        if (side := (first[at] if first else None) or next(iter(evidence), None)) is not None
        and side.clause is not None
    ]
    for before, after in changed:
        both = [evidence for evidence in (before, after) if evidence is not None]
        label = both[-1].clause.heading if both[-1].clause is not None else voice.label(both[-1].need)
        text = voice.own(
            "changed_term",
            name=both[-1].need,
            label=label,
            older=before.value if before else None,
            newer=after.value if after else None,
        )
        claims.append(_claim(text, grounds, *both, item=True))
    if not changed and older and newer and any(evidence.term is not None for evidence in (*older, *newer)):
        claims.append(_claim(voice.own("unchanged"), grounds, older[0], newer[0]))
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def conflict_draft(
    conflict: Conflict, grounds: Grounds, voice: Voice, *, uncertainties: Sequence[Uncertainty] = ()
) -> Draft:
    """An open conflict, said openly: that our sources disagree, and each side with its dates."""
    standing = [judged.candidate.evidence for judged in conflict.candidates if judged.removed_by is None]
    sides = list({(str(side.locator), side.quote): side for side in standing}.values())
    claims = [_claim(voice.own("disagreement"), grounds, *sides[:MAX_PASSAGES], considered=True)]
    for side in sides:
        clause = side.clause
        text = voice.own(
            "disagreeing_side",
            title=clause.version.title if clause else side.locator.document,
            start=clause.valid.start if clause else None,
            end=clause.valid.end if clause else None,
            quote=excerpt(side.quote),
        )
        claims.append(_claim(text, grounds, side, considered=True))
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def next_step(step: NextStep | None, grounds: Grounds, voice: Voice) -> str | None:
    """What the customer should do next and by when, in the playbook's words."""
    return None if step is None else voice.tenant(step.text, _values(grounds))


def notes(uncertainties: Iterable[Uncertainty], voice: Voice) -> tuple[str, ...]:
    """Each uncertainty in a sentence."""
    return tuple(
        voice.own("uncertainty", kind=u.kind, subject=voice.label(u.subject) if u.kind == "unstated" else u.subject)
        for u in uncertainties
    )


def clarify(
    need: str, voice: Voice, *, options: Sequence[str] = (), ask: Wording | None = None, written: str = ""
) -> Clarification:
    """One question back.

    Args:
        need: `order`, `customer`, `topic`, `date`, `passages`, or the fact to be stated.
        options: What can be chosen from, as people read it (`order_option`).
        ask: The playbook's own question for this fact.
        written: The date as the customer wrote it.
    """
    match need:
        case "order":
            question = voice.own("clarify_order", several=bool(options))
        case "date":
            question = voice.own("clarify_date", text=written)
        case "passages":
            question = voice.own("clarify_passage")
        case "topic" | "customer":
            question = voice.own(f"clarify_{need}")
        case _:
            asked = voice.tenant(ask, {}) if ask is not None else None
            question = asked or voice.own("clarify_fact", label=voice.label(need))
    return Clarification(need=need, question=question, options=tuple(options))


def order_option(facts: Mapping[str, FactValue], number: str, voice: Voice) -> str:
    """One order to choose: its number, item and purchase date as far as they are known."""
    item, bought = facts.get("order.item"), facts.get("order.purchased_at")
    return voice.own("order_option", number=number, item=item, purchased_at=bought)


def clarification_text(clarification: Clarification) -> str:
    """The question with its options as a list: what the customer reads."""
    return "\n".join([clarification.question, *(f"- {option}" for option in clarification.options)])


def _worded(sentences: Iterable[ClaimWording], grounds: Grounds, voice: Voice) -> Iterator[Claim]:
    values = _values(grounds)
    for sentence in sentences:
        if any(name not in grounds.of and name not in grounds.calculated for name in sentence.cites):
            continue
        text = voice.tenant(sentence.text, values)
        if not text:
            continue
        printed = _dotted_names(sentence.text[voice.language])
        calculated = tuple(name for name in printed if name in grounds.calculated)
        names = [*sentence.cites, *(name for used in calculated for name in sorted(grounds.calculated[used].rests_on))]
        evidence = [grounds.of[name] for name in names if name in grounds.of]
        evidence += [grounds.of[name] for name in printed if name in grounds.of and _shows_figure(grounds.of[name])]
        yield replace(_claim(text, grounds, *evidence), calculated=calculated)


@lru_cache(maxsize=1_024)
def _dotted_names(template: str) -> tuple[str, ...]:
    """The facts, terms and calculations that a wording may print, in its order."""
    return tuple(dict.fromkeys(_DOTTED_NAME.findall(template)))


def _shows_figure(evidence: Evidence) -> bool:
    """Whether a sentence that prints this must cite it; a record's number stands in every citation of the record."""
    return evidence.quote != evidence.locator.document and bool(quantities(evidence.quote))


def _with_inputs(claims: Sequence[Claim], decision: Decision, grounds: Grounds, voice: Voice) -> list[Claim]:
    """The claims, citing all that the decision used: where there is room, else in a sentence of its own."""
    rule = grounds.number(grounds.of[decision.term])
    completed = list(claims)
    homeless: list[Evidence] = []
    for name in decision.inputs:
        evidence = grounds.of.get(name)
        if evidence is None or any(grounds.number(evidence) in claim.evidence for claim in completed):
            continue
        at = next(
            (n for n, claim in enumerate(completed) if rule in claim.evidence and _fits(evidence, claim, grounds)), None
        )
        if at is None:
            homeless.append(evidence)
        else:
            completed[at] = replace(completed[at], evidence=(*completed[at].evidence, grounds.number(evidence)))
    for start in range(0, len(homeless), MAX_PASSAGES):
        group = homeless[start : start + MAX_PASSAGES]
        clauses = [
            {"heading": evidence.clause.heading, "title": evidence.clause.version.title}
            for evidence in group
            if evidence.clause is not None
        ]
        completed.append(_claim(voice.own("also_applied", clauses=clauses), grounds, *group))
    return completed


def _fits(evidence: Evidence, claim: Claim, grounds: Grounds) -> bool:
    """Whether `claim` can cite `evidence` beside what it cites already: a record always, a passage if there is room."""
    if evidence.clause is None:
        return True
    cited = [grounds.evidence[number - 1] for number in (*claim.evidence, grounds.number(evidence))]
    return len({(e.locator, e.quote) for e in cited if e.clause is not None}) <= MAX_PASSAGES


def _mismatch(mismatch: Mismatch, grounds: Grounds, voice: Voice) -> Claim:
    period = mismatch.stated if isinstance(mismatch.stated, Period) else None
    text = voice.own(
        "mismatch",
        label=voice.label(mismatch.fact),
        name=mismatch.fact,
        stated=None if period else mismatch.stated,
        **_days_of(period),
        recorded=mismatch.record.value,
    )
    return replace(_claim(text, grounds, mismatch.record), calculated=(mismatch.fact,))


def _governing(
    resolutions: Sequence[Resolution], decision: Decision | None, grounds: Grounds, voice: Voice
) -> Iterator[Claim]:
    """The date that decided which version applies, from the resolution of the rule."""
    for resolution in resolutions:
        governing, winner = resolution.governing_date, resolution.winner
        if decision is None or resolution.need != decision.term or governing is None or winner is None:
            continue
        clause = winner.evidence.clause
        if clause is None:
            continue
        text = voice.own(
            "governing",
            origin=governing.origin,
            label=voice.label(governing.origin),
            **_days_of(governing.period),
            version=clause.version.valid.start,
            carried=not clause.version.valid.overlaps(governing.period),
        )
        dated = grounds.of.get(governing.origin)
        evidence = [winner.evidence] if dated is None else [dated, winner.evidence]
        yield replace(_claim(text, grounds, *evidence), calculated=(governing.origin,))


def _days_of(period: Period | None) -> dict[str, object]:
    """First and, where it is another day, last instant of a period."""
    if period is None:
        return {"start": None, "end": None}
    one_day = period.end is not None and period.end - period.start <= timedelta(hours=25)
    last = None if one_day or period.end is None else period.end - timedelta(microseconds=1)
    return {"start": period.start, "end": last}


def _settled(conflicts: Iterable[Conflict], grounds: Grounds, voice: Voice) -> Iterator[Claim]:
    """One sentence a settled conflict: which rung settled it and against whom; the same pair is named once."""
    named: set[tuple[str, str, str | None]] = set()
    for conflict in conflicts:
        winner = conflict.winner
        losers = [j.candidate for j in conflict.candidates if j.removed_by == conflict.settled_by]
        # That rules for other regions or customers differ is in the record; it is no news to this customer.
        if conflict.settled_by in {None, "applies"} or winner is None or winner.clause is None or not losers:
            continue
        loser = losers[0]
        locator = loser.evidence.locator
        if loser.evidence.clause is None or (key := (conflict.settled_by, locator.document, locator.version)) in named:
            continue
        named.add(key)
        text = voice.own(
            "settled",
            rung=conflict.settled_by,
            winner={"title": winner.clause.version.title},
            loser=_loser(loser),
            need=conflict.need,
            same_policy=locator.document == winner.locator.document,
        )
        numbers = (grounds.number(winner), grounds.number(loser.evidence))
        yield Claim(text=text, evidence=numbers, considered=numbers[1:])


def _loser(candidate: Candidate) -> dict[str, object]:
    clause = candidate.evidence.clause
    assert clause is not None  # noqa: S101 The caller has checked; only documents are named here.
    # What a rule would have decided is no statement of the source, its number or date is.
    value = None if candidate.evidence.value is None else candidate.value
    return {"title": clause.version.title, "start": clause.version.valid.start, "value": value}


def _changed_terms(
    older: Sequence[Evidence], newer: Sequence[Evidence]
) -> Iterator[tuple[Evidence | None, Evidence | None]]:
    """Value terms that differ, in the newer version's order; one that only a side has is a change too."""
    before, after = _value_terms(older), _value_terms(newer)
    if not before or not after:
        return
    for name in dict.fromkeys([*after, *before]):
        then, now = before.get(name), after.get(name)
        if then is None or now is None or then.value != now.value:
            yield then, now


def _value_terms(evidence: Iterable[Evidence]) -> dict[str, Evidence]:
    return {e.need: e for e in evidence if e.term is not None and e.term.rule is None}


def _claim(text: str, grounds: Grounds, *evidence: Evidence, considered: bool = False, item: bool = False) -> Claim:
    numbers = tuple(dict.fromkeys(grounds.number(e) for e in evidence))
    return Claim(text=text, evidence=numbers, considered=numbers if considered else (), item=item)


def _values(grounds: Grounds) -> dict[str, FactValue]:
    return {**grounds.values, **{name: calculation.value for name, calculation in grounds.calculated.items()}}
