"""How a value that a source wrote becomes the value of a declared fact.

A naive timestamp is read in the zone that the settings name: of a local time that occurs twice the first is meant, one
that was skipped is read with the offset before the gap (`fold=0`). A date that states an instant is its first moment.
Nothing is rounded: a decimal must be whole once it is multiplied by the column's scale. A value that does not fit its
declaration raises `ValueError`, whose text tells the kind of the value and never the value, for it may be a customer's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Final, TypeAlias, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from policies.facts import FactDeclaration, FactType, FactValue
from policies.version import start_of_day

#: What CEL and the store can hold.
MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1

#: Years that a record can speak of.
_YEARS: Final = range(1800, 3000)
_Day = TypeVar("_Day", date, datetime)
_NEEDS_ZONE = "a naive time needs the setting `time_zone`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Where a fact stands in a record, and how it is read."""

    fact: FactDeclaration
    name: str
    #: What the source's number is multiplied by, e.g. 100 for money that it writes in major units.
    scale: int = 1
    #: The source's value -> ours, which fits the declaration; closed when given.
    map: Mapping[object, FactValue] | None = None


def fact_value(raw: object, *, column: Column, zone: ZoneInfo | None) -> FactValue:
    """The value of the column's fact that `raw` states; null only where the fact may be null.

    Raises:
        ValueError: The value does not fit the declaration.
    """
    if column.map is not None and (raw is not None or None in column.map):
        return _mapped(raw, column.map)
    if raw is None:
        if column.fact.null:
            return None
        raise ValueError("null where the declaration allows none")
    value = _READERS[column.fact.type](raw, column, zone)
    if column.fact.values and value not in column.fact.values:
        raise ValueError("a value outside the declared ones")
    return value


def quoted(raw: object) -> str:
    """The value as the source writes it."""
    match raw:
        case str():
            return clean(raw)
        case None:
            return "null"
        case bool():
            return "true" if raw else "false"
        case datetime() if raw.tzinfo is not None:
            # A driver shows it in the zone of its connection.
            return raw.astimezone(UTC).isoformat()
        case datetime() | date():
            return raw.isoformat()
        case list() | tuple():
            return ", ".join(map(quoted, raw))
        case _:
            return str(raw)


def clean(text: str) -> str:
    """The text without what a database cannot hold: NUL and lone surrogates become U+FFFD."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _mapped(raw: object, known: Mapping[object, FactValue]) -> FactValue:
    try:
        return known[raw]
    except (KeyError, TypeError):
        raise ValueError("a value that `map` does not list (in YAML, quote keys like 'yes' and 'no')") from None


def _bool(raw: object, _column: Column, _zone: ZoneInfo | None) -> bool:
    # Some databases have no truth values and store 0 and 1.
    if isinstance(raw, bool) or (isinstance(raw, int) and raw in {0, 1}):
        return bool(raw)
    raise _unfit(raw, "a truth value, 0 or 1")


def _string(raw: object, _column: Column, _zone: ZoneInfo | None) -> str:
    if isinstance(raw, str):
        return clean(raw)
    if (isinstance(raw, int) and not isinstance(raw, bool)) or isinstance(raw, UUID):
        return str(raw)
    raise _unfit(raw, "text")


def _number(raw: object, column: Column, _zone: ZoneInfo | None) -> int:
    match raw:
        case bool():
            raise _unfit(raw, "a number")
        case int():
            number = raw * column.scale
        case float() | Decimal():
            # The shortest decimal that reads back as a float is what the source wrote.
            number = _whole(Decimal(repr(raw)) if isinstance(raw, float) else raw, scale=column.scale)
        case _:
            raise _unfit(raw, "a number")
    if not MIN_INT <= number <= MAX_INT:
        raise ValueError("a number beyond 64 bits")
    return number


def _whole(number: Decimal, *, scale: int) -> int:
    scaled = number * scale if number.is_finite() else None
    if scaled is None or scaled != scaled.to_integral_value():
        raise ValueError(f"a number that is not whole at scale {scale}")
    return int(scaled)


def _instant(raw: object, _column: Column, zone: ZoneInfo | None) -> datetime:
    value = _parsed(raw) if isinstance(raw, str) else raw
    if isinstance(value, datetime):
        if value.tzinfo is None:
            if zone is None:
                raise ValueError(_NEEDS_ZONE)
            value = value.replace(tzinfo=zone, fold=0)
        return _moved(value, UTC)
    if isinstance(value, date):
        if zone is None:
            raise ValueError(_NEEDS_ZONE)
        return _first_moment(value, zone)
    raise _unfit(raw, "an instant")


def _date(raw: object, _column: Column, zone: ZoneInfo | None) -> date:
    value = _parsed(raw) if isinstance(raw, str) else raw
    if isinstance(value, datetime):
        if zone is None:
            raise ValueError("a time where a day is declared needs the setting `time_zone`")
        # A naive time is that zone's wall clock already.
        return _real(value).date() if value.tzinfo is None else _moved(value, zone).date()
    if isinstance(value, date):
        return _real(value)
    raise _unfit(raw, "a date")


def _list(raw: object, _column: Column, _zone: ZoneInfo | None) -> tuple[str, ...]:
    # Databases without arrays keep them as JSON text.
    items = _json_list(raw) if isinstance(raw, str) else raw
    if isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in items):
        return tuple(map(clean, items))
    raise _unfit(raw, "a list of texts")


def _parsed(text: str) -> date | datetime:
    """The ISO 8601 day or time in `text`; ten characters are a day."""
    try:
        return date.fromisoformat(text) if len(text) <= len("2025-03-05") else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("text that is no ISO 8601 date or time") from None


def _moved(value: datetime, zone: tzinfo) -> datetime:
    return _real(value).astimezone(zone)


def _first_moment(day: date, zone: ZoneInfo) -> datetime:
    return start_of_day(_real(day), zone)


def _real(value: _Day) -> _Day:
    """A day or time that something happened on; far from ours it stands for "never", and would be taken for a date."""
    if value.year not in _YEARS:
        raise ValueError(f"a date beyond the years {_YEARS.start} to {_YEARS[-1]}; give null for one that is not known")
    return value


def _json_list(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _unfit(raw: object, expected: str) -> ValueError:
    return ValueError(f"{type(raw).__name__} where {expected} is declared")


_Reader: TypeAlias = Callable[[object, Column, ZoneInfo | None], FactValue]

_READERS: Mapping[FactType, _Reader] = {
    "bool": _bool,
    "string": _string,
    "int": _number,
    "money": _number,
    "basis_points": _number,
    "days": _number,
    "hours": _number,
    "instant": _instant,
    "date": _date,
    "list": _list,
}
