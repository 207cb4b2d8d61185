"""Answers in the playbook's words: a decision, or facts of a record, and what has to be said about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Final

from connectors.base import Evidence
from policies.facts import FactValue
from policies.quantities import quantities
from policies.version import Period
from support_agent.domain.claim import Claim, Draft, Grounds
from support_agent.domain.conflict import Candidate, Conflict, Resolution
from support_agent.domain.outcome import Decision
from support_agent.domain.playbook import ClaimWording, NextStep
from support_agent.pipeline.citation import MAX_PASSAGES
from support_agent.pipeline.composition.claims import Uncertainty, claim_on, notes
from support_agent.pipeline.ports import Voice

_DOTTED_NAME: Final = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)+")


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
    placed_by: AbstractSet[str] = frozenset(),
) -> Draft:
    """An answer in the playbook's words: a decision, or facts of a record.

    A sentence about something that was not found is left out. After the playbook's sentences come a contradicted
    assertion, the governing date, and how conflicts on what the decision used were settled. Without a sentence that
    rests on the deciding rule there is no decision to tell and the draft is empty.

    Args:
        placed_by: Facts that say which rules are for this case; those that only the customer stated are named.
    """
    claims = list(_worded(sentences, grounds, voice))
    used: frozenset[str] = frozenset()
    if not claims:
        return Draft(claims=())
    if decision is not None:
        rule = grounds.number(grounds.of[decision.term])
        if not any(rule in claim.evidence for claim in claims):
            return Draft(claims=())
        used = frozenset({decision.term, *decision.inputs})
        claims = _with_inputs(claims, decision, grounds, voice)
    claims += [_mismatch(mismatch, grounds, voice) for mismatch in mismatches]
    claims += [
        claim_on(voice.own("asserted", label=voice.label(name), name=name, value=evidence.value), grounds, evidence)
        for name in sorted(used | placed_by)
        if (evidence := grounds.of.get(name)) is not None and evidence.source == "customer"
    ]
    deciding = [resolution for resolution in resolutions if resolution.need in used]
    claims += _governing(deciding, decision, grounds, voice)
    claims += _settled([r.conflict for r in deciding if r.conflict is not None], grounds, voice)
    return Draft(claims=tuple(claims), notes=notes(uncertainties, voice))


def next_step(step: NextStep | None, grounds: Grounds, voice: Voice) -> str | None:
    """What the customer should do next and by when, in the playbook's words."""
    return None if step is None else voice.tenant(step.text, _values(grounds))


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
        shown = [grounds.of[name] for name in printed if name in grounds.of]
        evidence += [one for one in shown if _shows_figure(one)]
        cited = {one.locator.document for one in evidence}
        evidence += [one for one in shown if one.clause is None and one.quote == one.locator.document not in cited]
        yield replace(claim_on(text, grounds, *evidence), calculated=calculated)


@lru_cache(maxsize=1_024)
def _dotted_names(template: str) -> tuple[str, ...]:
    """The facts, terms and calculations that a wording may print, in its order."""
    return tuple(dict.fromkeys(_DOTTED_NAME.findall(template)))


def _shows_figure(evidence: Evidence) -> bool:
    """Whether a sentence that prints this must cite it; a record's own number any citation of the record covers."""
    return evidence.quote != evidence.locator.document and bool(quantities(evidence.quote))


def _with_inputs(claims: Sequence[Claim], decision: Decision, grounds: Grounds, voice: Voice) -> list[Claim]:
    """The claims, citing every clause whose value the decision used.

    Such a clause is cited beside the rule where a sentence has room for it, else in a sentence of its own. Records are
    cited where a sentence speaks of them.
    """
    rule = grounds.number(grounds.of[decision.term])
    completed = list(claims)
    homeless: dict[tuple[str, str], Evidence] = {}
    for evidence in (grounds.of[name] for name in decision.inputs if name in grounds.of):
        if evidence.clause is None or any(_quotes(claim, evidence, grounds) for claim in completed):
            continue
        places = (n for n, c in enumerate(completed) if rule in c.evidence and _fits(evidence, c, grounds))
        if (at := next(places, None)) is not None:
            completed[at] = replace(completed[at], evidence=(*completed[at].evidence, grounds.number(evidence)))
        else:
            homeless.setdefault((str(evidence.locator), evidence.quote), evidence)
    rest = list(homeless.values())
    for start in range(0, len(rest), MAX_PASSAGES):
        group = rest[start : start + MAX_PASSAGES]
        named = dict.fromkeys((e.clause.heading, e.clause.version.title) for e in group if e.clause is not None)
        clauses = [{"heading": heading, "title": title} for heading, title in named]
        completed.append(claim_on(voice.own("also_applied", clauses=clauses), grounds, *group))
    return completed


def _quotes(claim: Claim, evidence: Evidence, grounds: Grounds) -> bool:
    """Whether `claim` cites the passage of `evidence`, for this term or another one in it."""
    cited = (grounds.evidence[number - 1] for number in claim.evidence)
    return any(e.locator == evidence.locator and e.quote == evidence.quote for e in cited)


def _fits(evidence: Evidence, claim: Claim, grounds: Grounds) -> bool:
    """Whether `claim` has room for the passage of `evidence` beside those it cites already."""
    cited = [grounds.evidence[number - 1] for number in claim.evidence]
    return len({(e.locator, e.quote) for e in (*cited, evidence) if e.clause is not None}) <= MAX_PASSAGES


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
    return replace(claim_on(text, grounds, mismatch.record), calculated=(mismatch.fact,))


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
        yield replace(claim_on(text, grounds, *evidence), calculated=(governing.origin,))


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


def _values(grounds: Grounds) -> dict[str, FactValue]:
    return {**grounds.values, **{name: calculation.value for name, calculation in grounds.calculated.items()}}
