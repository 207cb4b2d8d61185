"""Candidate terms: durations, amounts, percentages, counts and dates that a passage states, in English or Chinese.

What an admin may accept as a typed term, and what passages without terms are compared by. A number that a text says
twice ("thirty (30) days") is one candidate over the whole span; so is a range ("3 to 5 business days").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final, Literal, TypeAlias

from policies.quantities import quantities
from policies.quantity import Day, Quantity
from policies.text import tokens

Kind: TypeAlias = Literal["duration", "amount", "percentage", "count", "date"]
Bound: TypeAlias = Literal["at_most", "at_least"]
Comparison: TypeAlias = Literal["same", "different", "incomparable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTerm:
    """One value in a passage, with its place there."""

    kind: Kind
    #: In `unit`; an amount in major units, a percentage in percent. 0 for a date.
    value: Decimal = Decimal(0)
    #: The far end of a range; None for a single value.
    upper: Decimal | None = None
    #: Of a duration: `minute`, `hour`, `day`, `business day` or `month`. Of a count: what is counted, None if unknown.
    unit: str | None = None
    #: Of an amount: the ISO 4217 codes that its sign can stand for.
    currencies: frozenset[str] = frozenset()
    #: Of a date: year, month, day; what the text leaves out is None.
    day: Day | None = None
    #: Whether the text makes it a limit.
    bound: Bound | None = None
    #: As it is written, and its first and last place plus one in the passage.
    text: str
    start: int
    end: int


@lru_cache(maxsize=4_096)
def candidate_terms(text: str) -> tuple[CandidateTerm, ...]:
    """The candidate terms of a passage in reading order, without overlaps."""
    plain, places = _said_once(text)
    found: list[CandidateTerm] = []
    for quantity in quantities(plain):
        read = _candidate(quantity, plain)
        if read is None:
            continue
        if found and _is_range(found[-1], read, plain[found[-1].end : read.start]):
            first = found.pop()
            read = replace(read, value=first.value, upper=read.value, start=first.start, bound=first.bound)
        found.append(read)
    return tuple(_placed(candidate, text, places) for candidate in found)


def compare(one: CandidateTerm, other: CandidateTerm) -> Comparison:
    """Whether two candidates say the same, across units: 14 days are two weeks; a month is no fixed number of days."""
    if one.kind != other.kind:
        return "incomparable"
    match one.kind:
        case "duration":
            return _compare_durations(one, other)
        case "amount":
            return _compared(one, other) if one.currencies & other.currencies else "incomparable"
        case "percentage":
            return _compared(one, other)
        case "count":
            return _compared(one, other) if one.unit is not None and one.unit == other.unit else "incomparable"
        case "date":
            return _compare_days(one.day, other.day)


# `thirty (30) days` and 三十（30）日: the digits count, from where the words begin.
_SAID_TWICE: Final = re.compile(
    r"(?<![A-Za-z])(?P<words>[A-Za-z][A-Za-z -]{1,30}?|[〇零一二两三四五六七八九十百千]{1,6})\s?"
    r"[(（](?P<digits>\d[\d,.]*)[)）]"
)
_RANGE: Final = re.compile(r"\s?(?:to|-|–|—|~|～|至|到)\s?", re.IGNORECASE)
_AT_MOST: Final = re.compile(
    r"(?:within|up to|at most|no more than|not exceed(?:ing)?|maximum of|(?:less|fewer) than|under|below"
    r"|不超过|不得超过|最多|至多|最长|不足|不到|不满|未满|少于|低于)\s?$",
    re.IGNORECASE,
)
_AT_LEAST: Final = re.compile(
    r"(?:at least|no (?:less|fewer) than|not less than|minimum of|不少于|不得少于|至少|最少|不低于)\s?$", re.IGNORECASE
)
_AT_MOST_AFTER: Final = re.compile(r"\s?(?:or less|or fewer|以内|之内|内|以下)", re.IGNORECASE)
_AT_LEAST_AFTER: Final = re.compile(r"\s?(?:or more|以上)", re.IGNORECASE)
_NOUN: Final = re.compile(r"[ -]([A-Za-z][a-z]{2,})")
#: Words after a number that say nothing of what is counted.
_NO_NOUN: Final = frozenset("and are for from has have per than that the these those times was were will with".split())
#: 第 0 天, "day 0" and "section 4" are places in a row.
_PLACE: Final = re.compile(
    r"(?:第|\b(?:day|step|version|clause|section|article|chapter|level|page|line|no\.|#))\s?$", re.IGNORECASE
)
_SENTENCE_END: Final = re.compile(r"[。！？；\n]|[.;!?](?=\s|$)")
_YEARS: Final = range(1900, 2101)
_HOURS_OF_DAY: Final = 24
_DAYS_OF_MONTH: Final = (28, 31)


def _said_once(text: str) -> tuple[str, Sequence[int]]:
    """`text` with numbers that are said twice said once, and each character's place in `text`."""
    plain: list[str] = []
    places: list[int] = []
    done = 0
    for match in _SAID_TWICE.finditer(text):
        # A Chinese numeral is one only before what it counts.
        words = quantities(match["words"] + ("" if match["words"].isascii() else "个"))
        digits = quantities(match["digits"])
        if not words or not digits or words[-1].value != digits[0].value:
            continue
        starts = match.start() + words[-1].start
        plain += [text[done:starts], match["digits"]]
        places += [*range(done, starts), starts, *range(match.start("digits") + 1, match.end("digits"))]
        done = match.end()
    plain.append(text[done:])
    places += range(done, len(text))
    return "".join(plain), places


def _placed(candidate: CandidateTerm, text: str, places: Sequence[int]) -> CandidateTerm:
    start, end = places[candidate.start], places[candidate.end - 1] + 1
    return replace(candidate, text=text[start:end], start=start, end=end)


def _candidate(quantity: Quantity, text: str) -> CandidateTerm | None:
    start, end = quantity.start, quantity.start + len(quantity.text)
    if _PLACE.search(text[max(start - 12, 0) : start]):
        return None
    stated = partial(CandidateTerm, bound=_bound(text, start, end), text=quantity.text, start=start, end=end)
    match quantity.kind:
        case "percent":
            return stated(kind="percentage", value=quantity.value)
        case "amount":
            currencies = frozenset(str(key[2]) for key in quantity.says if key[0] == "amount")
            return stated(kind="amount", value=quantity.value, currencies=currencies)
        case "date":
            day = next(iter(sorted((key[1:] for key in quantity.needs if key[0] == "date"), key=str)), None)
            return None if day is None else stated(kind="date", day=_day(day))
        case "number":
            unit = next((str(key[2]) for key in sorted(quantity.says, key=str) if key[0] == "number" and key[2]), None)
            if unit is not None:
                return stated(kind="duration", value=quantity.value, unit=unit)
            return None if _is_name(quantity) else stated(kind="count", value=quantity.value, unit=_noun(text, end))
        case _:
            return None


def _day(parts: tuple[object, ...]) -> Day:
    year, month, of_month = (part if isinstance(part, int) else None for part in parts)
    return year, month, of_month


def _is_name(quantity: Quantity) -> bool:
    """Whether a number names something, a place in a row or a year, and counts nothing."""
    is_year = quantity.value in _YEARS and len(quantity.text) == 4  # noqa: PLR2004 - a year stands alone
    return is_year or re.search(r"^第|(?:st|nd|rd|th)$", quantity.text) is not None


def _noun(text: str, end: int) -> str | None:
    """The word for what is counted by a number that ends at `end`."""
    noun = _NOUN.match(text, end)
    return None if noun is None or noun[1].lower() in _NO_NOUN else next(iter(tokens(noun[1])), None)


def _bound(text: str, start: int, end: int) -> Bound | None:
    before = text[max(start - 24, 0) : start]
    if _AT_LEAST.search(before) or _AT_LEAST_AFTER.match(text, end):
        return "at_least"
    if _AT_MOST.search(before) or _AT_MOST_AFTER.match(text, end):
        return "at_most"
    return None


def _is_range(first: CandidateTerm, second: CandidateTerm, between: str) -> bool:
    same_kind = first.kind == second.kind and first.unit == second.unit
    without_unit = first.kind == "count" and first.unit is None and second.kind in {"duration", "percentage", "amount"}
    rising = first.value < second.value and first.upper is None and second.kind != "date"
    return rising and (same_kind or without_unit) and _RANGE.fullmatch(between) is not None


def _ends(candidate: CandidateTerm) -> tuple[Decimal, Decimal]:
    return candidate.value, candidate.value if candidate.upper is None else candidate.upper


def _compared(one: CandidateTerm, other: CandidateTerm) -> Comparison:
    return "same" if _ends(one) == _ends(other) else "different"


def _compare_durations(one: CandidateTerm, other: CandidateTerm) -> Comparison:
    first, second = _in_hours_or_months(one), _in_hours_or_months(other)
    if first[0] == second[0]:
        return "same" if first[1] == second[1] else "different"
    if {first[0], second[0]} != {"hour", "month"}:
        return "incomparable"
    months, hours = (first[1], second[1]) if first[0] == "month" else (second[1], first[1])
    shortest, longest = ((months[0] * n * _HOURS_OF_DAY, months[1] * n * _HOURS_OF_DAY) for n in _DAYS_OF_MONTH)
    # A month has 28 to 31 days: only beyond that the two differ for certain.
    return "different" if hours[1] < shortest[0] or hours[0] > longest[1] else "incomparable"


def _in_hours_or_months(candidate: CandidateTerm) -> tuple[str, tuple[Decimal, Decimal]]:
    low, high = _ends(candidate)
    match candidate.unit:
        case "minute":
            return "hour", (low / 60, high / 60)
        case "day":
            return "hour", (low * _HOURS_OF_DAY, high * _HOURS_OF_DAY)
        case unit:
            return str(unit), (low, high)


def _compare_days(one: Day | None, other: Day | None) -> Comparison:
    pairs = list(zip(one or (), other or (), strict=False))
    if any(first is not None and second is not None and first != second for first, second in pairs):
        return "different"
    return "same" if pairs and one == other and None not in (one or ()) else "incomparable"


#: Decimals of the minor unit, where they are not two.
_MINOR_UNITS: Final = {"JPY": 0}


def proposed_name(topic: str, candidate: CandidateTerm, *, heading: str) -> str | None:
    """A term name for a candidate, made of the topic and words of its clause's heading; None if no term can hold it."""
    ending = name_ending(candidate)
    if ending is None or candidate.upper is not None:
        return None
    words = [word for word in re.findall("[a-z0-9]+", heading.lower()) if not word.isdecimal()][:3] or ["value"]
    first = re.sub(r"[^a-z0-9_]+", "_", topic.lower()).strip("_") or "policy"
    own = [word for word in words if word not in first.split("_")] or words
    return f"{first if first[0].isalpha() else 'policy_' + first}.{'_'.join(own)}{ending}"


def term_value(candidate: CandidateTerm) -> int | date | None:
    """A candidate's value as a term of the proposed name holds it; None if none can."""
    match candidate.kind:
        case "percentage":
            return _whole(candidate.value * 100)
        case "amount":
            currency = min(candidate.currencies, default="")
            return _whole(candidate.value * 10 ** _MINOR_UNITS.get(currency, 2))
        case "date":
            day = candidate.day or (None, None, None)
            return None if None in day else date(*(part or 0 for part in day))
        case _:
            return _whole(candidate.value)


def _whole(value: Decimal) -> int | None:
    return int(value) if value == value.to_integral_value() else None


def name_ending(candidate: CandidateTerm) -> str | None:
    """What the name of a term that holds the candidate ends in: its unit."""
    match candidate.kind:
        case "duration":
            return {"day": "_days", "hour": "_hours"}.get(
                candidate.unit or "", "_" + (candidate.unit or "").replace(" ", "_") + "s"
            )
        case "amount":
            return "_minor"
        case "percentage":
            return "_bp"
        case "date":
            return "_on"
        case "count":
            return f"_{candidate.unit}" if candidate.unit and candidate.unit.isascii() else "_count"


def words_around(text: str, candidate: CandidateTerm) -> Iterator[str]:
    """The words of the sentence that states a candidate, without its figures."""
    start = max((end.end() for end in _SENTENCE_END.finditer(text, 0, candidate.start)), default=0)
    end = _SENTENCE_END.search(text, candidate.end)
    sentence = text[start : end.start() if end else len(text)]
    return (word for word in tokens(sentence) if not any(character.isdigit() for character in word))
