"""The conflict record: every value that spoke, the neighbours in time that say another, and what removed each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from policies.applicability import RegionGroups, applies
from support_agent.domain.conflict import Conflict, JudgedCandidate, RemovedBy, SettledBy
from support_agent.pipeline.resolution.statement import Statement, same
from support_agent.pipeline.resolution.unknowns import Case


def conflict_of(
    need: str,
    statements: Sequence[Statement],
    removed: Mapping[int, RemovedBy],
    *,
    case: Case,
    groups: RegionGroups,
    governing: Iterable[str],
    settled_by: SettledBy | None,
    winner: Statement | None,
) -> Conflict | None:
    """The record of `need`, or None when nothing in it differs.

    Args:
        need: The term.
        statements: All that were compared, in their fixed order.
        removed: What removed each, by number; what is not in it stands.
        case: The case whose dates place the neighbours.
        groups: The tenant's region groups.
        governing: Policies whose neighbours enter: those that stand, or have a gap.
        settled_by: The rung that settled it; None when it is open.
        winner: What prevails.
    """
    spoke = [statement for statement in statements if removed.get(statement.number) != "in_force"]
    entered = {statement.number for statement in spoke}
    for policy in governing:
        entered |= _neighbours(policy, statements, removed, case=case, groups=groups)
    recorded = [statement for statement in statements if statement.number in entered]
    if all(same(recorded[0], other) for other in recorded[1:]):
        return None
    if settled_by == "applies" and any(
        removed.get(statement.number) in {"in_force", "transition"} and not (winner and same(statement, winner))
        for statement in recorded
    ):
        # Rules for others were never in question; between the versions of the one that is, the date decided.
        settled_by = "in_force"
    return Conflict(
        need=need,
        candidates=tuple(
            JudgedCandidate(candidate=statement.candidate, removed_by=removed.get(statement.number))
            for statement in recorded
        ),
        settled_by=settled_by,
        winner=winner.candidate.evidence if winner else None,
    )


def _neighbours(
    policy: str,
    statements: Iterable[Statement],
    removed: Mapping[int, RemovedBy],
    *,
    case: Case,
    groups: RegionGroups,
) -> set[int]:
    """Numbers of what the policy's nearest earlier and nearest later version with another value say."""
    own = [statement for statement in statements if statement.version.policy == policy]
    if not any(removed.get(statement.number) == "in_force" for statement in own):
        return set()
    standing = [statement for statement in own if statement.number not in removed]
    on = case.instants[policy]
    others = [
        statement
        for statement in own
        if removed.get(statement.number) == "in_force"
        and not statement.is_unknown
        and not any(same(statement, other) for other in standing)
        and applies(statement.clause.applies_to, case.known, groups=groups, on=on) is not False
    ]
    return _nearest(others, on)


def _nearest(others: Iterable[Statement], on: datetime) -> set[int]:
    earlier: list[Statement] = []
    later: list[Statement] = []
    for statement in others:
        (earlier if statement.clause.valid.start <= on else later).append(statement)
    last = max((statement.clause.valid.start for statement in earlier), default=None)
    first = min((statement.clause.valid.start for statement in later), default=None)
    return {s.number for s in earlier if s.clause.valid.start == last} | {
        s.number for s in later if s.clause.valid.start == first
    }
