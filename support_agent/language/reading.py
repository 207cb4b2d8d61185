"""A question's text, read: language, order numbers, times, durations, words. No lookup, no model, no clock."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from zoneinfo import ZoneInfo

from policies.text import normalise, simplified
from support_agent.domain.question import Language
from support_agent.domain.reading import Reading
from support_agent.language.dates import DateOrder
from support_agent.language.locale import language_of
from support_agent.language.order_numbers import DEFAULT_ORDER_NUMBER, order_numbers
from support_agent.language.slots import stems_of
from support_agent.language.time_expressions import find_times

_DEFAULT_PATTERN = re.compile(DEFAULT_ORDER_NUMBER)


def read(
    text: str,
    *,
    asked_at: datetime,
    zone: ZoneInfo,
    date_order: DateOrder | None,
    locale: str | None = None,
    default_language: Language = "en",
    order_pattern: re.Pattern[str] = _DEFAULT_PATTERN,
) -> Reading:
    """What the question says.

    Args:
        text: As sent; the reading's spans are in its normalised form, `Reading.text`.
        asked_at: Aware instant the times are relative to.
        zone: The tenant's zone, in which its days begin.
        date_order: Order of 03/04/2025; None leaves such dates undecided.
        locale: BCP 47; None: found in the text.
        default_language: For text without a word of either language.
        order_pattern: How the tenant's order numbers look, in capitals.
    """
    shown = normalise(text)
    folded = _fold_in_place(shown)
    numbers = order_numbers(shown, order_pattern)
    times, durations = find_times(
        shown, folded, asked_at=asked_at, zone=zone, date_order=date_order, taken=[number.span for number in numbers]
    )
    return Reading(
        text=shown,
        language=language_of(shown, locale=locale, default=default_language),
        folded=folded,
        tokens=stems_of(folded),
        time_expressions=times,
        durations=durations,
        order_numbers=numbers,
    )


def _fold_in_place(text: str) -> str:
    """Folded for comparing, character by character, so that a span means the same in both."""
    if text.isascii():
        return text.lower()
    narrow = "".join(map(_fold_character, text)).replace("’", "'")
    converted = simplified(narrow)
    return converted if len(converted) == len(narrow) else narrow


def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character).casefold()
    return folded if len(folded) == 1 else character
