"""Decide: decision rules and a playbook's calculations, evaluated in CEL on the facts and the resolved values.

A rule runs in the zone of its own clause's version, bound to the instant the question was asked. A fact that a rule
needs and nobody stated makes its result unknown, never false; a rule that is decided without the fact stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from connectors.base import Evidence
from policies.facts import Facts, FactValue
from policies.rules import load_rule
from support_agent.domain.claim import Calculation
from support_agent.domain.conflict import Candidate, Resolution
from support_agent.domain.outcome import Decision
from support_agent.domain.playbook import ClaimWording, NextStep, Playbook

_Said = TypeVar("_Said", ClaimWording, NextStep)


def evaluate_rules(
    rules: Iterable[Evidence], *, values: Mapping[str, FactValue], asked_at: datetime
) -> Sequence[Candidate]:
    """Each source's statement on a need with its value on the facts; a value term keeps the value it states.

    Args:
        rules: Evidence on one need; what holds no rule passes through.
        values: Facts and resolved terms by name; null is the same as absent.
    """
    return [_candidate(evidence, values, asked_at) for evidence in rules]


def governing_facts(rules: Iterable[Evidence], *, facts: Facts) -> tuple[str, ...]:
    """The declared facts that any of `rules` names: they are needs too."""
    return tuple(sorted({name for name in references(rules) if name in facts}))


def references(rules: Iterable[Evidence]) -> frozenset[str]:
    """All facts and terms that `rules` name."""
    sources = [evidence.term.rule for evidence in rules if evidence.term is not None and evidence.term.rule is not None]
    return frozenset(name for source in sources for name in load_rule(source).references)


def decide(
    resolution: Resolution,
    *,
    values: Mapping[str, FactValue],
    asked_at: datetime,
    asserted: frozenset[str] = frozenset(),
) -> Decision | None:
    """The result of the rule that prevailed, with the facts and values it named; None while it has none.

    Args:
        asserted: Facts that only the customer states; one that the rule is decided without is no input, so that an
            answer rests on a statement nobody can check only where it must.
    """
    winner = resolution.winner
    if resolution.status != "settled" or winner is None or winner.missing or winner.evidence.clause is None:
        return None
    named = references([winner.evidence])
    for name in sorted(named & asserted):
        without = _candidate(winner.evidence, {n: v for n, v in values.items() if n != name}, asked_at)
        if not without.missing and without.value == winner.value:
            named -= {name}
    inputs = {name: values[name] for name in sorted(named) if values.get(name) is not None}
    return Decision(term=resolution.need, value=winner.value, inputs=inputs, clause=winner.evidence.clause.locator)


def calculate(
    playbook: Playbook, *, values: Mapping[str, FactValue], asked_at: datetime, zone: ZoneInfo
) -> dict[str, Calculation]:
    """The playbook's named calculations, in their order, for later ones use earlier ones.

    One that lacks a value is left out.
    """
    known = dict(values)
    results: dict[str, Calculation] = {}
    for name, expression in playbook.calculations.items():
        rule = load_rule(expression)
        evaluation = rule.evaluate(known, asked_at=asked_at, zone=zone)
        if evaluation.missing or evaluation.value is None:
            continue
        known[name] = evaluation.value
        below = (results[used].rests_on if used in results else {used} for used in rule.references)
        results[name] = Calculation(value=evaluation.value, rests_on=frozenset(n for names in below for n in names))
    return results


def holding(
    said: Iterable[_Said], *, values: Mapping[str, FactValue], asked_at: datetime, zone: ZoneInfo
) -> list[_Said]:
    """Those sentences or next steps whose condition holds; one that cannot be decided does not."""
    return [
        one
        for one in said
        if one.when is None or load_rule(one.when).evaluate(values, asked_at=asked_at, zone=zone).value is True
    ]


def _candidate(evidence: Evidence, values: Mapping[str, FactValue], asked_at: datetime) -> Candidate:
    term = evidence.term
    if term is None or term.rule is None:
        return Candidate(evidence=evidence, value=evidence.value)
    evaluation = load_rule(term.rule).evaluate(values, asked_at=asked_at, zone=term.clause.version.zone)
    # A rule that could not be computed is as undecided as one that lacks a fact.
    missing = evaluation.missing if evaluation.failure is None else evaluation.missing | {term.name}
    return Candidate(evidence=evidence, value=evaluation.value, missing=missing)
