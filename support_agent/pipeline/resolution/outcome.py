"""From the possible cases to one resolution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple, get_args

from policies.applicability import narrower
from support_agent.domain.conflict import Candidate, RemovedBy, Resolution, SettledBy, Situation
from support_agent.pipeline.resolution.in_force import Timelines, timelines
from support_agent.pipeline.resolution.ladder import Judgement, judge
from support_agent.pipeline.resolution.record import conflict_of
from support_agent.pipeline.resolution.statement import Statement, statements_of
from support_agent.pipeline.resolution.unknowns import Case, Unknown, possible_cases

RUNGS: tuple[SettledBy, ...] = get_args(SettledBy)


class Judged(NamedTuple):
    """A case, the option that it takes of each unknown, and how it ends."""

    taken: tuple[int, ...]
    case: Case
    judgement: Judgement


class Compared(NamedTuple):
    """What is compared, with what is known."""

    need: str
    statements: Sequence[Statement]
    lines: Timelines
    situation: Situation


def resolve(need: str, candidates: Sequence[Candidate], situation: Situation) -> Resolution:
    """Say which statement on `need` prevails, what removed each of the others, and the rung that decided.

    Args:
        need: A term; the candidates' values are compared as they are.
        candidates: Statements of the topic's policies that the question may see: the versions in force and their
            neighbours. Their order carries no meaning.
        situation: What is known of the case.

    Returns:
        The resolution; without a winner when the ladder leaves two, when there is a gap, or when a fact is missing.

    Raises:
        ValueError: A candidate stands in no clause.
        KeyError: A clause has a rank that the ladder lacks.
    """
    statements = statements_of(candidates, situation.ladder)
    lines = timelines(statements, situation)
    compared = Compared(need, statements, lines, situation)
    unknown, choices = possible_cases(statements, lines, situation)
    if not choices:
        return Resolution(need=need, status="needs_fact", needs_facts=_facts(unknown))
    judged = [
        Judged(choice.taken, choice.case, judge(need, statements, lines, choice.case, situation)) for choice in choices
    ]
    # Where nothing applies there is no other answer: the answer of the other cases is given with its condition.
    speaking = [one for one in judged if not one.judgement.limited] or judged
    if len(speaking) == 1 or len({_end(one.judgement) for one in speaking}) == 1:
        unstated = [one for index, one in enumerate(unknown) if one.is_stateable and _matters(index, judged, _standing)]
        return _concluded(compared, speaking, unstated=_facts(unstated))
    deciding = [one for index, one in enumerate(unknown) if _matters(index, speaking, _end)]
    return _undecided(compared, speaking, needs_facts=_facts(deciding or unknown))


def _facts(unknown: Iterable[Unknown]) -> frozenset[str]:
    return frozenset(chain.from_iterable(one.facts for one in unknown))


def _end(judgement: Judgement) -> object:
    """What is equal when two cases end alike."""
    return judgement.status, frozenset((type(statement.value), statement.value) for statement in judgement.standing)


def _standing(judgement: Judgement) -> object:
    return [statement.number for statement in judgement.standing]


def _matters(index: int, judged: Iterable[Judged], aspect: Callable[[Judgement], object]) -> bool:
    """Whether two cases that differ only in the unknown at `index` differ in that aspect."""
    seen: dict[tuple[int, ...], object] = {}
    return any(
        seen.setdefault((*one.taken[:index], *one.taken[index + 1 :]), found := aspect(one.judgement)) != found
        for one in judged
    )


def _concluded(compared: Compared, judged: Sequence[Judged], *, unstated: frozenset[str]) -> Resolution:
    """The resolution when all cases end alike."""
    need, statements, lines, situation = compared
    case, first = judged[0].case, judged[0].judgement
    removed = _removed_throughout(statements, judged)
    standing = [statement for statement in statements if statement.number not in removed]
    settled = first.status == "settled"
    winner = _prevailing(standing, situation, case) if settled else None
    gap_in = tuple(sorted({policy for one in judged for policy in one.judgement.gap_in}))
    governing = gap_in or _governing(standing)
    decisive = winner.version.policy if winner else next(iter(governing), None)
    settled_by = max((one.judgement.settled_by for one in judged), key=_height) if settled else None
    return Resolution(
        need=need,
        status=first.status,
        winner=winner.candidate if winner else None,
        agreeing=tuple(statement.candidate for statement in _by_rank(standing) if statement is not winner)
        if settled
        else (),
        governing_date=lines[decisive].governing if decisive is not None else None,
        conflict=conflict_of(
            need,
            statements,
            removed,
            case=case,
            groups=situation.groups,
            governing=governing,
            settled_by=settled_by,
            winner=winner,
        ),
        gap_in=gap_in,
        stale_renditions=_stale_renditions(lines, judged),
        unstated=unstated,
    )


def _undecided(compared: Compared, judged: Sequence[Judged], *, needs_facts: frozenset[str]) -> Resolution:
    """The resolution when cases end differently: all that stands in one of them stands in the record."""
    need, statements, lines, situation = compared
    removed = _removed_throughout(statements, judged)
    governing = _governing([statement for statement in statements if statement.number not in removed])
    dates = {lines[policy].governing for policy in governing}
    record = conflict_of(
        need,
        statements,
        removed,
        case=judged[0].case,
        groups=situation.groups,
        governing=governing,
        settled_by=None,
        winner=None,
    )
    return Resolution(
        need=need,
        status="needs_fact",
        governing_date=dates.pop() if len(dates) == 1 else None,
        conflict=record,
        needs_facts=needs_facts,
        stale_renditions=_stale_renditions(lines, judged),
    )


def _governing(standing: Sequence[Statement]) -> tuple[str, ...]:
    """The policies that say what stands; an FAQ that agrees with one governs nothing."""
    speakers = [statement for statement in standing if not statement.is_faq] or standing
    return tuple(dict.fromkeys(statement.version.policy for statement in speakers))


def _removed_throughout(statements: Iterable[Statement], judged: Sequence[Judged]) -> dict[int, RemovedBy]:
    """What removed each statement that stands in no case; a rule without a result stands only where none removes it."""
    if len(judged) == 1:
        return dict(judged[0].judgement.removed)
    removed: dict[int, RemovedBy] = {}
    for statement in statements:
        reasons = [one.judgement.removed.get(statement.number) for one in judged]
        told = [reason for reason in reasons if reason is not None]
        if told and (len(told) == len(reasons) or statement.is_unknown):
            removed[statement.number] = told[0]
    return removed


def _height(rung: SettledBy | None) -> int:
    return -1 if rung is None else RUNGS.index(rung)


def _by_rank(statements: Iterable[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda statement: -statement.level)


def _prevailing(standing: Sequence[Statement], situation: Situation, case: Case) -> Statement:
    """The one that speaks for all that agree: the highest rank, there the most specific, there the first by name."""
    top = max(statement.level for statement in standing)
    equals = [statement for statement in standing if statement.level == top]
    if len(equals) == 1:
        return equals[0]
    return next(
        (one for one in equals if not any(_is_narrower(other, one, situation, case) for other in equals)), equals[0]
    )


def _is_narrower(narrow: Statement, wide: Statement, situation: Situation, case: Case) -> bool:
    on = case.instants[wide.version.policy]
    return narrower(narrow.clause.applies_to, wide.clause.applies_to, groups=situation.groups, on=on)


def _stale_renditions(lines: Timelines, judged: Iterable[Judged]) -> tuple[str, ...]:
    """Renditions whose version in force starts before the original's, by policy id."""
    pairs = [(line, original) for line in lines.values() if (original := lines.get(line.current.rendition_of or ""))]
    stale = {
        rendition.policy
        for rendition, original in pairs
        for one in judged
        for own in rendition.at(one.case.instants[rendition.policy])
        if any(own.valid.start < its.valid.start for its in original.at(one.case.instants[original.policy]))
    }
    return tuple(sorted(stale))
