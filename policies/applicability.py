"""Where a rule holds: region, plan, plan version, channel, segment, account.

An absent dimension means "all". Regions are ISO 3166 codes (`DE`, `CN-SD`) or groups that a tenant defines with dates
(`EU`); a code contains its subdivisions, a group its members on the governing date. Groups may be members of groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicability:
    """The dimensions a rule is limited to; `None` is no limit."""

    regions: frozenset[str] | None = None
    plans: frozenset[str] | None = None
    plan_versions: frozenset[str] | None = None
    channels: frozenset[str] | None = None
    segments: frozenset[str] | None = None
    accounts: frozenset[str] | None = None
    # Every comparison goes through the limited dimensions, so they are listed once.
    _limits: Mapping[str, frozenset[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = {name: value for name in DIMENSIONS if (value := getattr(self, name)) is not None}
        object.__setattr__(self, "_limits", limits)

    def dimensions(self) -> Mapping[str, frozenset[str]]:
        """The limited dimensions by name."""
        return self._limits


#: Names of all dimensions, in the order in which they are asked for.
DIMENSIONS: tuple[str, ...] = tuple(one.name for one in fields(Applicability) if one.init)
EVERYWHERE = Applicability()


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """One region in a group, from `start` (inclusive) to `end` (exclusive, None: still); None start: always."""

    region: str
    start: datetime | None = None
    end: datetime | None = None

    def holds(self, on: datetime) -> bool:
        return (self.start is None or self.start <= on) and (self.end is None or on < self.end)


#: Group name -> its members.
RegionGroups: TypeAlias = Mapping[str, tuple[Membership, ...]]


def contains_region(outer: str, inner: str, *, groups: RegionGroups, on: datetime) -> bool:
    """Whether all of `inner` lies in `outer` at the instant `on`; a group lies where all its members lie."""
    return _lies_in(inner, frozenset([outer]), groups=groups, on=on)


def applies(
    where: Applicability, known: Mapping[str, str | None], *, groups: RegionGroups, on: datetime
) -> bool | None:
    """Whether a rule limited to `where` holds for what is `known` by dimension, at the instant `on`.

    Returns:
        False when one known dimension excludes it, None when only `unknown_dimensions` could, else True.
    """
    unknown = False
    for dimension, allowed in where.dimensions().items():
        value = known.get(dimension)
        if value is None:
            unknown = True
        elif not in_dimension(dimension, value, allowed, groups=groups, on=on):
            return False
    return None if unknown else True


def in_dimension(dimension: str, value: str, allowed: frozenset[str], *, groups: RegionGroups, on: datetime) -> bool:
    """Whether `value` is one of the `allowed` of a dimension, or for regions lies in one of them."""
    return value in allowed or (dimension == "regions" and _lies_in(value, allowed, groups=groups, on=on))


def unknown_dimensions(where: Applicability, known: Mapping[str, str | None]) -> frozenset[str]:
    """The limited dimensions of `where` about which nothing is known."""
    return frozenset(dimension for dimension in where.dimensions() if known.get(dimension) is None)


def narrower(a: Applicability, b: Applicability, *, groups: RegionGroups, on: datetime) -> bool:
    """Whether `a` lies within `b` in every dimension and is strictly smaller in one."""
    return a != b and _within(a, b, groups=groups, on=on) and not _within(b, a, groups=groups, on=on)


def overlap(a: Applicability, b: Applicability, *, groups: RegionGroups, on: datetime) -> bool:
    """Whether one customer can be in `a` and in `b` at the instant `on`."""
    limits = b.dimensions()
    return all(
        dimension not in limits
        or any(in_dimension(dimension, one, limits[dimension], groups=groups, on=on) for one in allowed)
        or any(in_dimension(dimension, other, allowed, groups=groups, on=on) for other in limits[dimension])
        for dimension, allowed in a.dimensions().items()
    )


def _within(a: Applicability, b: Applicability, *, groups: RegionGroups, on: datetime) -> bool:
    limits = a.dimensions()
    for dimension, outer in b.dimensions().items():
        inner = limits.get(dimension)
        if inner is None or not all(in_dimension(dimension, one, outer, groups=groups, on=on) for one in inner):
            return False
    return True


def _lies_in(
    region: str, outer: frozenset[str], *, groups: RegionGroups, on: datetime, above: frozenset[str] = frozenset()
) -> bool:
    """Whether a code or group lies in one of `outer`; `above` are groups being looked into, against circles."""
    names = {region, region.partition("-")[0]}
    if not names.isdisjoint(outer):
        return True
    for name in outer:
        if name in groups and name not in above:
            for member in groups[name]:
                part = member.region
                if (
                    (part in names or part in groups)
                    and member.holds(on)
                    and _lies_in(region, frozenset([part]), groups=groups, on=on, above=above | {name})
                ):
                    return True
    if region not in groups or region in above:
        return False
    parts = [member.region for member in groups[region] if member.holds(on)]
    return bool(parts) and all(_lies_in(part, outer, groups=groups, on=on, above=above | {region}) for part in parts)
