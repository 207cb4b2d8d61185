"""English times and durations; `tests/unit/language/english.tsv` shows what each form means."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from typing import TypeAlias

from support_agent.domain.reading import DurationUnit, Precision
from support_agent.language import english_words as words
from support_agent.language.dates import (
    ONE_DAY,
    Asked,
    Days,
    Found,
    Part,
    half_of,
    last_over,
    moment,
    month_of,
    monthless,
    nearest_week_day,
    one_day,
    part_of_month,
    part_of_year,
    quarter_of,
    relative,
    rolling,
    season_of,
    shift,
    unit_around,
    week_day,
    weekend,
    whole,
    year_of,
    yearless,
)
from support_agent.language.grammar import Grammar, Length, Rule, nothing
from support_agent.language.lengths import Amount, ago, from_now, length, window
from support_agent.language.numerals import ENGLISH_NUMBER, english_number, english_ordinal
from support_agent.language.numeric_dates import NUMERIC_DATES

_Match: TypeAlias = re.Match[str]

_CENTURY = 2000

# After a bare "5 May" or "on the 3rd": anything but a word that the number or the verb could belong to.
_SENTENCE_GOES_ON = re.compile(
    r"\s*(?:$|[^\sa-z0-9]|(?:and|but|or|i|we|can|could|is|it|so|which|that|to|for|at|when|with|from|by|if|what|how|until"
    r"|through|onwards?|my|our|the|was|did|does|do|has|have|he|she|they)(?![a-z]))"
)
_MODAL_GOES_ON = r"(?!\s+(?:i|we|you|he|she|they|it|be|have|not|also|my|our)(?![a-z]))"
_COUNTED_NOUN = (
    r"(?!\s+(?:units?|items?|people|customers?|orders?|users?|dollars?|euros?|pounds?|points?|pieces?)(?![a-z]))"
)
_POLICY_NOUN = (
    r"(?='?s?\s+(?:(?:refund|return|returns|cancellation|shipping|warranty|privacy)\s+)?"
    r"(?:policy|policies|terms|rules|version|edition|conditions)(?![a-z]))"
)
_BOUGHT_NOUN = r"(?=\s+(?:orders?|purchases?|invoices?|bookings?|bills?|policy|version|terms)(?![a-z]))"


def _year(match: _Match, asked: Asked) -> int | None:
    """The year that stands with the expression; None without one."""
    named = match.groupdict()
    if year := named.get("year"):
        return int(year)
    if year := named.get("short_year"):
        return _CENTURY + int(year)
    which = named.get("which_year")
    return asked.today.year + words.UNITS_AWAY[which] if which else None


def _in_year(match: _Match, asked: Asked, days_in: Callable[[int], Days], precision: Precision = "range") -> Found:
    """The days in the year that is named, or in the nearest that fits."""
    year = _year(match, asked)
    return yearless(asked, days_in, precision) if year is None else whole(asked, days_in(year), precision)


def _date(match: _Match, asked: Asked) -> Found | None:
    name, day = match["month"], english_ordinal(match["day"] or match["ordinal"])
    if name in words.VERBS and _year(match, asked) is None:
        # "2 may be returned", "you may first ask": a verb.
        spelled = match["ordinal"] and " the " not in match[0] and " of " not in match[0]
        if spelled or not _SENTENCE_GOES_ON.match(match.string, match.end()):
            return None
    return _in_year(match, asked, lambda year: one_day(date(year, words.MONTHS[name], day)), "day")


def _week_of(match: _Match, asked: Asked) -> Found | None:
    day = _date(match, asked)
    if day is None or day.period is None:
        return None
    return whole(asked, unit_around(day.period.start.astimezone(asked.zone).date(), "week"), "week")


def _days(match: _Match, asked: Asked) -> Found:
    month, first, last = words.MONTHS[match["month"]], int(match["day"]), int(match["last_day"])
    return _in_year(match, asked, lambda year: (date(year, month, first), date(year, month, last) + ONE_DAY))


def _month_with_year(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: month_of(year, words.MONTHS[match["month"]]), "month")


def _month(match: _Match, asked: Asked) -> Found | None:
    if asked.operator in ("on", "at", "for"):
        return None
    return yearless(asked, lambda year: month_of(year, words.MONTHS[match["month"]]), "month")


def _months(match: _Match, asked: Asked) -> Found:
    """From one month to another, which may lie in the next year: the year is that of the last."""
    first, last = words.MONTHS[match["month"]], words.MONTHS[match["last_month"]]
    return _in_year(match, asked, lambda year: (month_of(year - (first > last), first)[0], month_of(year, last)[1]))


def _which_month(match: _Match, asked: Asked) -> Found:
    """The last that is over, the first to come, or the one of this year."""
    month, (this_month, next_month) = words.MONTHS[match["month"]], unit_around(asked.today, "month")
    away = words.UNITS_AWAY[match["which"]]
    if away == 0:
        return whole(asked, month_of(asked.today.year, month), "month")
    reference = next_month if away > 0 else this_month - ONE_DAY
    nearest = replace(asked, reference=reference, future=away > 0)
    return yearless(nearest, lambda year: month_of(year, month), "month")


def _part_of_month(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: part_of_month(year, words.MONTHS[match["month"]], _part(match)))


def _part_of_year(match: _Match, asked: Asked) -> Found:
    return _in_year(match, asked, lambda year: part_of_year(year, _part(match)))


def _part_of_unit(match: _Match, asked: Asked) -> Found:
    """Parts like "the end of the month", "the beginning of this year"; without "this" the last that has begun."""
    which, part = match["which"], _part(match)
    if match["unit"] == "year":
        if not which:
            return yearless(asked, lambda year: part_of_year(year, part), "range")
        return whole(asked, part_of_year(asked.today.year + words.UNITS_AWAY[which], part), "range")
    first = shift(asked.today.replace(day=1), words.UNITS_AWAY[which or "this"], "month")
    days = part_of_month(first.year, first.month, part)
    if not which and not asked.future and days[0] > asked.today:
        first = shift(first, -1, "month")
        days = part_of_month(first.year, first.month, part)
    return whole(asked, days, "range")


def _part(match: _Match) -> Part:
    return words.PARTS[match["part"].removeprefix("the").split()[0]]


def _earlier(match: _Match, asked: Asked) -> Found:
    first, _ = unit_around(asked.today, words.UNITS[match["unit"]])
    return whole(asked, (first, asked.today + ONE_DAY), "range")


def _later(match: _Match, asked: Asked) -> Found:
    _, end = unit_around(asked.today, words.UNITS[match["unit"]])
    return whole(asked, (asked.today, end), "range")


def _day_of_month(match: _Match, asked: Asked) -> Found | None:
    """A day like "on the 5th": not the fifth of something."""
    if asked.operator in ("in", "at", "for", "during", "around", "of", "within", "over"):
        return None
    ends = _SENTENCE_GOES_ON.match(match.string, match.end())
    return monthless(asked, int(match["day"])) if ends else None


def _day_of_which_month(match: _Match, asked: Asked) -> Found:
    first = shift(asked.today.replace(day=1), words.UNITS_AWAY[match["which"]], "month")
    return whole(asked, one_day(first.replace(day=int(match["day"]))), "day")


def _quarter(match: _Match, asked: Asked) -> Found:
    quarter = words.QUARTERS.get(match["quarter"]) or int(match["quarter"])
    return _in_year(match, asked, lambda year: quarter_of(year, quarter), "quarter")


def _half_year(match: _Match, asked: Asked) -> Found:
    half = 1 if match["half_of"] in ("first", "1st", "h1") else 2
    return _in_year(match, asked, lambda year: half_of(year, half))


def _calendar_year(match: _Match, asked: Asked) -> Found | None:
    if asked.operator in ("on", "at", "for", "around", "within", "over"):
        return None
    return whole(asked, year_of(int(match["year"])), "year")


def _policy_year(match: _Match, asked: Asked) -> Found:
    return whole(asked, year_of(int(match["year"])), "year")


def _years(match: _Match, asked: Asked) -> Found:
    return whole(asked, (date(int(match["year"]), 1, 1), date(int(match["last_year"]) + 1, 1, 1)), "range")


def _season(match: _Match, asked: Asked) -> Found | None:
    season = words.SEASONS[match["season"]]
    if match["season"] in ("fall", "spring") and _year(match, asked) is None and asked.operator not in ("in", "during"):
        return None
    return _in_year(match, asked, lambda year: season_of(year, season), "season")


def _which_season(match: _Match, asked: Asked) -> Found:
    season = words.SEASONS[match["season"]]
    return _which(match, asked, lambda year: season_of(year, season), "season")


def _which(match: _Match, asked: Asked, days_in: Callable[[int], Days], precision: Precision) -> Found:
    """The last that is over, the first to begin, or the one that is on or begins this year."""
    away = words.UNITS_AWAY[match["which"]]
    if away < 0:
        return last_over(asked, days_in, precision)
    if away > 0:
        return yearless(replace(asked, reference=days_in(asked.today.year)[1], future=True), days_in, precision)
    current = yearless(replace(asked, future=False), days_in, precision)
    is_on = current.period is not None and current.period.contains(asked.at)
    return current if is_on else whole(asked, days_in(asked.today.year), precision)


def _fourth_thursday_of_november(year: int) -> date:
    first = date(year, 11, 1)
    return first + timedelta(days=(3 - first.weekday()) % 7 + 21)


_HOLIDAYS: dict[str, Callable[[int], date]] = {
    "black friday": lambda year: _fourth_thursday_of_november(year) + ONE_DAY,
    "cyber monday": lambda year: _fourth_thursday_of_november(year) + 4 * ONE_DAY,
    "thanksgiving": _fourth_thursday_of_november,
    "christmas eve": lambda year: date(year, 12, 24),
    "christmas day": lambda year: date(year, 12, 25),
    "christmas": lambda year: date(year, 12, 25),
    "boxing day": lambda year: date(year, 12, 26),
    "new year's eve": lambda year: date(year, 12, 31),
    "new year's day": lambda year: date(year, 1, 1),
    "valentine's day": lambda year: date(year, 2, 14),
    "halloween": lambda year: date(year, 10, 31),
    "singles' day": lambda year: date(year, 11, 11),
    "singles day": lambda year: date(year, 11, 11),
    "double eleven": lambda year: date(year, 11, 11),
}
_HOLIDAY = f"(?P<holiday>{'|'.join(_HOLIDAYS)})"


def _holiday(match: _Match, asked: Asked) -> Found:
    on = _HOLIDAYS[match["holiday"]]
    return _in_year(match, asked, lambda year: one_day(on(year)), "day")


def _which_holiday(match: _Match, asked: Asked) -> Found:
    on = _HOLIDAYS[match["holiday"]]
    return _which(match, asked, lambda year: one_day(on(year)), "day")


def _which_week_day(match: _Match, asked: Asked) -> Found:
    """The last one before today, the one of this week, the one of next week; "coming" is the first after today."""
    which, weekday = match["which"].split()[-1], words.WEEKDAYS[match["weekday"]]
    if which == "coming":
        return nearest_week_day(replace(asked, future=True), weekday, today_counts=False)
    if words.UNITS_AWAY[which] < 0:
        return nearest_week_day(replace(asked, future=False), weekday, today_counts=False)
    return week_day(asked, words.UNITS_AWAY[which], weekday)


def _week_day_of_week(match: _Match, asked: Asked) -> Found:
    return week_day(asked, words.UNITS_AWAY[match["which"]], words.WEEKDAYS[match["weekday"]])


def _week_day(match: _Match, asked: Asked) -> Found | None:
    """As in: "on Wed" is a day; "in the sun" and "we" are not."""
    if len(match["weekday"]) < len("monday") and asked.operator not in (
        "on",
        "since",
        "by",
        "before",
        "after",
        "until",
    ):
        return None
    return nearest_week_day(asked, words.WEEKDAYS[match["weekday"]])


def _weekend(match: _Match, asked: Asked) -> Found:
    if which := match.groupdict().get("which"):
        return weekend(asked, words.UNITS_AWAY[which])
    begun = asked.today.weekday() >= words.WEEKDAYS["saturday"]
    return weekend(asked, 0 if begun or asked.future else -1)


def _near_day(match: _Match, asked: Asked) -> Found:
    return relative(asked, words.DAYS_AWAY[re.sub(r"\s+", " ", match["name"])], "day")


def _now(_match: _Match, asked: Asked) -> Found | None:
    """The request; "by now" and "for now" ask for no time."""
    return None if asked.operator else moment(asked.at)


def _which_unit(match: _Match, asked: Asked) -> Found:
    unit = words.UNITS[match["unit"]]
    # "The past year" and "within the last month" end today.
    in_the_last = match["which"] == "last" and asked.operator in ("in", "within", "over", "during")
    if match["which"] == "past" or (in_the_last and unit != "quarter"):
        return rolling(asked, 1, unit)
    return relative(asked, words.UNITS_AWAY[match["which"]], unit)


def _before_last(match: _Match, asked: Asked) -> Found:
    return relative(asked, -2, words.UNITS[match["unit"]])


def _amount(match: _Match) -> Amount:
    unit: DurationUnit = "working_day" if match["working"] else words.DURATION_UNITS[match["unit"]]
    half = bool(match["half"] or match["half_before"] or match["half_after"])
    if match["vague"]:
        low, high = next(numbers for word, numbers in words.VAGUE.items() if word in match["vague"])
    elif match["half"]:
        low = high = 0
    else:
        low = english_number(match["low"])
        high = max(low, english_number(match["high"])) if match["high"] else low
    times = words.UNITS_IN.get(match["unit"], 1)
    return Amount(low=low * times, high=high * times, unit=unit, half=half)


def _ago(match: _Match, asked: Asked) -> Found | None:
    # "over" and "around" are prepositions too, and then stand in front of the match.
    return ago(asked, _amount(match), words.HEDGES.get(match["hedge"] or asked.operator, "exact"))


def _day_long_ago(match: _Match, asked: Asked) -> Found | None:
    """The very day ("a year ago today"), not its year."""
    amount = _amount(match)
    if amount.unit not in ("week", "month", "year"):
        return None
    return whole(asked, one_day(shift(asked.today, -amount.low, amount.unit)), "day")


def _unit_or_two_ago(match: _Match, asked: Asked) -> Found | None:
    return ago(asked, Amount(low=1, high=2, unit=words.UNITS[match["unit"]]))


def _grammar() -> Grammar:
    return Grammar(
        (*NUMERIC_DATES, *_RULES),
        before=rf"(?<![a-z0-9_@#])(?={words.STARTS})",
        after=r"(?![a-z0-9_])",
        operators=words.OPERATORS,
        suffixes=words.SUFFIXES,
    )


#: Compiled by the first English question.
english = cache(_grammar)

_UNIT = "(?P<unit>week|month|quarter|year)"
_WEEKDAY_RANGE = rf"{words.ANY_WEEKDAY}s?{words.TO}{words.ANY_WEEKDAY}s?"

_RULES: tuple[Rule, ...] = (
    # What only looks like a time.
    Rule(_WEEKDAY_RANGE, nothing),
    Rule(rf"(?:every|each|any|per)\s+(?:other\s+)?(?:{words.ANY_WEEKDAY}|{words.ANY_MONTH}|weekend)s?", nothing),
    Rule(r"(?:just|even|every|than|right\s+by|for|by|until|till|before|from|since)\s+now", nothing),
    Rule(r"now\s+(?:that|and\s+(?:then|again))", nothing),
    Rule(r"(?:a|one)\s+(?:minute|second|moment|sec)", nothing),
    Rule(r"(?:one|some|other)\s+days?(?!\s+ago)", nothing),
    # Days near today.
    Rule(r"(?:the\s+)?(?P<name>day\s+before\s+yesterday|day\s+after\s+tomorrow)", _near_day),
    Rule(
        r"(?P<name>last\s+(?:night|evening)|this\s+(?:morning|afternoon|evening)|yesterday|today|tonight|tomorrow)",
        _near_day,
    ),
    Rule(
        r"right\s+now|now|currently|presently|at\s+present|at\s+the\s+moment|at\s+this\s+(?:time|moment)|nowadays", _now
    ),
    Rule(r"the\s+other\s+day", lambda _, asked: ago(asked, Amount(low=1, high=9, unit="day"))),
    Rule(
        r"this\s+time\s+last\s+year",
        lambda _, asked: whole(asked, unit_around(shift(asked.today, -1, "year"), "month"), "month"),
    ),
    Rule(
        r"(?:this\s+day|today)\s+last\s+year",
        lambda _, asked: whole(asked, one_day(shift(asked.today, -1, "year")), "day"),
    ),
    # Dates with their month.
    Rule(words.DAYS_MONTH, _days),
    Rule(words.MONTH_DAYS, _days),
    Rule(words.DAY_MONTH, _date),
    Rule(words.MONTH_DAY, _date),
    Rule(rf"week\s+of\s+(?:the\s+)?{words.DAY_MONTH}", _week_of),
    Rule(rf"week\s+of\s+{words.MONTH_DAY}", _week_of),
    Rule(rf"{words.FULL_WEEKDAY},?\s+the\s+{words.DAY}", lambda match, asked: monthless(asked, int(match["day"]))),
    # Counted from today.
    Rule(rf"{ENGLISH_NUMBER}\s+(?:{words.UNIT_WORDS})s?(?:,|\s+and)\s+{words.LENGTH}\s+ago", nothing),
    Rule(rf"{words.HEDGE}{words.LENGTH}\s+ago\s+today", _day_long_ago),
    Rule(rf"{words.HEDGE}{words.LENGTH}\s+(?:ago|back)", _ago),
    Rule(r"an?\s+(?P<unit>day|week|month|year)\s+or\s+(?:two|so)\s+ago", _unit_or_two_ago),
    Rule(rf"{words.LENGTH}\s+from\s+(?:now|today)", lambda match, asked: from_now(asked, _amount(match))),
    Rule(rf"(?:last|past|previous)\s+{words.COUNTED_LENGTH}", lambda match, asked: window(asked, _amount(match))),
    Rule(rf"(?:next|coming)\s+{words.COUNTED_LENGTH}", lambda match, asked: window(asked, _amount(match), ahead=True)),
    # Weeks and their days.
    Rule(rf"{words.WHICH}\s+week(?:'s)?,?\s+(?:on\s+)?{words.WEEKDAY}", _week_day_of_week),
    Rule(rf"{words.WEEKDAY},?\s+(?:of\s+)?{words.WHICH}\s+week", _week_day_of_week),
    Rule(rf"(?P<which>this\s+(?:past|coming)|last|previous|past|this|next|coming)\s+{words.WEEKDAY}", _which_week_day),
    Rule(rf"{words.WHICH}\s+weekend", _weekend),
    Rule(r"weekend", _weekend, needs_operator=True),
    # Parts and names of months and years.
    Rule(rf"{words.PART}{words.MONTH}(?:[,\s]+{words.YEAR})?", _part_of_month),
    Rule(rf"{words.PART}{words.YEAR}", _part_of_year),
    Rule(rf"{words.PART}(?:{words.WHICH}\s+)?(?P<unit>month|year)", _part_of_unit),
    Rule(r"earlier\s+this\s+(?P<unit>week|month|quarter|year)", _earlier),
    Rule(r"later\s+this\s+(?P<unit>week|month|quarter|year)", _later),
    Rule(rf"(?P<half_of>first|second|1st|2nd)\s+half\s+(?:of\s+)?(?:{words.YEAR}|the\s+year)", _half_year),
    Rule(rf"(?P<half_of>h[12])\s*(?:of\s+)?{words.YEAR}", _half_year),
    Rule(rf"q(?P<quarter>[1-4])(?:[\s/-]*{words.YEAR})?", _quarter),
    Rule(r"(?P<year>(?:19|20)[0-9]{2})[\s/-]*q(?P<quarter>[1-4])", _quarter),
    Rule(rf"(?P<quarter>first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter(?:\s+{words.YEAR})?", _quarter),
    Rule(rf"(?P<which_year>last|this|next)\s+year(?:'s)?,?\s+(?:in\s+)?{words.MONTH}", _month_with_year),
    Rule(rf"{words.MONTHS_RANGE}\s+{words.YEAR}", _months),
    Rule(rf"{words.MONTH},?\s+{words.YEAR}", _month_with_year),
    Rule(rf"{words.WHICH}\s+{words.MONTH}", _which_month),
    Rule(rf"{words.WHICH}\s+(?P<season>spring|summer|autumn|fall|winter)", _which_season),
    Rule(rf"(?P<season>spring|summer|autumn|fall|winter)\s+{words.YEAR}", _season),
    Rule(rf"{words.WHICH}\s+{_HOLIDAY}", _which_holiday),
    Rule(rf"{_HOLIDAY}(?:,?\s+{words.YEAR})?", _holiday),
    Rule(r"(?P<unit>week|month|year)\s+before\s+last", _before_last),
    Rule(rf"{words.WHICH}\s+{_UNIT}", _which_unit),
    Rule(rf"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)\s+(?:of\s+)?{words.WHICH}\s+month", _day_of_which_month),
    Rule(rf"(?P<year>(?:19|20)[0-9]{{2}}){_POLICY_NOUN}", _policy_year),
    Rule(rf"{words.MONTH}(?<!may)(?<!march){_BOUGHT_NOUN}", _month),
    # What needs a preposition to be a time at all.
    Rule(
        r"(?P<year>(?:19|20)[0-9]{2})\s*(?:-|–|and|to)\s*(?P<last_year>(?:19|20)[0-9]{2})(?![0-9%-])",
        _years,
        needs_operator=True,
    ),
    Rule(
        rf"(?:year\s+)?(?P<year>(?:19|20)[0-9]{{2}})(?![%/:-]|[.,][0-9]){_COUNTED_NOUN}",
        _calendar_year,
        needs_operator=True,
    ),
    Rule(words.MONTHS_RANGE, _months, needs_operator=True),
    Rule(rf"{words.MONTH}{_MODAL_GOES_ON}", _month, needs_operator=True),
    Rule(r"(?P<season>spring|summer|autumn|fall|winter)", _season, needs_operator=True),
    Rule(r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)", _day_of_month, needs_operator=True),
    Rule(words.WEEKDAY, _week_day, needs_operator=True),
    Rule(words.FULL_WEEKDAY, _week_day),
    # Durations, last: what is counted and none of the above.
    Rule(words.LENGTH, lambda match, _: length(_amount(match)), needs_operator=True),
    Rule(words.COUNTED_LENGTH, lambda match, _: length(_amount(match))),
    Rule(rf"{words.LENGTH}(?=\s+(?:before|after|prior\s+to)(?![a-z]))", lambda match, _: length(_amount(match))),
    Rule(
        rf"the\s+(?P<unit>day|week|month|year)(?=\s+(?:before|after)\s+{words.A_DATE})",
        lambda match, _: Length(amount=1, unit=words.DURATION_UNITS[match["unit"]], least=1),
    ),
    Rule(
        rf"(?:under|at\s+least|more\s+than|less\s+than|about|almost|nearly)\s+{words.LENGTH}",
        lambda match, _: length(_amount(match)),
    ),
)
