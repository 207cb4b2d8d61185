"""Rungs 4 and 5: rank with its bounds, then specificity.

On a rung every statement that stands when it begins acts, whether or not another removes it. So a shop's seven days are
raised to the law's fourteen, and what a department adds to those seven days stays without effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from policies.applicability import RegionGroups, narrower
from support_agent.domain.conflict import RemovedBy
from support_agent.pipeline.resolution.statement import Statement, are_rivals, is_better, same


def removed_by_authority(standing: Sequence[Statement]) -> dict[int, RemovedBy]:
    """What rank removes, by number; a bound that is kept to is `bound_met`."""
    removed: dict[int, RemovedBy] = {}
    reached: set[int] = set()
    for source in standing:
        for target in standing:
            if (
                source is not target
                and _removes(source, target)
                and not same(source, target)
                and not are_rivals(source, target)
            ):
                removed[target.number] = "authority"
                reached.add(source.number)
    left = [statement for statement in standing if statement.number not in removed]
    met = [bound.number for bound in left if bound.is_bound and any(_keeps(other, bound, reached) for other in left)]
    if len(met) < len(left):
        removed |= dict.fromkeys(met, "bound_met")
    return removed


def _removes(source: Statement, target: Statement) -> bool:
    if source.level < target.level:
        return target.effect == "default" and not source.is_faq
    match source.effect:
        case "minimum":
            return _binds(source, target) and is_better(source, target, source.better)
        case "maximum":
            return _binds(source, target) and is_better(target, source, source.better)
        case "mandatory":
            return target.level < source.level
        case "default":
            return target.level < source.level and target.is_faq


def _binds(bound: Statement, target: Statement) -> bool:
    # Opposite bounds of one rank that contradict each other are a conflict, not an order.
    return target.level < bound.level or not (target.is_bound and target.effect != bound.effect)


def _keeps(other: Statement, bound: Statement, reached: set[int]) -> bool:
    """Whether `other` says a value strictly within the bound, so that the bound need not say one.

    An opposite bound says one only when it was reached, that is, when it cut something off.
    """
    if are_rivals(other, bound) or (other.is_bound and other.effect != bound.effect and other.number not in reached):
        return False
    if bound.effect == "minimum":
        return is_better(other, bound, bound.better)
    return is_better(bound, other, bound.better)


def removed_by_specificity(
    standing: Sequence[Statement], *, groups: RegionGroups, instants: Mapping[str, datetime]
) -> dict[int, RemovedBy]:
    """What something narrower of at least the same rank removes, by number; bounds take no part in it.

    Regions are compared as they were at the instant (by policy) at which the wider statement is read.
    """
    return {
        wide.number: "specificity"
        for wide in standing
        if not wide.is_bound
        and any(
            not narrow.is_bound
            and narrow.level >= wide.level
            and not same(narrow, wide)
            and not are_rivals(narrow, wide)
            and narrower(
                narrow.clause.applies_to, wide.clause.applies_to, groups=groups, on=instants[wide.version.policy]
            )
            for narrow in standing
        )
    }
