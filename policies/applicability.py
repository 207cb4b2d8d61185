"""Where a rule holds: region, plan, plan version, channel, segment, account.

An absent dimension means "all". Regions are ISO 3166 codes (`DE`, `CN-SD`) or groups that a tenant defines with dates
(`EU`); a code contains its subdivisions, a group its members on the governing date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
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

    def dimensions(self) -> dict[str, frozenset[str]]:
        """The limited dimensions by name."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}


EVERYWHERE = Applicability()


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """One region in a group, from `start` (inclusive) to `end` (exclusive, None: still); None start: always."""

    region: str
    start: datetime | None = None
    end: datetime | None = None


#: Group name -> its members.
RegionGroups: TypeAlias = Mapping[str, tuple[Membership, ...]]
