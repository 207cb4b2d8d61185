"""The ladder, rung after rung, for one need in one case.

Each rung is handed what stands and says what it removes. Recency is no rung. Rung 6, precedent, has its place between
specificity and open, and no rulings to look at yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from policies.applicability import Applicability, applies
from support_agent.domain.conflict import RemovedBy, SettledBy, Situation
from support_agent.pipeline.resolution.authority import removed_by_authority, removed_by_specificity
from support_agent.pipeline.resolution.in_force import Timelines, is_gap, read, removed_as_worse, removed_in_force
from support_agent.pipeline.resolution.relations import removed_as_renditions, removed_by_relations
from support_agent.pipeline.resolution.statement import Statement, agree
from support_agent.pipeline.resolution.unknowns import Case

Removals: TypeAlias = dict[int, RemovedBy]


class Judgement(NamedTuple):
    """How one case ends."""

    status: Literal["settled", "open", "policy_gap", "absent"]
    #: What removed each statement, by number.
    removed: Mapping[int, RemovedBy]
    standing: tuple[Statement, ...]
    #: The rung after which all that stood agreed.
    settled_by: SettledBy | None = None
    gap_in: tuple[str, ...] = ()
    #: Nothing speaks, but only because what might speak does not apply.
    limited: bool = False


def judge(need: str, statements: Sequence[Statement], lines: Timelines, case: Case, situation: Situation) -> Judgement:
    """Climb the ladder in one case."""
    statements = [_with_result(statement, case) for statement in statements] if case.results else statements
    in_force, removed = _in_force(statements, lines, case, situation)
    gaps = [line for line in lines.values() if is_gap(line, lines, case.instants, situation.ladder)]
    gap_in = tuple(
        sorted(
            line.policy
            for line in gaps
            if any(_applies(version.applies_to, line.policy, case, situation) for version in line.versions)
        )
    )
    standing, settled_by = _climb(need, in_force, removed, case, situation)
    if gap_in:
        return Judgement("policy_gap", removed, (), gap_in=gap_in)
    if not standing:
        return Judgement("absent", removed, (), limited=bool(in_force or gaps))
    return Judgement("settled" if settled_by else "open", removed, standing, settled_by)


def _with_result(statement: Statement, case: Case) -> Statement:
    result = case.results.get(statement.number)
    return statement if result is None else statement._replace(value=result)


def _applies(where: Applicability, policy: str, case: Case, situation: Situation) -> bool:
    return applies(where, case.known, groups=situation.groups, on=case.instants[policy]) is not False


def _in_force(
    statements: Sequence[Statement], lines: Timelines, case: Case, situation: Situation
) -> tuple[list[Statement], Removals]:
    """What is left after rung 1, and what the rung removed."""
    readings = {policy: read(line, case.instants[policy], case.holds) for policy, line in lines.items()}
    removed = removed_in_force(statements, readings, case.instants)
    heard = [statement for statement in statements if statement.number not in removed]
    if any(reading.better_of for reading in readings.values()):
        comparable = [s for s in heard if _applies(s.clause.applies_to, s.version.policy, case, situation)]
        removed |= removed_as_worse(comparable, readings, case.instants)
        heard = [statement for statement in heard if statement.number not in removed]
    return heard, removed


def _climb(
    need: str, in_force: Sequence[Statement], removed: Removals, case: Case, situation: Situation
) -> tuple[tuple[Statement, ...], SettledBy | None]:
    """Rungs 2 to 5: what stands in the end, and the rung after which it agreed; adds to `removed`."""
    ignored: frozenset[int] = frozenset()

    def outside(standing: Sequence[Statement]) -> Removals:
        return {
            statement.number: "applies"
            for statement in standing
            if not _applies(statement.clause.applies_to, statement.version.policy, case, situation)
        }

    def related(standing: Sequence[Statement]) -> Removals:
        nonlocal ignored
        renditions = removed_as_renditions(standing, in_force)
        originals = [statement for statement in standing if statement.number not in renditions]
        relations, ignored = removed_by_relations(originals, need)
        return renditions | relations

    def specific(standing: Sequence[Statement]) -> Removals:
        return removed_by_specificity(standing, groups=situation.groups, instants=case.instants)

    rungs: tuple[tuple[SettledBy, Callable[[Sequence[Statement]], Removals]], ...] = (
        ("applies", outside),
        ("declared_relation", related),
        ("authority", removed_by_authority),
        ("specificity", specific),
    )
    standing: Sequence[Statement] = in_force
    settled_by: SettledBy | None = "in_force" if in_force and agree(in_force) else None
    for rung, removes in rungs:
        # What applies and what yields to a relation is told even where all agree; rank has nothing to decide then.
        if settled_by and rung in {"authority", "specificity"}:
            break
        found = removes(standing)
        if rung in {"authority", "specificity"}:
            found |= dict.fromkeys(ignored & found.keys(), "not_delegated")
        removed |= found
        standing = [statement for statement in standing if statement.number not in found]
        if settled_by is None and standing and agree(standing):
            settled_by = rung
    return tuple(standing), settled_by
