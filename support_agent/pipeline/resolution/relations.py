"""Rung 3: what documents declare about each other.

A claim to supersede or amend counts when its source ranks at least as high as its target, or when the target leaves
that term to the source's rank. Any other claim is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policies.version import Reference
from support_agent.domain.conflict import RemovedBy
from support_agent.pipeline.resolution.statement import Statement


def removed_as_renditions(standing: Iterable[Statement], in_force: Sequence[Statement]) -> dict[int, RemovedBy]:
    """Renditions whose original speaks on its date, by number; without it a rendition speaks for itself."""
    renditions = [statement for statement in standing if statement.version.rendition_of is not None]
    if not renditions:
        return {}
    original_of = {statement.version.policy: statement.version.rendition_of for statement in in_force}
    return {statement.number: "rendition" for statement in renditions if _yields(statement.version.policy, original_of)}


def _yields(policy: str, original_of: Mapping[str, str | None]) -> bool:
    """Whether the original is there; policies that call each other the original have none."""
    seen: set[str] = set()
    original: str | None = policy
    while original is not None and original in original_of and original not in seen:
        seen.add(original)
        original = original_of[original]
    return original not in seen and len(seen) > 1


def removed_by_relations(standing: Sequence[Statement], need: str) -> tuple[dict[int, RemovedBy], frozenset[int]]:
    """What declared relations remove, by number, and the statements whose claim does not count."""
    if not any(s.version.supersedes or s.version.amends or s.version.delegates for s in standing):
        return {}, frozenset()
    edges: dict[int, set[int]] = {}
    ignored: set[int] = set()
    for source in standing:
        for target in standing:
            if target.version.policy == source.version.policy:
                continue
            if _may_replace(source, target, need):
                if _claims(source, target) or (target.level > source.level and _is_delegated(source, target, need)):
                    edges.setdefault(source.number, set()).add(target.number)
            elif _claims(source, target):
                ignored.add(source.number)
    removed: dict[int, RemovedBy] = {
        target: "declared_relation"
        for source, targets in edges.items()
        for target in targets
        # Documents that replace each other in a circle say nothing about which of them holds.
        if not _reaches(target, source, edges)
    }
    return removed, frozenset(ignored)


def _may_replace(source: Statement, target: Statement, need: str) -> bool:
    return source.level >= target.level or _is_delegated(source, target, need)


def _is_delegated(source: Statement, target: Statement, need: str) -> bool:
    # What a higher source leaves to a lower one stays within the bound that it sets.
    return not target.is_bound and any(
        delegation.to == source.version.authority and need in delegation.terms
        for delegation in target.version.delegates
    )


def _claims(source: Statement, target: Statement) -> bool:
    version = source.version
    return any(_names(reference, target) for reference in (*version.supersedes, *version.amends))


def _names(reference: Reference, target: Statement) -> bool:
    return (
        reference.policy == target.version.policy
        and reference.version in {None, target.version.version}
        and reference.clause in {None, target.clause.anchor}
    )


def _reaches(start: int, goal: int, edges: Mapping[int, set[int]]) -> bool:
    seen: set[int] = set()
    ahead = [start]
    while ahead:
        number = ahead.pop()
        if number == goal:
            return True
        if number not in seen:
            seen.add(number)
            ahead.extend(edges.get(number, ()))
    return False
