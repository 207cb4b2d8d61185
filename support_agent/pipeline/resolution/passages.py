"""Passages that answer one question differently: which two are weighed against each other, and which of them prevails.

Texts without terms say nothing that can be compared as it is. Two passages are weighed only when both speak well to the
question and one of these holds: one stands in a translation of what the other stands in, and a figure differs; one
declares that it replaces the other; both say one thing in nearly the same words, with another figure; one is of the
narrower scope and on the same subject; or the one that speaks best is for other customers. The ladder then decides as
it does between terms. Whatever else the question found is no contradiction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from connectors.base import Evidence
from policies.applicability import applies, narrower
from policies.authority import Ladder
from policies.text import question_tokens, tokens
from policies.version import Clause, Reference
from support_agent.domain.conflict import Candidate, Resolution, Situation
from support_agent.pipeline.resolution.figures import alike, differing, n_common
from support_agent.pipeline.resolution.outcome import resolve

PASSAGES: Final = "passages"
#: Standing, beside the best passage's, from which a passage speaks well enough to contradict it.
SPEAKS_WELL: Final = 0.6
#: Share of their words that two sentences have in common which say one thing, with another figure.
SAME_THING: Final = 0.3
#: What of it need not be where the question names the figure of a side.
NAMED_FIGURE: Final = 0.1
#: Share of the shorter title's words from which two titles name one subject.
ONE_SUBJECT: Final = 0.7
#: Passages for other customers that a record names at most.
MOST_OF_OTHERS: Final = 3
#: Words of a title that name no subject.
_NO_SUBJECT: Final = "policy policies terms rules page 政策 规定 条款 办法 条例 规则"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A passage that speaks to the question, and how well it stands beside the others."""

    evidence: Evidence
    clause: Clause
    standing: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """Passages with what is compared; ranks count only where they say one thing."""

    sides: tuple[Candidate, ...]
    ranked: bool = True
    #: What the question says of scopes, by dimension.
    named: Mapping[str, str] | None = None


def resolve_passages(spoken: Iterable[Spoken], *, question: str, situation: Situation) -> Resolution | None:
    """What the ladder makes of the passages that contradict each other on the question; None: none do.

    Args:
        spoken: Best first, with those for other customers.
        question: As it was asked: figures and scopes that it names tell what it is about.
        situation: What is known of the case.
    """
    passages = list(spoken)
    here = [one for one in passages if _holds(one.clause, situation) is not False]
    if not here:
        return None
    lead = here[0]
    well = [one for one in here if one.standing >= SPEAKS_WELL * lead.standing]
    weighed = (
        _translated(lead, well, question)
        or _replaced(lead, well, situation.ladder)
        or _said_twice(lead, well, question)
        or _general_and_special(lead, well, question, situation)
        or _for_others(lead, passages, situation)
    )
    if weighed is None:
        return None
    known = {**situation.known, **(weighed.named or {})}
    ladder = situation.ladder if weighed.ranked else Ladder.of([sorted(chain.from_iterable(situation.ladder.rungs))])
    # No version but those that speak takes part: what is not in force was not found.
    alone = replace(situation, known=known, ladder=ladder, versions=())
    return resolve(PASSAGES, weighed.sides, alone)


def _holds(clause: Clause, situation: Situation) -> bool | None:
    return applies(clause.applies_to, situation.known, groups=situation.groups, on=situation.asked_at)


def _translated(lead: Spoken, well: Sequence[Spoken], question: str) -> _Weighed | None:
    """The two of a translation and its original that differ in a figure; those that the question's figures name first.

    A translation older than its original differs in whatever it says beyond it; another only where they share nothing,
    for a translation may be cut into other passages.
    """
    found: list[tuple[float, _Weighed]] = []
    for one in well:
        if one.clause.locator != lead.clause.locator:
            continue
        for other in well:
            rendition, original = (one, other) if _is_rendition(one, other) else (other, one)
            if not _is_rendition(rendition, original):
                continue
            stale = rendition.clause.version.valid.start < original.clause.version.valid.start
            if (weighed := _by_figures(rendition, original, beyond=stale)) is not None:
                said, meant = rendition.evidence.quote, original.evidence.quote
                met = n_common(said, meant) + n_common(question, said) + n_common(question, meant)
                found.append((met + one.standing + other.standing, weighed))
    return max(found, key=lambda scored: scored[0])[1] if found else None


def _is_rendition(one: Spoken, other: Spoken) -> bool:
    return one.clause.version.rendition_of == other.clause.version.policy


def _replaced(lead: Spoken, well: Sequence[Spoken], ladder: Ladder) -> _Weighed | None:
    """What leads and what declares that it replaces it, or what the lead replaces.

    What is of lower rank, or amends only, must say the same thing in other figures.
    """
    for one in well:
        for source, target in ((one, lead), (lead, one)):
            own, other = source.clause.version, target.clause.version
            replaces = any(_names(reference, target.clause) for reference in own.supersedes)
            amends = any(_names(reference, target.clause) for reference in own.amends)
            entitled = ladder.level(own.authority) >= ladder.level(other.authority)
            if (entitled and (replaces or (amends and source is lead))) or (
                (replaces or amends) and alike(source.evidence.quote, target.evidence.quote) >= SAME_THING
            ):
                return _Weighed(sides=(_said(source), _said(target)))
    return None


def _names(reference: Reference, clause: Clause) -> bool:
    version = clause.version
    return (
        reference.policy == version.policy
        and reference.version in {None, version.version}
        and reference.clause in {None, clause.anchor}
    )


def _said_twice(lead: Spoken, well: Sequence[Spoken], question: str) -> _Weighed | None:
    """The two of different policies that say one thing with different figures, in the words most alike.

    Where the question names the figure of a side, its words may be less alike: the customer has seen the two beside
    each other.
    """
    found = []
    for one in well:
        for other in well:
            if one.clause.locator != lead.clause.locator or other.clause.version.policy == lead.clause.version.policy:
                continue
            weighed = _by_figures(one, other)
            if weighed is None or _is_rendition(one, other) or _is_rendition(other, one):
                continue
            named = sum(n_common(question, side.evidence.quote) > 0 for side in (one, other))
            likeness = alike(one.evidence.quote, other.evidence.quote)
            if likeness >= SAME_THING - NAMED_FIGURE * named:
                found.append((likeness + NAMED_FIGURE * named, weighed))
    return max(found, key=lambda scored: scored[0])[1] if found else None


def _general_and_special(lead: Spoken, well: Sequence[Spoken], question: str, situation: Situation) -> _Weighed | None:
    """What leads and the best of what is wider; or, where the question names a narrower scope, the best of that.

    They need not say one thing: a special rule adds to the general one, and rank has nothing to compare.
    """
    named = _named_scope(question, [one.clause for one in well])
    known = {**situation.known, **named}
    on = situation.asked_at
    related = [one for one in well if one is not lead and _is_on_one_subject(one.clause, lead.clause)]

    def is_narrower(one: Spoken, other: Spoken) -> bool:
        a, b = one.clause.applies_to, other.clause.applies_to
        return (
            narrower(a, b, groups=situation.groups, on=on) and applies(a, known, groups=situation.groups, on=on) is True
        )

    special = next((one for one in related if is_narrower(one, lead) and _is_named(one.clause, named)), None)
    if special is not None:
        return _Weighed(sides=(_said(special), _said(lead)), ranked=False, named=named)
    wider = [one for one in related if is_narrower(lead, one)]
    if not wider:
        return None
    general = max(wider, key=lambda one: (_by_figures(lead, one) is not None, one.standing))
    return _Weighed(sides=(_said(lead), _said(general)), ranked=False, named=named)


def _for_others(lead: Spoken, passages: Sequence[Spoken], situation: Situation) -> _Weighed | None:
    """What leads, and what would lead if it held for this customer."""
    others = [
        one
        for one in passages
        if one.standing >= lead.standing
        and _holds(one.clause, situation) is False
        and one.clause.locator != lead.clause.locator
    ]
    return _Weighed(sides=tuple(_said(one) for one in (lead, *others[:MOST_OF_OTHERS]))) if others else None


def _named_scope(question: str, clauses: Iterable[Clause]) -> dict[str, str]:
    """Scopes of these clauses that the question names, by dimension; two of one dimension name none.

    Regions are left out: a code is no word of a question.
    """
    said = set(tokens(question))
    named: dict[str, set[str]] = {}
    for clause in clauses:
        for dimension, values in clause.applies_to.dimensions().items():
            if dimension != "regions":
                named.setdefault(dimension, set()).update(v for v in values if said.issuperset(tokens(v)))
    return {dimension: next(iter(values)) for dimension, values in named.items() if len(values) == 1}


def _is_named(clause: Clause, named: Mapping[str, str]) -> bool:
    return any(named.get(dimension) in values for dimension, values in clause.applies_to.dimensions().items())


def _is_on_one_subject(one: Clause, other: Clause) -> bool:
    """Whether two clauses belong together: of one version or topic, or one's title has what the other's says."""
    a, b = one.version, other.version
    if a.policy == b.policy or a.topic == b.topic:
        return a.policy != b.policy or a.version == b.version
    first, second = _subject_of(a.title), _subject_of(b.title)
    return len(first & second) >= ONE_SUBJECT * max(1, min(len(first), len(second)))


def _subject_of(title: str) -> set[str]:
    return {token for token in question_tokens(title) if len(token) > 1} - set(question_tokens(_NO_SUBJECT))


def _said(one: Spoken) -> Candidate:
    return Candidate(evidence=one.evidence, value=one.evidence.quote)


def _by_figures(one: Spoken, other: Spoken, *, beyond: bool = False) -> _Weighed | None:
    """The two with the figures in which they differ, as they are written; None where they do not."""
    figures = differing(one.evidence.quote, other.evidence.quote, beyond=beyond)
    if figures is None:
        return None
    first, second = figures
    return _Weighed(
        sides=(Candidate(evidence=one.evidence, value=first), Candidate(evidence=other.evidence, value=second))
    )
