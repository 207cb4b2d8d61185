"""The rules of a set of documents, checked together: each may name terms that another document defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from policies.clauses import DocumentTerm
from policies.document import PolicyDocument
from policies.errors import Fault
from policies.expressions import ExpressionError
from policies.facts import Facts, FactType
from policies.rules import infer_type, load_rule
from policies.terms import unit_of


def check_rules(
    documents: Sequence[PolicyDocument], *, facts: Facts, known: Mapping[str, FactType] | None = None
) -> list[Fault]:
    """What is wrong with the rules of a set of documents: names, functions, types, and terms of two types.

    Args:
        documents: All documents that are loaded together.
        facts: The tenant's facts.
        known: Value terms of documents that are already published.
    """
    written = [term for document in documents for _, term in document.terms]
    faults: list[Fault] = []
    types: dict[str, FactType] = dict(known or {})
    for term in written:
        if term.type is not None and types.setdefault(term.name, term.type) != term.type:
            message = f"{term.name} is {term.type} here and {types[term.name]} elsewhere"
            faults.append(_fault(term.place, message, "use one type, or another name"))
    values = dict(types)
    ruled = {term.name for term in written if term.rule is not None}
    for term in written:
        if term.rule is not None:
            faults += _check_rule(term, facts=facts, values=values, ruled=ruled, types=types)
    for document in documents:
        head = document.front_matter
        for step, place in zip(head.transition, head.transition_places, strict=True):
            faults += _check_condition(step.when, place, facts=facts, values=values)
    return sorted(faults, key=lambda fault: fault.place)


def _check_rule(
    term: DocumentTerm,
    *,
    facts: Facts,
    values: Mapping[str, FactType],
    ruled: AbstractSet[str],
    types: dict[str, FactType],
) -> Iterator[Fault]:
    name, rule, place = term.name, term.rule or "", term.place
    try:
        # Which of several rules holds is decided by their results, so no result stands before that.
        for reference in sorted(load_rule(rule).references & ruled):
            yield _fault(place, f"{name}: {reference} is a rule itself", "repeat its condition, or make it a value")
            return
        kind = infer_type(rule, facts=facts, terms=values)
    except ExpressionError as error:
        yield _fault(place, f"{name}: {error.message} at character {error.position + 1}", error.remedy)
        return
    unit = unit_of(name)
    kind = unit if unit is not None and kind == "int" else kind
    if unit is not None and kind != unit:
        yield _fault(place, f"{name}: a rule that gives {kind}", f"a name of this ending holds {unit}")
    elif types.setdefault(name, kind) != kind:
        yield _fault(place, f"{name} is {kind} here and {types[name]} elsewhere", "use one type, or another name")


def _check_condition(
    when: str, place: tuple[str, int], *, facts: Facts, values: Mapping[str, FactType]
) -> Iterator[Fault]:
    try:
        kind = infer_type(when, facts=facts, terms=values)
    except ExpressionError as error:
        yield _fault(place, f"transition: {error.message} at character {error.position + 1}", error.remedy)
        return
    if kind != "bool":
        yield _fault(place, f"transition: when gives {kind}", "write a condition")


def _fault(place: tuple[str, int], message: str, remedy: str) -> Fault:
    return Fault(path=place[0], line=place[1], message=message, remedy=remedy)
