"""What holds of every resolution: order carries no meaning, what is out of play changes nothing, floors hold, and the
version that governs is the one that counting by hand finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from policies.applicability import EVERYWHERE
from policies.version import Delegation, Effect, Period, PolicyVersion
from support_agent.domain.conflict import Candidate, DateValue, Resolution, Situation
from support_agent.pipeline.resolution import resolve
from tests.factories import PURCHASED_AT, WINDOW, at, days, make_candidate, make_clause, make_version, says, where
from tests.soak import examples
from tests.unit.pipeline.test_resolution import SITUATION

pytestmark = pytest.mark.soak

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
#: No offset, fixed odd offsets, both hemispheres, a skipped and a doubled midnight, half an hour of summer time.
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "Africa/Cairo",
    "Asia/Shanghai",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
)
#: Leap days, year ends, and days on which clocks change somewhere in `ZONES`.
NOTABLE_DAYS = tuple(
    date.fromisoformat(day)
    for day in (
        "2012-02-29",
        "2015-10-18",
        "2016-02-21",
        "2016-02-29",
        "2018-11-04",
        "2020-02-29",
        "2023-04-28",
        "2023-10-27",
        "2024-02-29",
        "2024-03-10",
        "2024-03-31",
        "2024-04-07",
        "2024-10-06",
        "2024-10-27",
        "2024-11-03",
        "2024-12-31",
    )
)
DAYS = st.one_of(st.sampled_from(NOTABLE_DAYS), st.dates(date(2010, 1, 1), date(2030, 12, 31)))


class Span(NamedTuple):
    """A version as the oracle sees it: microseconds since the epoch, and a value."""

    start: int
    end: int | None
    value: int

    def holds(self, instant: int) -> bool:
        return self.start <= instant and not (self.end is not None and self.end <= instant)


class Example(NamedTuple):
    candidates: list[Candidate]
    spans: list[Span]
    governing: datetime | date | Period
    zone: ZoneInfo


def microseconds(instant: datetime) -> int:
    return (instant - EPOCH) // INSTANT


def first_instant_of(day: date, zone: ZoneInfo) -> datetime:
    """Found by looking at the clock on the wall every quarter of an hour."""
    instant = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=15)
    while instant.astimezone(zone).date() < day:
        instant += timedelta(minutes=15)
    return instant


@st.composite
def timelines(draw: st.DrawFn) -> Example:
    """A policy's versions, some with a gap between them, and a date near or far from where they meet."""
    name = draw(st.sampled_from(ZONES))
    zone = ZoneInfo(name)
    starts = sorted(draw(st.sets(DAYS, min_size=1, max_size=6)))
    edges = [first_instant_of(day, zone) for day in starts]
    candidates, spans = [], []
    for index, edge in enumerate(edges):
        following = edges[index + 1] if index + 1 < len(edges) else None
        end = following
        if draw(st.integers(0, 3)) == 0:
            end = edge + (following - edge) / 2 if following else edge + timedelta(days=draw(st.integers(1, 800)))
        value = draw(st.integers(1, 3))
        # A start on a day is read as midnight by our own code, so the oracle's clock checks that too.
        version = make_version("shop", starts[index].isoformat(), end, time_zone=name)
        candidates.append(make_candidate(make_clause(version), value))
        spans.append(Span(microseconds(edge), None if end is None else microseconds(end), value))
    ends = [span.end for span in spans if span.end is not None]
    near = [EPOCH + mark * INSTANT for mark in (*(span.start for span in spans), *ends)]
    return Example(draw(st.permutations(candidates)), spans, draw(governing_dates(near, zone)), zone)


@st.composite
def governing_dates(draw: st.DrawFn, near: list[datetime], zone: ZoneInfo) -> datetime | date | Period:
    mark = draw(st.sampled_from(near))
    match draw(st.integers(0, 4)):
        case 0 | 1:
            return mark + draw(st.sampled_from((-INSTANT, timedelta(0), INSTANT)))
        case 2:
            return mark + draw(st.timedeltas(timedelta(days=-900), timedelta(days=900)))
        case 3:
            return mark.astimezone(zone).date() + timedelta(days=draw(st.integers(-1, 1)))
        case _:
            nudge = st.sampled_from((-INSTANT, timedelta(0), INSTANT))
            start = mark + draw(st.one_of(nudge, st.timedeltas(timedelta(days=-400), timedelta(0))))
            later = [other for other in near if other - INSTANT > start]
            ends = [st.timedeltas(INSTANT, timedelta(days=800)).map(lambda length: start + length)]
            if later:
                ends.append(st.builds(lambda other, by: other + by, st.sampled_from(later), nudge))
            return Period(start=start, end=draw(st.one_of(ends)))


def by_hand(example: Example) -> tuple[str, int | None]:
    """Status and value, by counting."""
    governing = example.governing
    if isinstance(governing, Period):
        assert governing.end is not None
        first, last = microseconds(governing.start), microseconds(governing.end) - 1
    elif isinstance(governing, datetime):
        first = last = microseconds(governing)
    else:
        first = microseconds(first_instant_of(governing, example.zone))
        last = microseconds(first_instant_of(governing + timedelta(days=1), example.zone)) - 1
    marks = {first, last}
    for span in example.spans:
        for edge in (span.start, span.end):
            if edge is not None:
                marks |= {mark for mark in (edge - 1, edge) if first <= mark <= last}
    values = set()
    for mark in marks:
        holding = [span.value for span in example.spans if span.holds(mark)]
        values.add(holding[0] if holding else None)
    if values == {None}:
        return "policy_gap", None
    return ("settled", values.pop()) if len(values) == 1 else ("needs_fact", None)


@settings(max_examples=examples(default=2_000, soak=100_000))
@given(timelines())
def test_version_chosen_equals_counting_by_hand(example: Example) -> None:
    resolution = resolve(WINDOW, example.candidates, replace(SITUATION, dates={PURCHASED_AT: example.governing}))

    winner = resolution.winner
    event(resolution.status)
    assert (resolution.status, None if winner is None else winner.value) == by_hand(example)
    if winner is not None and isinstance(example.governing, datetime):
        clause = winner.evidence.clause
        assert clause is not None
        holding = [span for span in example.spans if span.holds(microseconds(example.governing))]
        assert [microseconds(clause.valid.start)] == [span.start for span in holding]


PLACES = st.sampled_from(
    [EVERYWHERE, where(regions="EU"), where(regions="DE"), where(regions="US"), where(plans="annual")]
)
RANKS = st.sampled_from(["law", "contract", "corporate", "regional", "department", "helpdesk", "faq"])
EFFECTS: st.SearchStrategy[Effect] = st.sampled_from(["minimum", "maximum", "mandatory", "mandatory", "default"])
POLICIES = ("a", "b", "c", "d", "e")


@st.composite
def candidate_sets(draw: st.DrawFn, *, relations: bool = True) -> list[Candidate]:
    """Statements of up to five policies, each with one to three versions, that declare all sorts of things."""
    found: list[Candidate] = []
    for policy in draw(st.lists(st.sampled_from(POLICIES), min_size=1, max_size=5, unique=True)):
        shared = draw(versions_of(policy, relations=relations))
        starts = draw(st.sampled_from([["2024-01-01"], ["2024-01-01", "2025-01-01"], ["2023-01-01", "2025-09-01"]]))
        for start, end in zip(starts, [*starts[1:], None], strict=True):
            version = make_version(policy, start, end, **shared)
            for anchor in draw(st.sampled_from([["window"], ["window", "annex"]])):
                place = draw(st.one_of(st.just(version.applies_to), PLACES))
                clause = make_clause(version, anchor, effect=draw(EFFECTS), applies_to=place)
                found.append(make_candidate(clause, draw(st.integers(1, 4)), better="higher"))
    return found


@st.composite
def versions_of(draw: st.DrawFn, policy: str, *, relations: bool) -> dict[str, Any]:
    others = st.lists(st.sampled_from([other for other in POLICIES if other != policy]), max_size=1)
    shared: dict[str, Any] = {"authority": draw(RANKS), "applies_to": draw(PLACES)}
    if relations:
        shared["supersedes"] = draw(others)
        shared["amends"] = draw(others)
        shared["rendition_of"] = draw(st.sampled_from([None, None, None, *POLICIES]))
        shared["delegates"] = tuple(
            Delegation(to=rank, terms=frozenset({WINDOW})) for rank in draw(st.lists(RANKS, max_size=1))
        )
    return shared


KNOWN = st.fixed_dictionaries(
    {"regions": st.sampled_from(["DE", "US", None]), "plans": st.sampled_from(["annual", None])}
)
DATES: st.SearchStrategy[Mapping[str, DateValue]] = st.sampled_from(
    [{}, {PURCHASED_AT: at("2025-03-05")}, {PURCHASED_AT: days("2024-06-01", "2025-10-01")}]
)


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    return replace(SITUATION, known=draw(KNOWN), dates=draw(DATES))


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.data(), candidate_sets(), situations())
def test_order_of_candidates_carries_no_meaning(
    data: st.DataObject, candidates: list[Candidate], situation: Situation
) -> None:
    shuffled = data.draw(st.permutations(candidates))

    resolution = resolve(WINDOW, candidates, situation)

    event(f"{resolution.status} by {resolution.conflict and resolution.conflict.settled_by}")
    assert resolve(WINDOW, shuffled, situation) == resolution


def essence(resolution: Resolution) -> tuple[object, ...]:
    return (
        resolution.status,
        resolution.winner,
        resolution.agreeing,
        resolution.needs_facts,
        resolution.gap_in,
        resolution.unstated,
    )


@settings(max_examples=examples(default=300, soak=20_000))
@given(candidate_sets(), DATES, RANKS, EFFECTS, st.integers(1, 4))
def test_irrelevant_statement_changes_nothing(
    candidates: list[Candidate], dates: Any, rank: str, effect: Any, value: int
) -> None:
    situation = replace(SITUATION, dates=dates)
    irrelevant = says(
        value,
        "z",
        "2010-01-01",
        authority=rank,
        effect=effect,
        applies_to=where(regions="CN"),
        supersedes=POLICIES,
    )

    assert essence(resolve(WINDOW, [*candidates, irrelevant], situation)) == essence(
        resolve(WINDOW, candidates, situation)
    )


@settings(max_examples=examples(default=300, soak=20_000))
@given(st.data(), candidate_sets(), EFFECTS, st.integers(1, 4))
def test_statement_out_of_force_changes_nothing(
    data: st.DataObject, candidates: list[Candidate], effect: Any, value: int
) -> None:
    version = clause_version(data.draw(st.sampled_from(candidates)))
    ended_clause = make_clause(version, "ended", valid=days("2025-03-06", "2025-03-07"), effect=effect)
    ended_version = make_version(
        version.policy, "2010-01-01", "2011-01-01", authority=version.authority, supersedes=POLICIES
    )
    out = [make_candidate(ended_clause, value), make_candidate(make_clause(ended_version, effect=effect), value)]

    assert essence(resolve(WINDOW, [*candidates, *out], SITUATION)) == essence(resolve(WINDOW, candidates, SITUATION))


def clause_version(candidate: Candidate) -> PolicyVersion:
    assert candidate.evidence.clause is not None
    return candidate.evidence.clause.version


@settings(max_examples=examples(default=500, soak=30_000))
@given(
    candidate_sets(),
    st.lists(st.tuples(st.sampled_from(["minimum", "maximum"]), st.integers(1, 4)), min_size=1, max_size=2),
)
def test_answer_keeps_the_bounds_of_law(candidates: list[Candidate], bounds: list[tuple[Any, int]]) -> None:
    statutes = [
        says(value, f"law-{number}", "2014-01-01", authority="statute", effect=effect)
        for number, (effect, value) in enumerate(bounds)
    ]
    ladder = type(SITUATION.ladder).of(["statute", *SITUATION.ladder.rungs])

    resolution = resolve(WINDOW, [*candidates, *statutes], replace(SITUATION, ladder=ladder))

    event(resolution.status)
    if resolution.winner is not None:
        answer = resolution.winner.value
        assert isinstance(answer, int)
        for effect, value in bounds:
            assert answer >= value if effect == "minimum" else answer <= value


@settings(max_examples=examples(default=300, soak=20_000))
@given(candidate_sets())
def test_answer_without_the_region_is_the_answer_in_every_region(candidates: list[Candidate]) -> None:
    nowhere = replace(SITUATION, known={**SITUATION.known, "regions": None})

    resolution = resolve(WINDOW, candidates, nowhere)

    everywhere = [
        resolve(WINDOW, candidates, replace(SITUATION, known={**SITUATION.known, "regions": region}))
        for region in ("DE", "FR", "US", "CN")
    ]
    ends = {
        (one.status, None if one.winner is None else one.winner.value) for one in everywhere if one.status != "absent"
    }
    event(resolution.status)
    if resolution.status == "settled":
        assert resolution.winner is not None
        assert ends == {("settled", resolution.winner.value)}
    if resolution.status == "needs_fact":
        assert resolution.needs_facts == {"profile.region"}
        assert len(ends) > 1 or ends == {("open", None)}
