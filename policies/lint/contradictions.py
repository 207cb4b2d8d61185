"""Checks of values: terms, and candidate terms read out of passages, that another source in force contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from policies.applicability import narrower, overlap
from policies.candidates import CandidateTerm, candidate_terms, compare, words_around
from policies.clauses import DocumentClause, DocumentTerm
from policies.document import PolicyDocument
from policies.lint.finding import Checked, Finding, of_document
from policies.lint.relations import are_related
from policies.lint.timelines import in_force_together

#: Share of the shorter sentence's words that two sentences on the same thing have in common, and how many at least.
SHARED: Final = 0.6
MIN_SHARED: Final = 3


def contradictions(checked: Checked) -> Iterator[Finding]:
    for draft in checked.final:
        for other in checked.all:
            if draft.policy == other.policy or draft.front_matter.topic != other.front_matter.topic:
                continue
            together = in_force_together(draft, other)
            if together is None or (together.end is not None and together.end <= checked.now):
                continue
            if draft.front_matter.rendition_of == other.policy:
                yield from _rendered_otherwise(draft, other)
            elif not are_related(draft, other):
                for clause in draft.clauses:
                    for opposite in other.clauses:
                        if overlap(clause.applies_to, opposite.applies_to, groups=checked.groups, on=together.start):
                            yield from _between(draft, clause, other, opposite, checked)


def _between(
    draft: PolicyDocument, clause: DocumentClause, other: PolicyDocument, opposite: DocumentClause, checked: Checked
) -> Iterator[Finding]:
    if "default" in {clause.effect, opposite.effect} or _is_settled(draft, clause, other, opposite, checked):
        return
    place = f"{other.policy}@{other.version}#{opposite.anchor}"
    theirs = {term.name: term for term in opposite.terms if term.rule is None}
    for term in clause.terms:
        against = theirs.get(term.name)
        if against is None or term.rule is not None or term.value == against.value:
            continue
        delegated = _delegates(draft, term.name, to=other) or _delegates(other, term.name, to=draft)
        if not (delegated or _is_bound(clause, term, against) or _is_bound(opposite, against, term)):
            yield of_document(
                draft, "contradiction", "warning",
                f"{term.name} is {term.value} here and {against.value} in {place}, for some of the same customers at "
                "the same time",
                "correct one of them, narrow applies_to, or declare which prevails", line=term.place[1],
            )  # fmt: skip
    if not (clause.terms and opposite.terms):
        yield from _between_texts(draft, clause, opposite, place=place)


def _is_settled(
    draft: PolicyDocument, clause: DocumentClause, other: PolicyDocument, opposite: DocumentClause, checked: Checked
) -> bool:
    """Whether one is the special rule and the other the general one, of equal rank."""
    ranks = {checked.ladder.level(document.front_matter.authority) for document in (draft, other)}
    on = max(draft.valid.start, other.valid.start)
    return len(ranks) == 1 and any(
        narrower(one, two, groups=checked.groups, on=on)
        for one, two in ((clause.applies_to, opposite.applies_to), (opposite.applies_to, clause.applies_to))
    )


def _delegates(document: PolicyDocument, term: str, *, to: PolicyDocument) -> bool:
    return any(part.to == to.front_matter.authority and term in part.terms for part in document.front_matter.delegates)


def _is_bound(clause: DocumentClause, term: DocumentTerm, other: DocumentTerm) -> bool:
    """Whether `term` is a floor or ceiling that the other value keeps, which is no contradiction."""
    if clause.effect not in {"minimum", "maximum"}:
        return False
    mine, theirs = term.value, other.value
    if isinstance(mine, bool) or not isinstance(mine, int) or not isinstance(theirs, int):
        return False
    higher_is_better = (term.better or other.better or "higher") == "higher"
    return (theirs >= mine) == ((clause.effect == "minimum") == higher_is_better)


def _between_texts(
    draft: PolicyDocument, clause: DocumentClause, opposite: DocumentClause, *, place: str
) -> Iterator[Finding]:
    for passage in clause.passages:
        for against in opposite.passages:
            said, theirs = candidate_terms(passage.text), candidate_terms(against.text)
            for candidate in said:
                different = [
                    other
                    for other in theirs
                    if compare(candidate, other) == "different"
                    and _is_about_the_same(passage.text, candidate, against.text, other)
                ]
                if different and not any(compare(candidate, other) == "same" for other in theirs):
                    yield of_document(
                        draft, "contradiction", "warning",
                        f"says {candidate.text!r} where {place} says {different[0].text!r}",
                        "correct one of them, narrow applies_to, or declare which prevails", line=passage.lines[0],
                    )  # fmt: skip


def _is_about_the_same(text: str, candidate: CandidateTerm, other_text: str, other: CandidateTerm) -> bool:
    ours, theirs = set(words_around(text, candidate)), set(words_around(other_text, other))
    shared = ours & theirs
    return len(shared) >= MIN_SHARED and len(shared) >= SHARED * min(len(ours), len(theirs))


def _rendered_otherwise(draft: PolicyDocument, original: PolicyDocument) -> Iterator[Finding]:
    """A rendition's clause that states values which the clause of its original does not."""
    clauses = {clause.anchor: clause for clause in original.clauses}
    for clause in draft.clauses:
        source = clauses.get(clause.anchor)
        if source is None:
            continue
        held = [candidate for passage in source.passages for candidate in candidate_terms(passage.text)]
        for passage in clause.passages:
            for candidate in candidate_terms(passage.text):
                answers = {compare(candidate, other) for other in held if other.kind == candidate.kind}
                if "different" in answers and "same" not in answers:
                    yield of_document(
                        draft, "rendition-differs", "warning",
                        f"says {candidate.text!r}, which #{clause.anchor} of its original does not",
                        "correct the rendition", line=passage.lines[0],
                    )  # fmt: skip
