"""Between the store's rows and the values of `policies.version` and `policies.terms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, LiteralString

from policies.applicability import DIMENSIONS, EVERYWHERE, Applicability
from policies.facts import FactValue
from policies.terms import Term
from policies.version import Clause, Delegation, Period, PolicyVersion, Reference, Transition

#: Of a recording `v` and its document `d`, in the order that `read_version` takes them.
VERSION_COLUMNS: Final[LiteralString] = (
    "v.policy_id, v.version, v.valid_from, v.valid_to, v.recorded_from, v.recorded_to, d.attributes"
)
#: Of a clause `c`, in the order that `read_clause` takes them.
CLAUSE_COLUMNS: Final[LiteralString] = (
    "c.anchor, c.heading, c.line_start, c.line_end, c.valid_from, c.valid_to, c.effect, c.audience,"
    " c.regions, c.plans, c.plan_versions, c.channels, c.segments, c.accounts"
)
N_CLAUSE_COLUMNS: Final = 14


def read_version(row: Sequence[Any]) -> PolicyVersion:
    policy, version, valid_from, valid_to, recorded_from, recorded_to, attributes = row
    return PolicyVersion(
        policy=policy,
        version=version,
        topic=attributes["topic"],
        title=attributes["title"],
        language=attributes["language"],
        authority=attributes["authority"],
        audience=attributes["audience"],
        valid=Period(start=valid_from, end=valid_to),
        recorded=Period(start=recorded_from, end=recorded_to),
        time_zone=attributes["time_zone"],
        governed_by=attributes["governed_by"],
        applies_to=_applicability(attributes["applies_to"]),
        transition=tuple(Transition(**step) for step in attributes["transition"]),
        supersedes=tuple(Reference(**target) for target in attributes["supersedes"]),
        amends=tuple(Reference(**target) for target in attributes["amends"]),
        delegates=tuple(Delegation(to=part["to"], terms=frozenset(part["terms"])) for part in attributes["delegates"]),
        rendition_of=attributes["rendition_of"],
    )


def read_clause(row: Sequence[Any], *, version: PolicyVersion) -> Clause | None:
    """The clause in `version`; None when its own bounds leave nothing of the version's period."""
    anchor, heading, first, last, starts, ends, effect, audience, *limits = row
    start = max(version.valid.start, starts) if starts is not None else version.valid.start
    if ends is not None and ends <= start:
        return None
    valid = Period(start=start, end=ends).cut_to(version.valid)
    if valid is None:
        return None
    return Clause(
        version=version, anchor=anchor, heading=heading, lines=(first, last), valid=valid, effect=effect,
        audience=audience, applies_to=_applicability(dict(zip(DIMENSIONS, limits, strict=True))),
    )  # fmt: skip


def read_term(row: Sequence[Any], *, clause: Clause) -> Term:
    """The term of a row name, value, rule, better, quote, first and last line."""
    name, value, rule, better, quote, first, last = row
    return Term(
        name=name, clause=clause, value=decode_value(value), rule=rule, better=better, quote=quote, lines=(first, last)
    )


def encode_value(value: FactValue) -> Any:  # noqa: ANN401 - a JSON value
    """`value` as JSON; what JSON cannot tell apart from text is tagged."""
    match value:
        case datetime():
            return {"instant": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case tuple():
            return list(value)
        case _:
            return value


def decode_value(value: Any) -> FactValue:  # noqa: ANN401 - a JSON value
    match value:
        case {"instant": str(text)}:
            return datetime.fromisoformat(text)
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case list():
            return tuple(value)
        case _:
            plain: FactValue = value
            return plain


def limits_of(where: Applicability) -> Mapping[str, list[str] | None]:
    """The dimensions of `where` as columns."""
    limits = where.dimensions()
    return {name: sorted(limits[name]) if name in limits else None for name in DIMENSIONS}


def _applicability(limits: Mapping[str, Sequence[str] | None]) -> Applicability:
    sets = {name: frozenset(names) for name in DIMENSIONS if (names := limits.get(name)) is not None}
    return Applicability(**sets) if sets else EVERYWHERE
