"""Rung 1: which version of each policy governs.

Each policy is read on its own governing date. A date may be a range, or unknown; then the rung is climbed once for each
instant that makes a difference, so everything here looks at one instant at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from policies.authority import FAQ, Ladder
from policies.version import Period, PolicyVersion, Transition, day_period, instant_period
from support_agent.domain.conflict import GoverningDate, RemovedBy, Situation
from support_agent.pipeline.resolution.statement import Statement, is_better

ASKED_AT = "asked_at"
STATED = "stated"
INSTANT = timedelta(microseconds=1)


class Timeline(NamedTuple):
    """The loaded versions of one policy and the date that decides between them."""

    policy: str
    #: By start.
    versions: tuple[PolicyVersion, ...]
    #: In force when the question was asked, or the nearest to it: what it says on governing date and transition holds.
    current: PolicyVersion
    #: None: the fact that gives it is unknown.
    governing: GoverningDate | None
    #: The date fact to ask for when the date is unknown or too wide.
    fact: str

    def at(self, instant: datetime) -> list[PolicyVersion]:
        return [version for version in self.versions if version.valid.contains(instant)]


#: Policy id -> its timeline.
Timelines: TypeAlias = Mapping[str, Timeline]


def timelines(statements: Iterable[Statement], situation: Situation) -> Timelines:
    """The policies that speak or are loaded beside the candidates, each with its governing date."""
    policies: dict[str, dict[tuple[datetime, str], PolicyVersion]] = {}
    for version in (*(statement.version for statement in statements), *situation.versions):
        policies.setdefault(version.policy, {})[version.valid.start, version.version] = version
    # Policies mostly share one governing fact and one zone.
    dates: dict[tuple[str | None, str], tuple[GoverningDate | None, str]] = {}
    found: dict[str, Timeline] = {}
    for policy, by_start in policies.items():
        versions = tuple([by_start[key] for key in sorted(by_start)])
        current = _current(versions, situation.asked_at)
        shared = current.governed_by, current.time_zone
        if shared not in dates:
            dates[shared] = governing_date(current, situation)
        found[policy] = Timeline(policy, versions, current, *dates[shared])
    return found


def _current(versions: Sequence[PolicyVersion], asked_at: datetime) -> PolicyVersion:
    begun = [version for version in versions if version.valid.start <= asked_at]
    return begun[-1] if begun else versions[0]


def governing_date(version: PolicyVersion, situation: Situation) -> tuple[GoverningDate | None, str]:
    """The date on which the version's policy is read, and the fact to ask for when it does not decide."""
    fact, stated = version.governed_by, situation.stated
    if fact is not None and fact != ASKED_AT:
        if (known := situation.dates.get(fact)) is not None:
            return GoverningDate(period=_period(known, version), origin=fact), fact
        if stated is None or (stated.fact != fact and not (situation.general and stated.fact is None)):
            return (_asked_at(situation) if situation.general else None), fact
    elif stated is None or (fact == ASKED_AT and stated.fact is not None):
        return _asked_at(situation), ASKED_AT
    return GoverningDate(period=stated.period, origin=STATED), stated.fact or STATED


def _asked_at(situation: Situation) -> GoverningDate:
    return GoverningDate(period=instant_period(situation.asked_at), origin=ASKED_AT)


def _period(known: datetime | date | Period, version: PolicyVersion) -> Period:
    if isinstance(known, Period):
        return known
    return instant_period(known) if isinstance(known, datetime) else day_period(known, version.zone)


def telling_instants(
    lines: Sequence[Timeline], statements: Iterable[Statement], situation: Situation
) -> tuple[datetime, ...]:
    """One instant for each stretch of the date shared by `lines` in which the same clauses are in force.

    An unknown date is taken to fall where these policies have versions, so that one version alone needs no date.
    """
    governing = lines[0].governing
    if governing is not None and governing.period.end == governing.period.start + INSTANT:
        return (governing.period.start,)
    policies = {line.policy for line in lines}
    periods = [version.valid for line in lines for version in line.versions]
    periods += [statement.clause.valid for statement in statements if statement.version.policy in policies]
    edges = {edge for period in periods for edge in (period.start, period.end) if edge is not None}
    edges |= {
        edge
        for members in situation.groups.values()
        for member in members
        for edge in (member.start, member.end)
        if edge is not None
    }
    if governing is None:
        whole = [edge for edge in sorted(edges) if all(line.at(edge) for line in lines)]
        return tuple(whole or [edge for edge in sorted(edges) if any(line.at(edge) for line in lines)])
    inside = sorted(edge for edge in edges if governing.period.start < edge and governing.period.contains(edge))
    return governing.period.start, *inside


class Reading(NamedTuple):
    """A policy read at one instant: the versions that are heard, and those in force then that a transition replaced."""

    heard: tuple[PolicyVersion, ...]
    replaced: tuple[PolicyVersion, ...] = ()
    #: The older and the newer of which the better for the customer is heard.
    better_of: bool = False


def read(line: Timeline, instant: datetime, holds: Mapping[tuple[str, str], bool]) -> Reading:
    """The policy at `instant`; `holds` says of each `(policy, when)` of its transitions whether it does."""
    found = tuple(line.at(instant))
    if not line.current.transition or len(found) != 1:
        return Reading(found)
    governing = found[0]
    for transition in line.current.transition:
        pair = transition_pair(line, governing, transition)
        if pair is None or not holds[line.policy, transition.when]:
            continue
        if transition.take == "better":
            return Reading(pair, better_of=True)
        taken = pair[0] if transition.take == "older" else pair[1]
        return Reading((taken,), () if taken is governing else (governing,))
    return Reading(found)


def transition_pair(
    line: Timeline, governing: PolicyVersion, transition: Transition
) -> tuple[PolicyVersion, PolicyVersion] | None:
    """The older and the newer version that a transition chooses between, or None when it is not about these.

    What falls under `from` itself may move on to the version that states the transition; what falls under the version
    after it may stay behind.
    """
    if governing.version == transition.from_version:
        return governing, line.current
    previous = next((older for older, newer in pairwise(line.versions) if newer is governing), None)
    if previous is not None and previous.version == transition.from_version:
        return previous, governing
    return None


def removed_in_force(
    statements: Iterable[Statement], readings: Mapping[str, Reading], instants: Mapping[str, datetime]
) -> dict[int, RemovedBy]:
    """What rung 1 removes, by number."""
    removed: dict[int, RemovedBy] = {}
    for statement in statements:
        version = statement.version
        reading, instant = readings[version.policy], instants[version.policy]
        if any(_is_same(version, heard) for heard in reading.heard):
            if not statement.clause.valid.contains(_inside(instant, version.valid)):
                removed[statement.number] = "in_force"
        else:
            replaced = any(_is_same(version, other) for other in reading.replaced)
            removed[statement.number] = "transition" if replaced else "in_force"
    return removed


def removed_as_worse(
    standing: Sequence[Statement], readings: Mapping[str, Reading], instants: Mapping[str, datetime]
) -> dict[int, RemovedBy]:
    """What a transition that takes the better version removes, by number: statements with a better one beside them."""
    removed: dict[int, RemovedBy] = {}
    for statement in standing:
        policy = statement.version.policy
        if readings[policy].better_of and any(
            other.version.policy == policy
            and other.version.version != statement.version.version
            and is_better(other, statement, statement.better)
            for other in standing
        ):
            spoke = statement.version.valid.contains(instants[policy])
            removed[statement.number] = "transition" if spoke else "in_force"
    return removed


def is_gap(line: Timeline, lines: Timelines, instants: Mapping[str, datetime], ladder: Ladder) -> bool:
    """Whether the policy should speak at its instant and has no version in force.

    An FAQ explains and governs nothing, a rendition is as old as its original, and what one policy takes over from
    another leaves no gap in either while one of the two is in force.
    """
    if line.current.authority == FAQ or line.at(instants[line.policy]):
        return False
    if any(version.rendition_of in lines for version in line.versions):
        return False
    return not any(
        _takes_over(version, line, ladder) or any(_takes_over(own, other, ladder) for own in line.versions)
        for other in lines.values()
        if other is not line
        for version in other.at(instants[other.policy])
    )


def _takes_over(version: PolicyVersion, line: Timeline, ladder: Ladder) -> bool:
    return ladder.level(version.authority) >= ladder.level(line.current.authority) and any(
        reference.policy == line.policy and reference.version is None and reference.clause is None
        for reference in version.supersedes
    )


def _is_same(a: PolicyVersion, b: PolicyVersion) -> bool:
    # Of one policy; overlapping versions that were loaded around the constraint may even share their name.
    return a is b or (a.version == b.version and a.valid.start == b.valid.start)


def _inside(instant: datetime, period: Period) -> datetime:
    """The instant of `period` nearest to `instant`: a version that a transition takes is read where it governed."""
    if instant < period.start:
        return period.start
    return instant if period.end is None or instant < period.end else period.end - INSTANT
