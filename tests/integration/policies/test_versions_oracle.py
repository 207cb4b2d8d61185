"""Which version governs, as the database finds it, against a list searched from end to end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.version import Period, start_of_day
from support_agent.storage import tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session
from tests.integration.conftest import Database
from tests.integration.policies.written import written
from tests.soak import examples

ZONES = (
    "UTC", "Europe/Berlin", "Europe/Lisbon", "America/New_York", "America/St_Johns", "America/Sao_Paulo",
    "Asia/Shanghai", "Asia/Kathmandu", "Pacific/Auckland", "Pacific/Apia",
)  # fmt: skip
#: Leap days, changes of the clock in several zones (some at midnight), a skipped day in Samoa, ends of years.
SPECIAL = tuple(
    map(
        date.fromisoformat,
        [
            "2012-02-29", "2016-02-29", "2016-03-01", "2011-12-29", "2011-12-31", "2015-10-18", "2016-02-21",
            "2016-03-27", "2016-10-30", "2015-12-31", "2016-01-01", "2016-03-13", "2016-11-06", "2016-04-03",
        ],
    )
)  # fmt: skip
MICROSECOND = timedelta(microseconds=1)

days = st.one_of(st.sampled_from(SPECIAL), st.dates(date(2011, 1, 1), date(2017, 1, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    name: str
    start: date
    end: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    zone: str
    versions: tuple[Written, ...]
    #: For each version, in which publish it came.
    steps: tuple[int, ...]

    def as_of(self, instant: datetime, *, step: int) -> str | None:
        """The version in force at `instant`, when the publishes up to `step` were known; by reading all."""
        known = sorted(
            (self.instant(one.start), one) for one, came in zip(self.versions, self.steps, strict=True) if came <= step
        )
        in_force = None
        for place, (start, one) in enumerate(known):
            following = known[place + 1][0] if place + 1 < len(known) else None
            end = following if one.end is None else self.instant(one.end)
            if start <= instant and (end is None or instant < end):
                assert in_force is None
                in_force = one.name
        return in_force

    def instant(self, day: date) -> datetime:
        return start_of_day(day, ZoneInfo(self.zone))

    def boundaries(self) -> set[datetime]:
        edges = {self.instant(day) for one in self.versions for day in (one.start, one.end) if day is not None}
        return {edge + offset for edge in edges for offset in (-MICROSECOND, timedelta(0), MICROSECOND)}


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    zone = draw(st.sampled_from(ZONES))
    # Two days that begin at one instant (a skipped day) are one start.
    starts = sorted(
        {start_of_day(day, ZoneInfo(zone)): day for day in draw(st.sets(days, min_size=1, max_size=7))}.items()
    )
    versions = []
    for number, (instant, day) in enumerate(starts):
        latest = starts[number + 1][1] if number + 1 < len(starts) else day + timedelta(days=900)
        end = draw(st.one_of(st.none(), st.dates(day, latest)))
        later = end is not None and start_of_day(end, ZoneInfo(zone)) > instant
        versions.append(Written(name=f"v{number}", start=day, end=end if later else None))
    steps = draw(st.lists(st.integers(0, 2), min_size=len(versions), max_size=len(versions)))
    return Timeline(zone=zone, versions=tuple(versions), steps=tuple(steps))


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pooled(loop: asyncio.Runner, database: Database) -> Iterator[AsyncEngine]:
    engine = create_engine(database.url, pool_size=1)
    yield engine
    loop.run(engine.dispose())


async def governing(
    engine: AsyncEngine, timeline: Timeline, probes: Sequence[datetime]
) -> dict[tuple[int, datetime], str | None]:
    """The version in force at each probe as known after each publish, by publish and probe."""
    found: dict[tuple[int, datetime], str | None] = {}
    async with open_session(engine, uuid4()) as session:
        await tenants.save(session, session.tenant_id.hex, {})
        known_at: dict[int, datetime] = {}
        for step in range(3):
            documents = [
                written(
                    one.name, starts=one.start.isoformat(), ends=one.end.isoformat() if one.end else None,
                    body="## Rule\nText.\n", time_zone=timeline.zone,
                )
                for one, came in zip(timeline.versions, timeline.steps, strict=True)
                if came == step
            ]  # fmt: skip
            await store.publish(session, documents, approval="imported", by="ada")
            known_at[step] = (await session.fetch("select clock_timestamp()", {}))[0][0]
        for probe in probes:
            for step, instant in known_at.items():
                version = await store.as_of(session, "refund", as_of=probe, known_at=instant)
                found[step, probe] = version.version if version else None
            now = await store.as_of(session, "refund", as_of=probe)
            assert (now.version if now else None) == found[2, probe]
        await session.psycopg.rollback()
    return found


@pytest.mark.soak
@settings(max_examples=examples(default=60, soak=3_000))
@given(timeline=timelines())
def test_database_finds_what_reading_all_finds(loop: asyncio.Runner, pooled: AsyncEngine, timeline: Timeline) -> None:
    probes = sorted(timeline.boundaries())

    found = loop.run(governing(pooled, timeline, probes))

    assert found == {(step, probe): timeline.as_of(probe, step=step) for probe in probes for step in range(3)}


@pytest.mark.soak
@settings(max_examples=examples(default=60, soak=3_000))
@given(timeline=timelines(), data=st.data())
def test_timeline_holds_what_governs_a_period(
    loop: asyncio.Runner, pooled: AsyncEngine, timeline: Timeline, data: st.DataObject
) -> None:
    edges = sorted(timeline.boundaries())
    start, end = sorted(data.draw(st.lists(st.sampled_from(edges), min_size=2, max_size=2, unique=True)))

    async def in_force() -> set[str]:
        async with open_session(pooled, uuid4()) as session:
            await tenants.save(session, session.tenant_id.hex, {})
            documents = [
                written(
                    one.name, starts=one.start.isoformat(), ends=one.end.isoformat() if one.end else None,
                    time_zone=timeline.zone,
                )
                for one in timeline.versions
            ]  # fmt: skip
            await store.publish(session, documents, approval="imported", by="ada")
            period = Period(start=start, end=end)
            read = await store.timeline_of_topic(
                session, topic="refund", needs=[], dates={"stated": period}, asked_at=start, audiences=["public"]
            )
            await session.psycopg.rollback()
            return {one.version for one in read.versions if one.valid.overlaps(period)}

    instants = [instant for instant in edges if start <= instant < end]
    expected = {name for instant in instants if (name := timeline.as_of(instant, step=2)) is not None}

    assert loop.run(in_force()) == expected
