"""Builders for policies, clauses, terms and evidence, with everything a test does not speak of filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from connectors.base import Evidence, Locator, evidence_key
from policies.applicability import EVERYWHERE, Applicability
from policies.authority import LAW
from policies.facts import FactValue
from policies.terms import Term
from policies.version import Better, Clause, Effect, Period, PolicyVersion, Reference, start_of_day
from support_agent.domain.conflict import Candidate

WINDOW = "refund.window_days"
ELIGIBLE = "refund.eligible"
PURCHASED_AT = "order.purchased_at"
ALWAYS = Period(start=datetime(2000, 1, 1, tzinfo=UTC))


def at(text: str) -> datetime:
    """The instant of an ISO text; UTC where it names no zone."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def days(start: str | datetime, end: str | datetime | None = None, *, zone: str = "UTC") -> Period:
    """From the first instant of day `start` to that of day `end`; an instant stands for itself."""

    def edge(day: str | datetime) -> datetime:
        return day if isinstance(day, datetime) else start_of_day(date.fromisoformat(day), ZoneInfo(zone))

    return Period(start=edge(start), end=None if end is None else edge(end))


def reference(text: str) -> Reference:
    """Read `policy@version#clause`."""
    rest, _, clause = text.partition("#")
    policy, _, version = rest.partition("@")
    return Reference(policy=policy, version=version or None, clause=clause or None)


def make_version(
    policy: str = "refund",
    start: str | datetime = "2024-01-01",
    end: str | datetime | None = None,
    *,
    version: str | None = None,
    authority: str = "corporate",
    time_zone: str = "UTC",
    governed_by: str | None = PURCHASED_AT,
    applies_to: Applicability = EVERYWHERE,
    supersedes: Iterable[str] = (),
    amends: Iterable[str] = (),
    **rest: Any,
) -> PolicyVersion:
    """A version in force from `start` to `end` (days in its zone, or instants), named after its start."""
    values: dict[str, Any] = {
        "topic": "refund",
        "title": policy,
        "language": "en",
        "audience": "public",
        "recorded": ALWAYS,
        **rest,
    }
    return PolicyVersion(
        policy=policy,
        version=version or (start if isinstance(start, str) else start.isoformat()),
        authority=authority,
        valid=days(start, end, zone=time_zone),
        time_zone=time_zone,
        governed_by=governed_by,
        applies_to=applies_to,
        supersedes=tuple(map(reference, supersedes)),
        amends=tuple(map(reference, amends)),
        **values,
    )


def make_clause(
    version: PolicyVersion,
    anchor: str = "window",
    *,
    valid: Period | None = None,
    effect: Effect | None = None,
    applies_to: Applicability | None = None,
) -> Clause:
    """A clause of `version`; what is not said is the version's own, the effect that of its rank."""
    return Clause(
        version=version,
        anchor=anchor,
        heading=anchor,
        lines=(1, 2),
        valid=valid or version.valid,
        effect=effect or ("minimum" if version.authority == LAW else "mandatory"),
        audience=version.audience,
        applies_to=applies_to if applies_to is not None else version.applies_to,
    )


def make_candidate(
    clause: Clause,
    value: FactValue,
    *,
    need: str = WINDOW,
    better: Better | None = "higher",
    rule: str | None = None,
    missing: Iterable[str] = (),
    source: str = "policy",
) -> Candidate:
    """What `clause` says on `need`: a value, or with `rule` the result of a rule."""
    quote = f"{need} is {value}"
    term = Term(
        name=need,
        clause=clause,
        value=None if rule else value,
        rule=rule,
        better=None if rule else better,
        quote=quote,
        lines=clause.lines,
    )
    locator = Locator(
        document=clause.version.policy, version=clause.version.version, clause=clause.anchor, lines=clause.lines
    )
    evidence = Evidence(
        key=evidence_key(source, locator, [need, str(value), rule]),
        source=source,
        locator=locator,
        need=need,
        value=term.value,
        quote=quote,
        authority=clause.version.authority,
        clause=clause,
        term=term,
    )
    return Candidate(evidence=evidence, value=value, missing=frozenset(missing))


def says(
    value: FactValue,
    policy: str = "refund",
    start: str | datetime = "2024-01-01",
    end: str | datetime | None = None,
    *,
    anchor: str = "window",
    effect: Effect | None = None,
    better: Better | None = "higher",
    clause_applies_to: Applicability | None = None,
    **version: Any,
) -> Candidate:
    """A value term in one clause of one version, in one call."""
    clause = make_clause(
        make_version(policy, start, end, **version), anchor, effect=effect, applies_to=clause_applies_to
    )
    return make_candidate(clause, value, better=better)


def make_fact(need: str, value: FactValue, *, source: str = "orders", document: str = "SO-1001") -> Evidence:
    """A field of a record."""
    locator = Locator(document=document, version=None, clause=need.partition(".")[2])
    return Evidence(
        key=evidence_key(source, locator, str(value)),
        source=source,
        locator=locator,
        need=need,
        value=value,
        quote=str(value),
        authority="record",
    )


def where(**dimensions: Iterable[str] | str) -> Applicability:
    """`where(regions="EU", plans=["annual"])`."""
    sets: Mapping[str, frozenset[str]] = {
        name: frozenset([value] if isinstance(value, str) else value) for name, value in dimensions.items()
    }
    return Applicability(**sets)
