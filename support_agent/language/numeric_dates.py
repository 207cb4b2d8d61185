"""Dates written in digits, the same in every language: 2024-03-05, 2024/3/5, an instant with its offset, 03/04/2025."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from support_agent.language.dates import Asked, Found, moment, one_day, undecided, whole
from support_agent.language.grammar import Rule

# Not inside a longer number, a version (1.2.3), an amount or an identifier.
# A hyphen between two dates (2024/3/1-2024/3/5) is no part of either.
_START = r"(?<![0-9a-z_$€£¥])(?<![0-9a-z][.,/])(?<![a-z]-)(?<!version\s)(?<!版本)"
_END = r"(?![0-9a-z_]|[.,/:][0-9a-z]|-(?!(?:19|20)?[0-9]{2}[-/.])[0-9a-z])"

_CENTURY = 2000


def _year_first(match: re.Match[str], asked: Asked) -> Found | None:
    if match["first"] != match["second"]:
        return None
    return whole(asked, one_day(date(int(match["y"]), int(match["m"]), int(match["d"]))), "day")


def _instant(match: re.Match[str], asked: Asked) -> Found:
    """An instant; without an offset it is local time, and a clock that shows it twice means the first."""
    clock = f"{match['day']}T{match['time']}"
    offset = (match["offset"] or "").replace(" ", "").upper().replace("Z", "+00:00")
    instant = datetime.fromisoformat(clock + offset)
    return moment((instant if offset else instant.replace(tzinfo=asked.zone)).astimezone(UTC))


def _year_last(match: re.Match[str], asked: Asked) -> Found | None:
    if match["first"] != match["second"]:
        return None
    numbers = (int(match["a"]), int(match["b"]), int(match["y"]))
    # With dots the day comes first wherever dots are used.
    orders = ["DMY"] if match["first"] == "." else _orders(asked, n_year_digits=len(match["y"]))
    days = list(dict.fromkeys(day for order in orders if (day := _read(numbers, order)) is not None))
    if not days:
        # 13/04/2025 can be read one way only, whatever the order.
        days = [day for order in ("DMY", "MDY") if (day := _read(numbers, order)) is not None]
    if not days:
        return None
    return whole(asked, one_day(days[0]), "day") if len(days) == 1 else undecided(asked, days)


def _orders(asked: Asked, *, n_year_digits: int) -> list[str]:
    if asked.date_order in ("DMY", "MDY") or (asked.date_order == "YMD" and n_year_digits == 2):  # noqa: PLR2004 - a short year
        return [str(asked.date_order)]
    return ["DMY", "MDY"]


def _read(numbers: tuple[int, int, int], order: str) -> date | None:
    parts = dict(zip(order, numbers, strict=True))
    year = parts["Y"] if parts["Y"] > 99 else _CENTURY + parts["Y"]  # noqa: PLR2004 - the longest short year
    try:
        return date(year, parts["M"], parts["D"])
    except ValueError:
        return None


NUMERIC_DATES: tuple[Rule, ...] = (
    Rule(
        _START
        + r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:t|\ )(?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
        r"(?P<offset>\ ?(?:z|[+-][0-9]{2}:?[0-9]{2}))?(?![0-9a-z:])",
        _instant,
    ),
    Rule(
        _START + r"(?P<y>(?:19|20)[0-9]{2})(?P<first>[-/.])(?P<m>[0-9]{1,2})(?P<second>[-/.])(?P<d>[0-9]{1,2})" + _END,
        _year_first,
    ),
    Rule(
        _START + r"(?P<a>[0-9]{1,2})(?P<first>[-/.])(?P<b>[0-9]{1,2})(?P<second>[-/.])(?P<y>(?:19|20)[0-9]{2})" + _END,
        _year_last,
    ),
    Rule(_START + r"(?P<a>[0-9]{1,2})(?P<first>/)(?P<b>[0-9]{1,2})(?P<second>/)(?P<y>[0-9]{2})" + _END, _year_last),
)
