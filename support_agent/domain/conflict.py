"""Evidence that disagrees, what removed each candidate, and which prevails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from connectors.base import Evidence
from policies.facts import FactValue
from policies.version import Period

SettledBy: TypeAlias = Literal["in_force", "applies", "declared_relation", "authority", "specificity", "precedent"]
RemovedBy: TypeAlias = Literal[SettledBy, "transition", "rendition", "bound_met", "not_delegated"]


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
    """A candidate with what the ladder did to it; `removed_by` None: it stands."""

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
