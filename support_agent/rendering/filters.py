"""How values read in a sentence: dates in a zone, money, shares and durations, in English and Chinese.

Babel costs about 30 µs a value, so every formatted value is remembered; the filters themselves only look it up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from babel.dates import format_date
from babel.numbers import format_currency, format_percent, get_currency_precision
from babel.units import format_unit
from jinja2 import UndefinedError, pass_context
from jinja2.runtime import Context, Undefined

from policies.facts import FactType
from support_agent.domain.question import Language

_T = TypeVar("_T")

#: Dates as in "5 March 2025"; amounts as in "$25.00".
_DATE_LOCALE: Final = {"en": "en_GB", "zh": "zh_Hans_CN"}
_LOCALE: Final = {"en": "en_US", "zh": "zh_Hans_CN"}
_UNITS: Final = {
    unit + plural: f"duration-{unit}"
    for unit in ("minute", "hour", "day", "week", "month", "year")
    for plural in ("", "s")
}
_YES_NO: Final = {"en": ("no", "yes"), "zh": ("否", "是")}
_LIST_COMMA: Final = {"en": ", ", "zh": "、"}


@lru_cache(maxsize=4_096)
def day(value: date, *, language: Language, zone: ZoneInfo) -> str:
    """`5 March 2025`, `2025年3月5日`; an instant is the day it falls on in `zone`."""
    on = value.astimezone(zone).date() if isinstance(value, datetime) else value
    return format_date(on, "long", locale=_DATE_LOCALE[language])


@lru_cache(maxsize=4_096)
def day_time(value: datetime, *, language: Language, zone: ZoneInfo) -> str:
    """`5 March 2025, 14:03`, on the 24-hour clock of `zone`."""
    local = value.astimezone(zone)
    return f"{day(value, language=language, zone=zone)}{', ' if language == 'en' else ' '}{local:%H:%M}"


@lru_cache(maxsize=4_096)
def money(minor: int, currency: str, *, language: Language) -> str:
    """`$25.00` from 2500 minor units; a currency without minor units takes the number as it is."""
    amount = Decimal(minor).scaleb(-get_currency_precision(currency))
    return format_currency(amount, currency, locale=_LOCALE[language])


@lru_cache(maxsize=1_024)
def share(basis_points: int, *, language: Language) -> str:
    """`12.5%` from 1250 basis points."""
    return format_percent(Decimal(basis_points) / 10_000, "#,##0.##%", locale=_LOCALE[language])


@lru_cache(maxsize=1_024)
def duration(n: int, unit: str, *, language: Language) -> str:
    """`1 day`, `14 days`, `14天`."""
    return format_unit(n, _UNITS[unit], "long", locale=_LOCALE[language])


def spoken(value: object, kind: FactType | None, *, language: Language, zone: ZoneInfo) -> str:
    """A fact's or term's value as its type is said; money without its currency."""
    match value, kind:
        case bool(), _:
            return _YES_NO[language][value]
        case int(), "basis_points":
            return share(value, language=language)
        case int(), "days" | "hours":
            return duration(value, kind, language=language)
        case int(), "money":
            return str(Decimal(value).scaleb(-2))
        case date(), _:
            return day(value, language=language, zone=zone)
        case tuple(), _:
            return _LIST_COMMA[language].join(value)
        case str(), "string":
            # One of a closed set is a name for programs: `change_of_plan`.
            return value.replace("_", " ")
        case _:
            return str(value)


def type_by_name(name: str) -> FactType | None:
    """The type that a term's name ends in (`refund.window_days`, `fee.share_bp`, `fee.return_minor`), if it does."""
    endings: dict[str, FactType] = {"_days": "days", "_hours": "hours", "_bp": "basis_points", "_minor": "money"}
    return next((kind for ending, kind in endings.items() if name.endswith(ending)), None)


def last_day(end: datetime | None) -> datetime | None:
    """The last instant of a half-open period: what people call its end."""
    return None if end is None else end - timedelta(microseconds=1)


# The same for templates, which know their language and zone from their context.


@pass_context
def _day(context: Context, value: date) -> str:
    return day(_known(value), language=context["_language"], zone=context["_zone"])


@pass_context
def _day_time(context: Context, value: datetime) -> str:
    return day_time(_known(value), language=context["_language"], zone=context["_zone"])


@pass_context
def _money(context: Context, minor: int, currency: str) -> str:
    return money(_known(minor), _known(currency), language=context["_language"])


@pass_context
def _share(context: Context, basis_points: int) -> str:
    return share(_known(basis_points), language=context["_language"])


@pass_context
def _duration(context: Context, n: int, unit: str = "days") -> str:
    return duration(_known(n), unit, language=context["_language"])


@pass_context
def said(context: Context, value: object) -> object:
    """What `{{ value }}` prints: a date as a day; null is never printed but raised as undefined."""
    match _known(value):
        case bool() as flag:
            return _YES_NO[context["_language"]][flag]
        case date() as on:
            return day(on, language=context["_language"], zone=context["_zone"])
        case tuple() as items:
            return _LIST_COMMA[context["_language"]].join(items)
        case str() | int() as plain:
            return plain
        case other:
            raise UndefinedError(f"a {type(other).__name__} cannot be said")


def _known(value: _T) -> _T:
    """Refuse what is null or undefined: a sentence with a hole in it must not be said."""
    if isinstance(value, Undefined):
        # Raises with the name that is undefined.
        str(value)
    if value is None:
        raise UndefinedError("the value is null")
    return value


@pass_context
def _row(context: Context, quote: str) -> str:
    return table_row(_known(quote), language=context["_language"])


_CELL: Final = re.compile(r"(?<!\\)\|")
_NAMED: Final = {"en": ("{}: {}", "; "), "zh": ("{}：{}", "；")}


@lru_cache(maxsize=1_024)
def table_row(quote: str, *, language: Language) -> str:
    """A quoted row of a table as it reads in a sentence: `paid by: card; how long it takes: up to 5 working days`.

    What is no row with its header, or has been cut, comes back as it is.
    """
    match [line.strip() for line in quote.splitlines()]:
        case [header, row] if all(line.startswith("|") and line.endswith("|") for line in (header, row)):
            names, cells = ([cell.strip() for cell in _CELL.split(line.strip("|"))] for line in (header, row))
        case _:
            return quote
    if len(names) != len(cells):
        return quote
    pair, between = _NAMED[language]
    return between.join(
        pair.format(name, cell) if name else cell for name, cell in zip(names, cells, strict=True) if cell
    )


FILTERS: Final[Mapping[str, Callable[..., object]]] = {
    "day": _day,
    "day_time": _day_time,
    "money": _money,
    "share": _share,
    "duration": _duration,
    "last_day": last_day,
    "row": _row,
}
