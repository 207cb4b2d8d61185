"""The times and durations that a text states, in the tenant's zone, relative to the instant it was asked at.

The grammars give single expressions; here prepositions bound them ("since March" to the end of today, "before 2025"
from the earliest date), neighbours join ("from March to May 2025", 3月1日到5月2日), and words nearby say what happened
then. Without a year the past is meant (the last May that has begun), unless the sentence speaks of what is to come and
not of a purchase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from policies.text import HAN
from policies.version import Period, start_of_day
from support_agent.domain.question import Language
from support_agent.domain.reading import EARLIEST, Duration, Role, Span, TimeExpression
from support_agent.language import chinese_times, english_words
from support_agent.language.chinese_times import chinese
from support_agent.language.dates import ONE_DAY, Asked, DateOrder, Found
from support_agent.language.english_times import english
from support_agent.language.grammar import Bound, Count, Hit, Length, Meaning
from support_agent.language.lengths import counted
from support_agent.language.roles import Mention, roles, speaks_of_the_future

_Stated: TypeAlias = tuple[Hit, Meaning]

_BOUNDS = english_words.BOUNDS | chinese_times.BOUNDS
_AS_OF = english_words.AS_OF | chinese_times.AS_OF
_HAS_HAN = re.compile(f"[{HAN}]")
_HAS_WORD = re.compile("[a-z]{3}")
_OPENS_A_RANGE = frozenset({"", "from", "between", "since", "从", "自", "在"})
_CLOSES_A_RANGE = frozenset({"until", "till", "through", "up to", "到", "至", "直到", "截至"})
_TO = re.compile(r"\s*(?:-|–|—|~|to|until|到|至)\s*")
_AND = re.compile(r"\s*(?:and|和|与|跟)\s*")
_TODAY = re.compile("today|今[天日]")
# Two days so far apart that only a date with its own year is the same seen from both.
_LONG_BEFORE = timedelta(days=400)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meant:
    """A hit with what it means."""

    hit: Hit
    span: Span
    found: Found
    role: Role | None


def find_times(
    text: str,
    folded: str,
    *,
    asked_at: datetime,
    zone: ZoneInfo,
    date_order: DateOrder | None,
    taken: Sequence[Span] = (),
) -> tuple[tuple[TimeExpression, ...], tuple[Duration, ...]]:
    """The time expressions and the durations of a text, each in order, none overlapping another or a `taken` span.

    Args:
        text: As written, for what the expressions show.
        folded: As long as `text`, folded for comparing.
        asked_at: Aware instant.
        zone: What local dates are meant in.
        date_order: Order of 03/04/2025; None leaves such dates undecided.
        taken: Spans that are something else, such as order numbers.
    """
    today = asked_at.astimezone(zone).date()
    asked = Asked(at=asked_at, zone=zone, today=today, date_order=date_order, reference=today)
    languages = _languages(folded)
    durations: list[Duration] = []
    stated: list[tuple[Hit, Found]] = []
    hits = [(hit, _meaning(hit, asked)) for hit in _hits(folded, languages, taken)]
    for hit, meaning in _counted(folded, hits, asked):
        if isinstance(meaning, Length):
            span = hit.span
            durations.append(Duration(span=span, text=text[slice(*span)], amount=meaning.amount, unit=meaning.unit))
        elif meaning is not None:
            stated.append((hit, meaning))
    meant = _joined(folded, _with_roles(folded, stated, asked, languages=languages), asked)
    return tuple(_expression(text, one) for one in meant), tuple(durations)


def _languages(folded: str) -> list[Language]:
    if not _HAS_HAN.search(folded):
        return ["en"]
    return ["zh", "en"] if _HAS_WORD.search(folded) else ["zh"]


def _hits(folded: str, languages: Sequence[Language], taken: Sequence[Span]) -> list[Hit]:
    grammars = [english() if language == "en" else chinese() for language in languages]
    hits = [hit for grammar in grammars for hit in grammar.hits(folded)]
    hits.sort(key=lambda hit: (hit.match.start(), -hit.match.end()))
    free: list[Hit] = []
    for hit in hits:
        start, end = hit.match.span()
        others = [*taken, free[-1].match.span()] if free else taken
        if all(end <= other[0] or other[1] <= start for other in others):
            free.append(hit)
    return free


def _meaning(hit: Hit, asked: Asked) -> Found | Length | None:
    try:
        meaning = hit.rule.meaning(hit.match, replace(asked, operator=hit.operator) if hit.operator else asked)
        if hit.counted is None:
            return meaning
        return counted(asked, meaning, hit.counted) if isinstance(meaning, Found) else None
    except (ValueError, OverflowError):
        # A date that the calendar does not have, such as 29 February 2023, is no date.
        return None


def _counted(folded: str, stated: Sequence[_Stated], asked: Asked) -> Iterator[_Stated]:
    """The same, a length and the time it is counted from made one: "two days before 1 June", 6月1日前两天."""
    rest = list(stated)
    while rest:
        one = rest.pop(0)
        if rest and (hit := _count(folded, one, rest[0])) is not None and (found := _found(hit, asked)) is not None:
            rest.pop(0)
            yield hit, found
        else:
            yield one


def _count(folded: str, one: _Stated, other: _Stated) -> Hit | None:
    (hit, meaning), (next_hit, next_meaning) = one, other
    if folded[hit.end : next_hit.start].strip():
        return None
    span = (hit.match.start(), next_hit.match.end())
    if isinstance(meaning, Length) and isinstance(next_meaning, Found) and next_hit.operator in english_words.COUNTED:
        length, throughout = english_words.hedged(meaning, hit.operator, hit.match[0])
        if length is None:
            return None
        count = Count(length=length, ahead=next_hit.operator == "after", throughout=throughout, span=span)
        return replace(next_hit, counted=count, start=hit.start, operator="" if throughout else hit.operator)
    if isinstance(meaning, Found) and isinstance(next_meaning, Length) and hit.suffix in chinese_times.COUNTED:
        if next_hit.operator or chinese_times.WITHIN.match(folded, next_hit.end):
            return None
        count = Count(length=next_meaning, ahead=hit.suffix.endswith("后"), throughout=False, span=span)
        return replace(hit, counted=count, end=next_hit.end, suffix="")
    return None


def _found(hit: Hit, asked: Asked) -> Found | None:
    meaning = _meaning(hit, asked)
    return meaning if isinstance(meaning, Found) else None


def _with_roles(
    folded: str, stated: Sequence[tuple[Hit, Found]], asked: Asked, *, languages: Sequence[Language]
) -> list[_Meant]:
    if not stated:
        return []
    found_roles = roles(folded, [_mention(hit, found, asked) for hit, found in stated], languages=languages)
    meant = []
    for (hit, found), role in zip(stated, found_roles, strict=True):
        ahead = role != "purchase" and (
            hit.operator == "by" or speaks_of_the_future(folded, hit.span, languages=languages)
        )
        decided = (_found(hit, replace(asked, future=True)) or found) if ahead else found
        meant.append(_Meant(hit=hit, span=hit.span, found=decided, role=role))
    return meant


def _mention(hit: Hit, found: Found, asked: Asked) -> Mention:
    if hit.operator in _AS_OF:
        return Mention(span=hit.span, fallback="as_of", fixed=True)
    if found.period is not None and found.period.start == asked.at and found.precision == "instant":
        return Mention(span=hit.span, fallback="request", fixed=True)
    return Mention(span=hit.span, fallback="request" if _TODAY.match(hit.match[0]) else None)


def _joined(folded: str, meant: Sequence[_Meant], asked: Asked) -> list[_Meant]:
    """The same, two ends of one range made one, and bounds applied to the rest."""
    result: list[_Meant] = []
    rest = list(meant)
    while rest:
        one = rest.pop(0)
        if rest and _is_range(folded, one.hit, rest[0].hit) and (whole := _range(one, rest[0], asked)) is not None:
            rest.pop(0)
            result.append(whole)
        else:
            result.append(_bounded(one, asked))
    return result


def _is_range(folded: str, one: Hit, other: Hit) -> bool:
    if one.operator not in _OPENS_A_RANGE or one.suffix:
        return False
    if other.operator in _CLOSES_A_RANGE:
        return not folded[one.end : other.start].strip()
    between = folded[one.end : other.match.start()]
    opened = one.operator == "between" or folded.startswith("之间", other.end)
    return _TO.fullmatch(between) is not None or (opened and _AND.fullmatch(between) is not None)


def _range(one: _Meant, other: _Meant, asked: Asked) -> _Meant | None:
    """From the start of one to the end of the other; an end without a year takes it from the end that has one."""
    first, last = one.found, other.found
    if last.period is not None and last.period.end is not None and _lacks_year(one, asked):
        final_day = (last.period.end - timedelta(microseconds=1)).astimezone(asked.zone).date()
        first = _found(one.hit, replace(asked, reference=final_day)) or first
    elif first.period is not None and _lacks_year(other, asked):
        first_day = first.period.start.astimezone(asked.zone).date()
        last = _found(other.hit, replace(asked, reference=first_day, future=True)) or last
    if first.period is None or last.period is None or last.period.end is None or last.period.end <= first.period.start:
        return None
    return _Meant(
        hit=one.hit,
        span=(one.hit.start, other.hit.end),
        found=Found(period=Period(start=first.period.start, end=last.period.end), precision="range"),
        role=one.role or other.role,
    )


def _lacks_year(meant: _Meant, asked: Asked) -> bool:
    then = asked.today - _LONG_BEFORE
    return _found(meant.hit, asked) != _found(meant.hit, replace(asked, reference=then))


def _bounded(meant: _Meant, asked: Asked) -> _Meant:
    bound = _BOUNDS.get(meant.hit.suffix) or _BOUNDS.get(meant.hit.operator)
    if bound is None:
        return meant
    found = meant.found
    limited = Found(
        period=found.period and _limited(found.period, bound, asked),
        precision="range",
        alternatives=tuple(_limited(period, bound, asked) for period in found.alternatives),
    )
    return replace(meant, span=(meant.hit.start, meant.hit.end), found=limited)


def _limited(period: Period, bound: Bound, asked: Asked) -> Period:
    """What "since", "after", "before" or "until" the period is; "since" ends with today."""
    match bound:
        case "since":
            tomorrow = start_of_day(asked.today + ONE_DAY, asked.zone)
            return Period(start=period.start, end=tomorrow if period.start < tomorrow else None)
        case "after":
            return Period(start=period.end) if period.end else period
        case "before":
            return Period(start=EARLIEST, end=period.start) if period.start > EARLIEST else period
        case "until":
            return Period(start=min(EARLIEST, period.start), end=period.end)


def _expression(text: str, meant: _Meant) -> TimeExpression:
    return TimeExpression(
        span=meant.span,
        text=text[slice(*meant.span)],
        period=meant.found.period,
        alternatives=meant.found.alternatives,
        precision=meant.found.precision,
        role=meant.role,
    )
