"""The notation of `english.tsv` and `chinese.tsv`: a text, a tab, and what it says, all asked on one day.

`-` nothing · `2025`, `2025-03`, `2025-03-05` that whole year, month, day · `A..B` both included · `..B`, `A..` without
a beginning or an end · `now` the instant of the question · `14 day` a duration · `@role` (`@-`: none) what happened
then.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from policies.version import Period, instant_period, start_of_day
from support_agent.domain.reading import EARLIEST, Duration, Reading, TimeExpression

ZONE = ZoneInfo("Europe/Berlin")
#: A Wednesday, at noon.
ASKED_AT = datetime(2026, 5, 13, 12, tzinfo=ZONE).astimezone(UTC)


def rows(language: str) -> list[tuple[str, str]]:
    """Text and expectation of every row."""
    lines = (Path(__file__).parent / f"{language}.tsv").read_text(encoding="utf-8").splitlines()
    return [(text, expected) for text, _, expected in (line.partition("\t") for line in lines) if expected]


def expected_values(notation: str) -> list[object]:
    """Periods and durations, in the order of the notation; roles left out."""
    return [] if notation == "-" else [_value(part.partition("@")[0]) for part in notation.split(", ")]


def expected_roles(notation: str) -> list[str | None]:
    """The role of every time for which the notation names one."""
    roles = [part.partition("@")[2] for part in notation.split(", ") if "@" in part]
    return [None if role == "-" else role for role in roles]


def found_values(reading: Reading) -> list[object]:
    """What the reading holds, in the order of its text."""
    found: list[TimeExpression | Duration] = [*reading.time_expressions, *reading.durations]
    found.sort(key=lambda one: one.span)
    return [one.period if isinstance(one, TimeExpression) else f"{one.amount} {one.unit}" for one in found]


def days(notation: str, zone: ZoneInfo = ZONE) -> Period:
    """The period of `A`, `A..B`, `..B` or `A..`."""
    first, dots, last = notation.partition("..")
    end = _end(last if dots else first)
    return Period(
        start=start_of_day(_start(first), zone) if first else EARLIEST,
        end=start_of_day(end, zone) if end else None,
    )


def _value(part: str) -> object:
    if part == "now":
        return instant_period(ASKED_AT)
    return part if " " in part else days(part)


def _start(text: str) -> date:
    return date.fromisoformat((text + "-01-01")[:10] if len(text) == 4 else (text + "-01")[:10])


def _end(text: str) -> date | None:
    match len(text):
        case 0:
            return None
        case 4:
            return date(int(text) + 1, 1, 1)
        case 7:
            year, month = int(text[:4]), int(text[5:])
            return date(year + month // 12, month % 12 + 1, 1)
        case _:
            return date.fromisoformat(text) + timedelta(days=1)
