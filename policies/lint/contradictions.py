"""Checks of values: terms, and candidate terms read out of passages, that another source in force contradicts."""

from __future__ import annotations

from collections.abc import Iterator

from policies.applicability import narrower, overlap
from policies.candidates import candidate_terms, compare
from policies.clauses import DocumentClause, DocumentTerm
from policies.document import PolicyDocument
from policies.lint.finding import Checked, Finding, of_document
from policies.lint.relations import are_related
from policies.lint.statements import Statement, agree, contradict, statements
from policies.lint.timelines import in_force_together


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
        yield from _between_texts(draft, clause, other, opposite, place=place)


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
    draft: PolicyDocument, clause: DocumentClause, other: PolicyDocument, opposite: DocumentClause, *, place: str
) -> Iterator[Finding]:
    theirs = _stated_by(opposite)
    for passage in clause.passages if theirs else ():
        for said in statements(passage.text):
            different = next((against for against in theirs if contradict(said, against)), None)
            # A source that says both, each in its place, contradicts nobody.
            if different is not None and not any(
                agree(said, against) for clause in other.clauses for against in _stated_by(clause)
            ):
                yield of_document(
                    draft, "contradiction", "warning",
                    f"says {said.candidate.text!r} where {place} says {different.candidate.text!r}",
                    "correct one of them, narrow applies_to, or declare which prevails", line=passage.lines[0],
                )  # fmt: skip


def _stated_by(clause: DocumentClause) -> list[Statement]:
    return [statement for passage in clause.passages for statement in statements(passage.text)]


def _rendered_otherwise(draft: PolicyDocument, original: PolicyDocument) -> Iterator[Finding]:
    """A rendition's clause that states values which the clause of its original does not."""
    for clause, source in _rendered(draft, original):
        held = [candidate for passage in source.passages for candidate in candidate_terms(passage.text)]
        for passage in clause.passages:
            for candidate in candidate_terms(passage.text):
                answers = {compare(candidate, other) for other in held if other.kind == candidate.kind}
                if "different" in answers and "same" not in answers:
                    yield of_document(
                        draft, "rendition-differs", "warning",
                        f"says {candidate.text!r}, which {original.policy}@{original.version}#{source.anchor}, its "
                        "original, does not", "correct the rendition", line=passage.lines[0],
                    )  # fmt: skip


def _rendered(draft: PolicyDocument, original: PolicyDocument) -> Iterator[tuple[DocumentClause, DocumentClause]]:
    """The clauses of a rendition with those they render: by anchor, or in order where its anchors are its own."""
    by_anchor = {clause.anchor: clause for clause in original.clauses}
    if len(draft.clauses) == len(original.clauses):
        for clause, source in zip(draft.clauses, original.clauses, strict=True):
            yield clause, by_anchor.get(clause.anchor, source)
    else:
        yield from ((clause, by_anchor[clause.anchor]) for clause in draft.clauses if clause.anchor in by_anchor)
