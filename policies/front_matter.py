"""The keys that say what a document is, when it holds and for whom; read from its head, a sidecar, or the importer.

A key is taken from the first layer that has it; each layer is named in the faults of what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, TypeVar, get_args
from zoneinfo import ZoneInfo

from policies.applicability import DIMENSIONS, EVERYWHERE, Applicability
from policies.authority import Ladder
from policies.errors import Fault
from policies.facts import Facts
from policies.marked_yaml import Entry, instant_of
from policies.version import Audience, Delegation, Effect, Reference, Transition, start_of_day

KEYS: Final = (
    "policy", "title", "topic", "effective_from", "effective_to", "time_zone", "authority", "effect", "governed_by",
    "transition", "applies_to", "supersedes", "amends", "delegates", "rendition_of", "audience", "language", "owner",
    "source",
)  # fmt: skip
CLAUSE_KEYS: Final = ("effective_from", "effective_to", "effect", "audience", "applies_to")

_NAME = r"[^\W_][\w.-]{0,99}"
_REFERENCE = re.compile(rf"(?P<policy>{_NAME})(?:@(?P<version>{_NAME}))?(?:#(?P<clause>[\w.-]+))?")
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_REGION = re.compile("[A-Z]{2}(-[A-Z0-9]{1,3})?")
#: Years that a policy can be about; beyond them a date is a placeholder, and an open end is said by leaving it out.
_YEARS = range(1800, 3000)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What one file says about a document."""

    path: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a tenant's settings say about all its documents."""

    ladder: Ladder
    #: IANA name; the zone of dates where a document names none.
    time_zone: str
    facts: Facts = field(default_factory=dict)
    #: Names of region groups; None leaves the names of regions unchecked.
    region_groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    policy: str
    title: str
    topic: str
    #: UTC.
    starts: datetime
    #: UTC, exclusive; None until the next version starts.
    ends: datetime | None
    time_zone: str
    authority: str
    effect: Effect
    governed_by: str | None
    transition: tuple[Transition, ...]
    applies_to: Applicability
    supersedes: tuple[Reference, ...]
    amends: tuple[Reference, ...]
    delegates: tuple[Delegation, ...]
    rendition_of: str | None
    audience: Audience
    language: str
    owner: str | None
    source: str | None
    #: Where `transition` stands, for faults in its rules.
    transition_places: tuple[tuple[str, int], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseAttributes:
    """What a clause says of itself; None where it says nothing."""

    starts: datetime | None = None
    ends: datetime | None = None
    effect: Effect | None = None
    audience: Audience | None = None
    applies_to: Applicability | None = None


def read_front_matter(layers: Sequence[Keys], *, path: str, around: Surroundings) -> FrontMatter | list[Fault]:
    """The front matter that `layers` add up to, first layer first, or all that is wrong with it.

    Args:
        layers: The document's own head, then whatever speaks where it does not.
        path: The document; keys that no layer has are missing there.
        around: The tenant's settings.
    """
    reader = _Reader(layers, path, around)
    values = reader.front_matter()
    return reader.faults if reader.faults or values is None else values


def read_clause_attributes(keys: Keys, *, zone: ZoneInfo, around: Surroundings) -> ClauseAttributes | list[Fault]:
    """What the keys under a heading say, or all that is wrong with them."""
    reader = _Reader([keys], keys.path, around)
    reader.refuse_unknown(keys, CLAUSE_KEYS)
    attributes = ClauseAttributes(
        starts=reader.instant("effective_from", zone),
        ends=reader.instant("effective_to", zone),
        effect=reader.choice("effect", get_args(Effect)),
        audience=reader.choice("audience", get_args(Audience)),
        applies_to=reader.applies_to(),
    )
    if attributes.starts and attributes.ends and attributes.ends <= attributes.starts:
        reader.fault("effective_to", "not after effective_from", "give a later date, or leave it out")
    return reader.faults or attributes


def read_withdrawal(keys: Keys, *, zone: ZoneInfo, around: Surroundings) -> datetime | list[Fault] | None:
    """The instant that the key `withdrawn_from` gives, UTC; None without it."""
    reader = _Reader([keys], keys.path, around)
    withdrawn_from = reader.instant("withdrawn_from", zone)
    return reader.faults or withdrawn_from


def default_effect(authority: str) -> Effect:
    """The effect of a source that names none.

    Law binds as a minimum, which means `mandatory` for a term that knows no better; every rank below is mandatory. A
    rank is law when it is called so: `law`, or as in `national_law`.
    """
    return "minimum" if authority == "law" or authority.endswith("_law") else "mandatory"


class _Reader:
    """Takes keys from layers and collects what is wrong with them."""

    def __init__(self, layers: Sequence[Keys], path: str, around: Surroundings) -> None:
        self.faults: list[Fault] = []
        self._layers, self._path, self._around = layers, path, around

    def front_matter(self) -> FrontMatter | None:
        for layer in self._layers:
            self.refuse_unknown(layer, KEYS)
        policy = self.name("policy", required=True)
        time_zone = self._time_zone()
        zone = ZoneInfo(time_zone)
        starts, ends = self.instant("effective_from", zone, required=True), self.instant("effective_to", zone)
        if starts and ends and ends <= starts:
            self.fault("effective_to", "not after effective_from", "give a later date, or leave it out for an open end")
        authority = self._authority()
        title, language = self.text("title", required=True), self._language()
        transition = self._transition()
        read = partial(
            FrontMatter,
            ends=ends,
            time_zone=time_zone,
            effect=self.choice("effect", get_args(Effect)) or default_effect(authority or ""),
            governed_by=self._governed_by(),
            transition=tuple(step for step, _ in transition),
            transition_places=tuple(place for _, place in transition),
            applies_to=self.applies_to() or EVERYWHERE,
            supersedes=self._references("supersedes"),
            amends=self._references("amends"),
            delegates=self._delegates(),
            rendition_of=self.name("rendition_of"),
            audience=self.choice("audience", get_args(Audience)) or "public",
            owner=self.text("owner"),
            source=self.text("source"),
        )
        topic = self.name("topic") or policy
        if policy is None or topic is None or title is None or starts is None or authority is None or language is None:
            return None
        return read(policy=policy, topic=topic, title=title, starts=starts, authority=authority, language=language)

    def refuse_unknown(self, layer: Keys, known: Iterable[str]) -> None:
        for key, entry in layer.entries.items():
            if key not in known:
                near = get_close_matches(key, known, n=1)
                remedy = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"
                self._add(layer.path, entry, f"unknown key {key!r}", remedy)

    def fault(self, key: str, message: str, remedy: str) -> None:
        path, entry = self._find(key) or (self._path, Entry(None, 1, 1))
        self._add(path, entry, f"{key}: {message}", remedy)

    def text(self, key: str, *, required: bool = False) -> str | None:
        value = self._value(key, required=required)
        if value is None:
            return None
        if not isinstance(value, (str, int)) or isinstance(value, bool) or not str(value).strip():
            self.fault(key, f"{value!r} is not text", "write it as text, in quotes if need be")
            return None
        return str(value).strip()

    def name(self, key: str, *, required: bool = False) -> str | None:
        value = self.text(key, required=required)
        if value is not None and not re.fullmatch(_NAME, value):
            self.fault(key, f"{value!r} is no id", "use letters, digits, '-', '_' and '.', at most 100")
            return None
        return value

    def choice(self, key: str, choices: Sequence[T]) -> T | None:
        value = self._value(key)
        if value is not None and value not in choices:
            self.fault(key, f"{value!r} is not known", f"use one of {', '.join(map(str, choices))}")
        return next((choice for choice in choices if choice == value), None)

    def instant(self, key: str, zone: ZoneInfo, *, required: bool = False) -> datetime | None:
        """A date as its first instant in `zone`, an instant as it is; UTC."""
        value = self._value(key, required=required)
        if isinstance(value, str):
            value = _date_or_instant(value)
        match value:
            case None:
                return None
            case datetime() if value.tzinfo is None:
                self.fault(key, f"{value} has no offset", "write a date, or an instant as 2025-02-01T09:00:00+01:00")
                return None
            case date() if value.year not in _YEARS:
                remedy = "give the day it really is; leave effective_to out for an open end"
                self.fault(key, f"the year {value.year:04}", remedy)
                return None
            case datetime():
                return value.astimezone(UTC)
            case date():
                return start_of_day(value, zone)
            case _:
                self.fault(key, f"{self._value(key)!r} is no date", "write it as 2025-02-28")
                return None

    def applies_to(self) -> Applicability | None:
        found = self._find("applies_to")
        if found is None or found[1].value is None:
            return None
        path, entry = found
        limits = entry.mapping()
        if limits is None:
            self.fault("applies_to", "not a mapping", "write it as {regions: [EU], plans: [annual]}")
            return None
        self.refuse_unknown(Keys(path=path, entries=limits), DIMENSIONS)
        values = {name: self._limit(path, name, limits[name]) for name in DIMENSIONS if name in limits}
        return Applicability(**values)

    def _limit(self, path: str, dimension: str, entry: Entry) -> frozenset[str] | None:
        names = set()
        for item in entry.items():
            if not isinstance(item.value, (str, int)) or isinstance(item.value, bool) or not str(item.value):
                self._add(path, item, f"{dimension}: {item.plain!r} is not a name", "write a list of names")
            elif dimension == "regions" and not self._is_region(str(item.value)):
                remedy = "use an ISO 3166 code (DE, CN-SD) or a group of the tenant's region_groups"
                self._add(path, item, f"the region {item.value!r} is not known", remedy)
            else:
                names.add(str(item.value))
        if not entry.items():
            self._add(
                path, entry, f"{dimension}: an empty list applies nowhere", "name a value, or leave it out for all"
            )
        # `global` is how metadata says that there is no limit.
        return None if dimension == "regions" and "global" in names else frozenset(names)

    def _is_region(self, name: str) -> bool:
        groups = self._around.region_groups
        return name == "global" or groups is None or name in groups or _REGION.fullmatch(name) is not None

    def _time_zone(self) -> str:
        name = self.text("time_zone") or self._around.time_zone
        try:
            ZoneInfo(name)
        except (ValueError, KeyError, OSError):
            self.fault("time_zone", f"{name!r} is no time zone", "use an IANA name, e.g. Europe/Berlin")
            return "UTC"
        return name

    def _authority(self) -> str | None:
        rank = self.text("authority", required=True)
        if rank is not None and rank not in self._around.ladder:
            ranks = ", ".join("=".join(sorted(rung)) for rung in self._around.ladder.rungs)
            self.fault("authority", f"the ladder has no rank {rank!r}", f"its ranks are {ranks}")
            return None
        return rank

    def _language(self) -> str | None:
        tag = self.text("language", required=True)
        if tag is not None and not _LANGUAGE.fullmatch(tag):
            self.fault("language", f"{tag!r} is no language tag", "use BCP 47, e.g. en or zh-CN")
            return None
        return tag

    def _governed_by(self) -> str | None:
        fact = self.text("governed_by")
        if fact is None or fact == "asked_at":
            return fact
        declared = self._around.facts.get(fact)
        if declared is None or declared.type not in {"instant", "date"}:
            dates = [name for name, known in self._around.facts.items() if known.type in {"instant", "date"}]
            remedy = f"use asked_at or a date of facts.yaml ({', '.join(dates) or 'it has none'})"
            self.fault("governed_by", f"{fact!r} is no declared date", remedy)
            return None
        return fact

    def _references(self, key: str) -> tuple[Reference, ...]:
        references = []
        for path, entry in self._entries(key):
            match = _REFERENCE.fullmatch(str(entry.plain))
            if match is None:
                remedy = "write policy, policy@version or policy#clause"
                self._add(path, entry, f"{key}: {entry.plain!r} is no reference", remedy)
            else:
                references.append(Reference(**match.groupdict()))
        return tuple(references)

    def _delegates(self) -> tuple[Delegation, ...]:
        delegations = []
        for path, entry in self._entries("delegates"):
            value = entry.plain
            terms = value.get("terms") if isinstance(value, dict) else None
            terms = [terms] if isinstance(terms, str) else terms
            if not isinstance(value, dict) or set(value) != {"to", "terms"} or not isinstance(terms, list) or not terms:
                self._add(path, entry, "delegates: not understood", "write {to: RANK, terms: [TERM]}")
            elif value["to"] not in self._around.ladder:
                self._add(path, entry, f"delegates: the ladder has no rank {value['to']!r}", "name one of its ranks")
            else:
                delegations.append(Delegation(to=value["to"], terms=frozenset(map(str, terms))))
        return tuple(delegations)

    def _transition(self) -> list[tuple[Transition, tuple[str, int]]]:
        steps = []
        for path, entry in self._entries("transition"):
            value = entry.plain
            if not isinstance(value, dict) or not {"from", "take"} <= set(value) <= {"from", "when", "take"}:
                self._add(path, entry, "transition: not understood", "write {from: VERSION, when: RULE, take: older}")
            elif value["take"] not in {"older", "newer", "better"}:
                self._add(path, entry, f"transition: take {value['take']!r}", "use older, newer or better")
            else:
                when = entry.value["when"] if isinstance(entry.value, dict) and "when" in entry.value else None
                step = Transition(
                    from_version=str(value["from"]),
                    when="true" if when is None or when.value is True else str(when.plain),
                    take=value["take"],
                )
                steps.append((step, (path, entry.line if when is None else when.line)))
        return steps

    def _entries(self, key: str) -> list[tuple[str, Entry]]:
        found = self._find(key)
        return [] if found is None or found[1].value is None else [(found[0], item) for item in found[1].items()]

    def _value(self, key: str, *, required: bool = False) -> Any:  # noqa: ANN401 Whatever stands there.
        found = self._find(key)
        value = None if found is None else found[1].plain
        if value is None and required:
            self.fault(key, "missing", f"add it to the front matter: {key}: …")
        return value

    def _find(self, key: str) -> tuple[str, Entry] | None:
        return next(((layer.path, layer.entries[key]) for layer in self._layers if key in layer.entries), None)

    def _add(self, path: str, entry: Entry, message: str, remedy: str) -> None:
        self.faults.append(Fault(path=path, line=entry.line, message=message, remedy=remedy))


def _date_or_instant(text: str) -> date | datetime | str:
    try:
        return date.fromisoformat(text) if re.fullmatch("[0-9-]{10}", text) else instant_of(text)
    except ValueError:
        return text
