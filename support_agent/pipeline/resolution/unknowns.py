"""What nobody has stated, as the cases that are still possible.

The ladder is climbed once for each case. Where all cases end alike, what is unknown did not matter; where they differ,
the facts that make the difference are what must be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from math import prod
from typing import Final, NamedTuple

from policies.applicability import DIMENSIONS, applies, in_dimension
from support_agent.domain.conflict import Situation
from support_agent.pipeline.resolution.in_force import Timeline, Timelines, telling_instants, transition_pair
from support_agent.pipeline.resolution.statement import Statement

#: More cases than this are not told apart: then all that is unknown counts as deciding.
MAX_CASES: Final = 256
#: Stands in a dimension for everything that no statement names; contained in nothing.
ELSEWHERE: Final = ""


class Case(NamedTuple):
    """One way in which what is unknown may turn out, or a part of one."""

    #: Policy -> the instant at which it is read.
    instants: Mapping[str, datetime] = {}
    #: Applicability dimension -> value.
    known: Mapping[str, str | None] = {}
    #: Policy and condition of a transition -> whether it holds.
    holds: Mapping[tuple[str, str], bool] = {}
    #: Number of a rule's statement -> its result.
    results: Mapping[int, bool] = {}


class Unknown(NamedTuple):
    """One thing unknown: the facts that would settle it, and the ways in which it may turn out."""

    facts: frozenset[str]
    options: tuple[Case, ...]
    #: Whether an answer that holds either way may name it as its condition; the result of a rule is none.
    is_stateable: bool = True


class Choice(NamedTuple):
    """A case, and which option of each unknown it takes."""

    taken: tuple[int, ...]
    case: Case


def possible_cases(
    statements: Sequence[Statement], lines: Timelines, situation: Situation
) -> tuple[list[Unknown], list[Choice]]:
    """The unknowns that may matter and every case of them; no cases when there are more than `MAX_CASES`."""
    found = [*_dates(statements, lines, situation), *_transitions(lines, situation)]
    if not _is_all_known(statements, lines, situation):
        instants = {line: _instants_of(line, found) for line in lines}
        heard = [statement for statement in statements if _may_speak(statement, lines, instants, situation)]
        found += _dimensions(heard, lines, instants, situation)
        found += [_result(statement) for statement in heard if statement.is_unknown]
    unknown = [one for one in found if len(one.options) > 1]
    if prod(len(one.options) for one in unknown) > MAX_CASES:
        return unknown, []
    certain = _merged([Case(known=situation.known), *(one.options[0] for one in found if len(one.options) == 1)])
    if not unknown:
        return [], [Choice((), certain)]
    return unknown, [
        Choice(taken, _merged([certain, *(one.options[index] for one, index in zip(unknown, taken, strict=True))]))
        for taken in product(*(range(len(one.options)) for one in unknown))
    ]


def _is_all_known(statements: Iterable[Statement], lines: Timelines, situation: Situation) -> bool:
    """Whether every rule has its result and every dimension that limits anything is known: the usual case."""
    known = {dimension for dimension, value in situation.known.items() if value is not None}
    if not all(s.clause.applies_to.dimensions().keys() <= known and not s.is_unknown for s in statements):
        return False
    # Policies without a statement on the need matter through their gaps.
    return all(v.applies_to.dimensions().keys() <= known for line in lines.values() for v in line.versions)


def _merged(parts: Sequence[Case]) -> Case:
    instants: dict[str, datetime] = {}
    known: dict[str, str | None] = {}
    holds: dict[tuple[str, str], bool] = {}
    results: dict[int, bool] = {}
    for part in parts:
        instants.update(part.instants)
        known.update(part.known)
        holds.update(part.holds)
        results.update(part.results)
    return Case(instants, known, holds, results)


def _dates(statements: Sequence[Statement], lines: Timelines, situation: Situation) -> Iterator[Unknown]:
    """One unknown for each date that governs, whatever the number of policies that it governs."""
    shared: dict[object, list[Timeline]] = {}
    for line in lines.values():
        # A day is another period in another zone, and then a date of its own.
        period = line.governing and (line.governing.period.start, line.governing.period.end)
        shared.setdefault((line.fact, period), []).append(line)
    for group in shared.values():
        instants = telling_instants(group, statements, situation)
        options = tuple(Case(instants={line.policy: instant for line in group}) for instant in instants)
        yield Unknown(frozenset({group[0].fact}), options)


def _instants_of(policy: str, dates: Iterable[Unknown]) -> tuple[datetime, ...]:
    return tuple(case.instants[policy] for one in dates for case in one.options if policy in case.instants)


def _transitions(lines: Timelines, situation: Situation) -> Iterator[Unknown]:
    for line in lines.values():
        for transition in line.current.transition:
            if not any(transition_pair(line, version, transition) for version in line.versions):
                continue
            holds = situation.holds(transition.when, line.current.zone)
            key = line.policy, transition.when
            outcomes = (holds,) if isinstance(holds, bool) else (True, False)
            facts = frozenset[str]() if isinstance(holds, bool) else holds
            yield Unknown(facts, tuple(Case(holds={key: outcome}) for outcome in outcomes))


def _may_speak(
    statement: Statement, lines: Timelines, instants: Mapping[str, tuple[datetime, ...]], situation: Situation
) -> bool:
    """Whether the statement is in force in some case and is not excluded by what is known."""
    policy = statement.version.policy
    possible = instants[policy]
    if not lines[policy].current.transition and not any(statement.version.valid.contains(at) for at in possible):
        return False
    where = statement.clause.applies_to
    return any(applies(where, situation.known, groups=situation.groups, on=at) is not False for at in possible)


def _dimensions(
    heard: Iterable[Statement],
    lines: Timelines,
    instants: Mapping[str, tuple[datetime, ...]],
    situation: Situation,
) -> Iterator[Unknown]:
    limits = {(statement.clause.applies_to, at) for statement in heard for at in instants[statement.version.policy]}
    # A policy with a gap says nothing, but whether the gap matters depends on where the policy applies.
    limits |= {
        (version.applies_to, at)
        for line in lines.values()
        for at in instants[line.policy]
        if not line.at(at)
        for version in line.versions
    }
    for dimension in DIMENSIONS:
        limited = [(allowed, at) for where, at in limits if (allowed := getattr(where, dimension)) is not None]
        if limited and situation.known.get(dimension) is None:
            values = _told_apart(dimension, limited, situation)
            fact = situation.dimension_facts.get(dimension, dimension)
            yield Unknown(frozenset({fact}), tuple(Case(known={dimension: value}) for value in values))


def _told_apart(dimension: str, limited: Iterable[tuple[frozenset[str], datetime]], situation: Situation) -> list[str]:
    """Values of a dimension of which no two are treated alike by all limits, in a fixed order."""
    limits = list(limited)
    named = {value for allowed, _ in limits for value in allowed}
    if dimension == "regions":
        named |= {member.region for name in named for member in situation.groups.get(name, ())}
    told_apart: dict[tuple[bool, ...], str] = {}
    for value in (ELSEWHERE, *sorted(named)):
        treated = tuple(in_dimension(dimension, value, limit, groups=situation.groups, on=at) for limit, at in limits)
        told_apart.setdefault(treated, value)
    return list(told_apart.values())


def _result(statement: Statement) -> Unknown:
    outcomes = tuple(Case(results={statement.number: outcome}) for outcome in (True, False))
    return Unknown(statement.candidate.missing, outcomes, is_stateable=False)
