"""Periods, policy versions and clauses: the values everything else compares.

Every period is half-open `[start, end)` in aware UTC instants; an open end is `None`. This is said here once and relied
on everywhere. A version carries two periods: `valid` (when it governs) and `recorded` (when the store held it so).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from policies.applicability import Applicability

Effect: TypeAlias = Literal["minimum", "maximum", "mandatory", "default"]
Better: TypeAlias = Literal["higher", "lower"]
Audience: TypeAlias = Literal["public", "staff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The half-open period `[start, end)`; never empty, never inverted."""

    start: datetime
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.start.tzinfo is None or (self.end is not None and self.end.tzinfo is None):
            raise ValueError("a period needs aware instants")
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"a period must end after its start: {self.start} .. {self.end}")

    def contains(self, instant: datetime) -> bool:
        return self.start <= instant and (self.end is None or instant < self.end)

    def covers(self, other: Period) -> bool:
        """Whether all of `other` lies in this period."""
        if self.end is None:
            return self.start <= other.start
        return self.start <= other.start and other.end is not None and other.end <= self.end

    def overlaps(self, other: Period) -> bool:
        return (other.end is None or self.start < other.end) and (self.end is None or other.start < self.end)

    def cut_to(self, other: Period) -> Period | None:
        """The part of this period inside `other`, or nothing."""
        start = max(self.start, other.start)
        ends = [end for end in (self.end, other.end) if end is not None]
        end = min(ends) if ends else None
        return None if end is not None and end <= start else Period(start=start, end=end)


def instant_period(instant: datetime) -> Period:
    """An instant as the shortest period PostgreSQL can tell apart: one microsecond."""
    return Period(start=instant, end=instant + timedelta(microseconds=1))


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of `day` in `zone`, UTC; a skipped or doubled midnight takes the first offset (`fold=0`)."""
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def day_period(day: date, zone: ZoneInfo) -> Period:
    """The whole of `day` in `zone`: what a date without a time means; of a day that the zone left out, one instant."""
    start, end = start_of_day(day, zone), start_of_day(day + timedelta(days=1), zone)
    return Period(start=start, end=end) if start < end else instant_period(start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a declared relation points at: a policy, or one version or clause of it (`refund-eu@2025-02-01#window`)."""

    policy: str
    version: str | None = None
    clause: str | None = None

    def __str__(self) -> str:
        text = self.policy if self.version is None else f"{self.policy}@{self.version}"
        return text if self.clause is None else f"{text}#{self.clause}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """Grandfathering: which of two versions holds for what began under `from_version`."""

    from_version: str
    #: CEL over facts; the transition applies when it holds.
    when: str
    take: Literal["older", "newer", "better"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """Terms that a source leaves to sources of rank `to`."""

    to: str
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """One dated version of a policy, without its text."""

    policy: str
    version: str
    topic: str
    title: str
    language: str
    #: A rank of the tenant's ladder.
    authority: str
    audience: Audience
    valid: Period
    recorded: Period
    #: IANA name; the zone in which the policy's dates are meant.
    time_zone: str
    #: A date fact, `asked_at`, or None: the event date that the question states, else `asked_at`.
    governed_by: str | None
    applies_to: Applicability
    transition: tuple[Transition, ...] = ()
    supersedes: tuple[Reference, ...] = ()
    amends: tuple[Reference, ...] = ()
    delegates: tuple[Delegation, ...] = ()
    rendition_of: str | None = None

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A heading with its text in one version; `valid`, `effect`, `audience`, `applies_to` with its own overrides."""

    version: PolicyVersion
    anchor: str
    heading: str
    #: First and last line in the document, from 1.
    lines: tuple[int, int]
    valid: Period
    effect: Effect
    audience: Audience
    applies_to: Applicability

    @property
    def locator(self) -> str:
        """`policy@version#anchor`."""
        return f"{self.version.policy}@{self.version.version}#{self.anchor}"
