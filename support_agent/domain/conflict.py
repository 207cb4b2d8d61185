"""Evidence that disagrees, what removed each candidate, and which prevails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from connectors.base import Evidence
from policies.applicability import RegionGroups
from policies.authority import Ladder
from policies.facts import FactValue
from policies.version import Period, PolicyVersion

SettledBy: TypeAlias = Literal["in_force", "applies", "declared_relation", "authority", "specificity", "precedent"]
RemovedBy: TypeAlias = Literal[SettledBy, "transition", "rendition", "bound_met", "not_delegated"]


#: A date fact as it is known: an instant, a calendar day (whole, in each policy's own zone), or a range.
DateValue: TypeAlias = datetime | date | Period
#: Whether a condition (CEL) holds on the facts, days meant in a zone; else the facts that must be known first.
Holds: TypeAlias = Callable[[str, ZoneInfo], bool | frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedDate:
    """The date of an event that the question states: of buying, ordering, travelling, or "as of"."""

    period: Period
    #: The date fact of that event; None when the date is only asked about ("as of").
    fact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known of the case when statements are compared; what is not in here is unknown."""

    asked_at: datetime
    ladder: Ladder
    #: Date facts by name.
    dates: Mapping[str, DateValue] = field(default_factory=dict)
    stated: StatedDate | None = None
    #: A question about the policy that names no order: it asks for what governs on the stated date, else at `asked_at`.
    general: bool = False
    #: Where the customer or order stands, by applicability dimension.
    known: Mapping[str, str | None] = field(default_factory=dict)
    #: Applicability dimension -> the fact that states it, as it is asked for; a dimension not in here names itself.
    dimension_facts: Mapping[str, str] = field(default_factory=dict)
    groups: RegionGroups = field(default_factory=dict)
    #: Decides the `when` of a transition.
    holds: Holds = lambda when, _zone: frozenset({when})
    #: Versions of the topic's policies that were loaded, also those that say nothing on a need; a gap is seen by them.
    versions: tuple[PolicyVersion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoverningDate:
    """The date that decided which version applies, as a period: an instant, a whole day, or a range."""

    period: Period
    #: The date fact, `stated` (the question says it), or `asked_at`.
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One statement on a need, with the value to compare.

    The value of a rule term is its result on the facts; while a fact it needs is unknown, `missing` names it.
    """

    evidence: Evidence
    value: FactValue
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCandidate:
    """A candidate with what removed it; `removed_by` None: it stands."""

    candidate: Candidate
    removed_by: RemovedBy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The record of one need on which sources differ. `settled_by` None: open."""

    need: str
    candidates: tuple[JudgedCandidate, ...]
    settled_by: SettledBy | None
    winner: Evidence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What the ladder made of the candidates for one need.

    `settled`: `winner` prevails, `agreeing` say the same. `open`: two or more stand. `policy_gap`: an applicable policy
    of the topic has versions, but none in force on the governing date. `needs_fact`: what stands differs by facts
    that nobody has stated (`needs_facts`). `absent`: nothing speaks.
    """

    need: str
    status: Literal["settled", "open", "policy_gap", "needs_fact", "absent"]
    winner: Candidate | None = None
    agreeing: tuple[Candidate, ...] = ()
    governing_date: GoverningDate | None = None
    #: None when nothing ever disagreed.
    conflict: Conflict | None = None
    needs_facts: frozenset[str] = frozenset()
    #: Policies whose gap it is; renditions found stale.
    gap_in: tuple[str, ...] = ()
    stale_renditions: tuple[str, ...] = ()
    #: Facts or regions that nobody stated and on which the survivors nevertheless agree.
    unstated: frozenset[str] = frozenset()
