"""The English words of time, and the pattern fragments that the rules of `english_times` are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from support_agent.domain.reading import DurationUnit
from support_agent.language.dates import Part, Unit
from support_agent.language.grammar import Bound, Length
from support_agent.language.lengths import Hedge
from support_agent.language.numerals import ENGLISH_NUMBER, ENGLISH_ORDINAL, SPELLED_NUMBERS, SPELLED_ORDINALS

#: What a preposition, or words behind, make of the period they stand at.
BOUNDS: Final[dict[str, Bound]] = {
    "since": "since", "ever since": "since", "starting": "since", "starting from": "since", "beginning": "since",
    "onwards": "since", "onward": "since", "or later": "since",
    "after": "after",
    "before": "before", "prior to": "before",
    "until": "until", "till": "until", "up to": "until", "through": "until", "by": "until", "no later than": "until",
    "on or before": "until", "or earlier": "until", "or before": "until",
}  # fmt: skip
#: Between a length and a time they say which way it is counted.
COUNTED: Final = frozenset({"before", "prior to", "after"})
#: "as of 1 March" asks for what held on that day.
AS_OF: Final = frozenset({"as of", "as at", "as on"})
OPERATORS: Final = (
    r"(?:ever since|since|starting from|starting|beginning|after|before|prior to|no later than|on or before|until|till"
    r"|up to|through|by|between|from|as of|as at|as on|back in|in|on|at|during|around|of|for|within|inside|over)"
    r"\s+(?:the\s+)?"
)
SUFFIXES: Final = r"\s+(?:onwards?|or later|or earlier|or before)(?![a-z])"

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep"
            "|october oct|november nov|december dec"
        ).split("|"),
        start=1,
    )
    for name in names.split()
}
#: Month names that are verbs too: they need more around them to be a month.
VERBS: Final = frozenset({"may", "march", "mar"})
WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday mon|tuesday tues tue|wednesday weds wed|thursday thurs thur thu|friday fri|saturday sat|sunday sun"
        ).split("|")
    )
    for name in names.split()
}
UNITS: Final[dict[str, Unit]] = {
    "day": "day", "night": "day", "week": "week", "fortnight": "week", "month": "month", "quarter": "quarter",
    "year": "year", "yr": "year",
}  # fmt: skip
DURATION_UNITS: Final[dict[str, DurationUnit]] = {
    "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour", **UNITS,
}  # fmt: skip
#: How many of the unit above one stands for, where it is not one.
UNITS_IN: Final = {"fortnight": 2}
HEDGES: Final[dict[str, Hedge]] = {
    "about": "about", "around": "about", "roughly": "about", "approximately": "about", "nearly": "about",
    "almost": "about", "over": "more", "more than": "more", "at least": "more", "less than": "less", "under": "less",
}  # fmt: skip
_THROUGHOUT = frozenset({"within", "in", "for", "during", "over", "inside", "the"})
UNITS_AWAY: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
DAYS_AWAY: Final = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "last evening": -1, "today": 0, "tonight": 0,
    "this morning": 0, "this afternoon": 0, "this evening": 0, "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip
PARTS: Final[dict[str, Part]] = {
    "early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid",
    "late": "late", "end": "late",
}  # fmt: skip
#: Lowest and highest number that imprecise words can mean.
VAGUE: Final = {"couple": (1, 3), "few": (2, 6), "several": (3, 9), "some": (2, 9)}
QUARTERS: Final = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
SEASONS: Final = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}

UNIT_WORDS: Final = "minute|min|hour|hr|day|night|week|fortnight|month|quarter|year|yr"
ANY_WEEKDAY: Final = f"(?:{'|'.join(WEEKDAYS)})"
ANY_MONTH: Final = f"(?:{'|'.join(MONTHS)})"
MONTH: Final = rf"(?P<month>{'|'.join(MONTHS)})(?![a-z])\.?"
WEEKDAY: Final = rf"(?P<weekday>{'|'.join(WEEKDAYS)})(?![a-z])\.?"
FULL_WEEKDAY: Final = "(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
WHICH: Final = r"(?P<which>last|previous|past|this|current|next|coming)"
YEAR: Final = (
    r"(?:(?:of|in)\s+)?(?:(?P<year>(?:19|20)[0-9]{2})(?![0-9%])|'(?P<short_year>[0-9]{2})(?![0-9])"
    r"|(?P<which_year>last|this|next)\s+year)"
)
_AND_YEAR = rf"(?:[,\s-]+{YEAR})?"
DAY: Final = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
LAST_DAY: Final = r"(?P<last_day>[0-3]?[0-9])(?:st|nd|rd|th)?"
TO: Final = r"\s*(?:-|–|—|~|to|and|until|through)\s*"
MONTHS_RANGE: Final = rf"{MONTH}{TO}(?P<last_month>{'|'.join(MONTHS)})(?![a-z])"
PART: Final = r"(?P<part>early|mid|late|(?:the\s+)?(?:beginning|start|middle|end)\s+of)(?:\s+|-)(?:the\s+)?"
#: "may 14 days be…", "march 3 items": the number counts what follows.
NOT_COUNTED: Final = rf"(?![0-9:%]|\.[0-9]|[\s-]+(?:(?:business|working|calendar)\s+)?(?:{UNIT_WORDS})s?(?![a-z]))"

DAY_MONTH: Final = (
    rf"(?:{ANY_WEEKDAY}\.?,?\s+(?:the\s+)?)?"
    rf"(?:{DAY}\s*(?:of\s+)?|(?P<ordinal>{ENGLISH_ORDINAL})\s+of\s+)-?{MONTH}{_AND_YEAR}"
)
MONTH_DAY: Final = (
    rf"(?:{ANY_WEEKDAY}\.?,?\s+)?{MONTH}\s+(?:the\s+)?(?:{DAY}|(?P<ordinal>{ENGLISH_ORDINAL})){NOT_COUNTED}{_AND_YEAR}"
)
DAYS_MONTH: Final = rf"{DAY}{TO}{LAST_DAY}\s+(?:of\s+)?{MONTH}{_AND_YEAR}"
MONTH_DAYS: Final = rf"{MONTH}\s+{DAY}{TO}{LAST_DAY}{NOT_COUNTED}{_AND_YEAR}"

#: What a date begins with.
A_DATE: Final = (
    rf"(?:the\s+)?(?:[0-9]|last\s|{ANY_WEEKDAY}(?![a-z])|{ANY_MONTH}(?![a-z])|christmas|black\s|cyber\s|new\s+year)"
)

_HALF_AFTER = r"(?P<half_after>\s+and\s+a\s+half)?"
_UNIT = rf"(?:(?P<working>business|working)\s+|calendar\s+)?(?P<unit>{UNIT_WORDS})s?"
HEDGE: Final = (
    r"(?:(?P<hedge>about|around|roughly|approximately|nearly|almost|over|more than|at least|less than|under)\s+)?"
)
LENGTH: Final = (
    r"(?:(?P<vague>(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|some)|(?P<half>half\s+an?)"
    rf"|(?P<low>{ENGLISH_NUMBER})(?:\s*(?:-|–|or|to)\s*(?P<high>{ENGLISH_NUMBER}))?(?P<half_before>\s+and\s+a\s+half)?)"
    rf"[\s-]+{_UNIT}{_HALF_AFTER}"
)
#: A length that no article begins: "a year" alone is a price or a habit as often as a duration.
COUNTED_LENGTH: Final = rf"(?!an?\s(?!couple|few)){LENGTH}"

_OTHER_STARTS = """
about after almost any approximately around as at back before beginning between black boxing by christmas coming
couple current currently cyber day double during each earlier early end even ever every few for from h1 h2 half
halloween in inside just last late later less mid middle month more nearly new next no now nowadays of on one other
over past per presently previous prior q1 q2 q3 q4 right roughly several since singles some start starting than
thanksgiving the this through till today tomorrow tonight under until up valentine's week within year yesterday
"""
#: Every word that a rule or a preposition in front of one can begin with: a scan looks no closer at the others.
STARTS: Final = "[0-9]|(?:{})(?![a-z])".format(
    "|".join(sorted({*_OTHER_STARTS.split(), *MONTHS, *WEEKDAYS, *SEASONS, *SPELLED_NUMBERS, *SPELLED_ORDINALS}))
)


def hedged(length: Length, operator: str, words: str) -> tuple[Length | None, bool]:
    """What "about a week", "within a week", "the week" before a date count; None for "more than", which has no end.

    Returns:
        The length, and whether all of it is meant and not its end.
    """
    first = operator or next((hedge for hedge in HEDGES if words.startswith(hedge)), words.split(maxsplit=1)[0])
    if first in _THROUGHOUT and words != "the day":
        return length, True
    match HEDGES.get(first):
        case "about":
            return replace(length, least=max(length.least - 1, 0), amount=length.amount + 1), False
        case "more":
            return None, False
        case "less":
            return length, True
        case _:
            return length, False
