"""What fills a playbook's slots besides times: order numbers, and phrases that a tenant or a playbook lists.

An order number is read from the text as sent: full-width forms, dashes and case are folded. A letter that only looks
like a Latin one (Cyrillic О in LО-10421) is recognised as an attempt at a number, so that the customer is answered
about it, but stays as it is: the number then equals none, and never another customer's or another order's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from policies.text import HAN, fold, stem
from support_agent.domain.reading import OrderNumber, Reading, Span

#: For a tenant that has not said how its order numbers look.
DEFAULT_ORDER_NUMBER = r"[A-Z]{2}-[0-9]{3,10}"

#: Words that "…" in a phrase may stand for.
MAX_GAP = 4

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-")
# Cyrillic and Greek letters that look like Latin capitals.
_LOOKALIKES = str.maketrans("АВЕЅІЈКМНОРСТУХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABESIJKMHOPCTYXQWABEZHIKMNOPTYX")
# A number that is all letters, such as PGAGLM, is one when it is written in capitals among other words.
_CALLED_A_NUMBER = re.compile(
    r"(?:order|reservation|booking|confirmation|number|no\.?|code|#|订单号?|预订号?|编号|单号)[\s:#：]*$", re.IGNORECASE
)
_HAS_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def order_numbers(text: str, pattern: re.Pattern[str]) -> tuple[OrderNumber, ...]:
    """The order numbers in a text, in order.

    Args:
        pattern: How the tenant's numbers look, in capitals.
    """
    written = _same_length(text)
    capitals = written.upper() if len(written.upper()) == len(written) else written
    shape = capitals.translate(_LOOKALIKES)
    shouted = written == capitals and re.search(r"(?<![A-Z])[A-Z]{2,}\s[A-Z]{2}", written) is not None
    found = []
    for match in _bounded(pattern).finditer(shape):
        start, end = match.span()
        as_written = written[start:end]
        certain = any(character.isdigit() for character in as_written) or _CALLED_A_NUMBER.search(text, 0, start)
        if (certain and _has_capital_or_digit(as_written)) or (as_written == capitals[start:end] and not shouted):
            found.append(OrderNumber(span=(start, end), text=text[start:end], number=capitals[start:end]))
    return tuple(found)


def _has_capital_or_digit(text: str) -> bool:
    return any(character.isdigit() or character.isupper() for character in text)


def _bounded(pattern: re.Pattern[str]) -> re.Pattern[str]:
    # Not `\b`: in 订单SO-1182能退吗 the neighbours are word characters too. `re` caches what it has compiled.
    return re.compile(rf"(?<![A-Z0-9])(?<![A-Z0-9][-_])(?:{pattern.pattern})(?![A-Z0-9]|[-_][A-Z0-9])")


def _same_length(text: str) -> str:
    """Width and dashes folded, character by character, so that spans hold."""
    if text.isascii():
        return text
    folded = (unicodedata.normalize("NFKC", character) for character in text.translate(_DASHES))
    return "".join(one if len(one) == 1 else character for one, character in zip(folded, text, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseMatch:
    """A phrase found: the name it is listed under, and the phrase."""

    name: str
    phrase: str
    #: How much of the question it is: words, or Chinese characters.
    weight: int


class Phrases:
    """Phrases by name, compiled once: English ones match as sequences of stems, others as substrings of folded text."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._by_first_stem: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
        #: Phrases written with "…", for what a sentence takes apart: "send … back".
        self._parted: list[tuple[tuple[tuple[str, ...], ...], int, str, str]] = []
        self._substrings: list[tuple[str, str, str]] = []
        for name, listed in phrases.items():
            for phrase in listed:
                self._add(name, phrase)

    def find(self, reading: Reading) -> list[PhraseMatch]:
        """Every listed phrase that the question contains, each once, the heaviest first."""
        tokens = reading.tokens
        matches = {
            (name, phrase): len(stems)
            for position, token in enumerate(tokens)
            for stems, name, phrase in self._by_first_stem.get(token, ())
            if tokens[position : position + len(stems)] == stems
        }
        matches |= {
            (name, phrase): weight for parts, weight, name, phrase in self._parted if _stand_near(parts, tokens)
        }
        compact = "".join(reading.folded.split())
        matches |= {(name, phrase): len(needle) for needle, name, phrase in self._substrings if needle in compact}
        ordered = sorted(matches.items(), key=lambda item: -item[1])
        return [PhraseMatch(name=name, phrase=phrase, weight=weight) for (name, phrase), weight in ordered]

    def names(self, reading: Reading) -> frozenset[str]:
        """The names of which the question contains a phrase."""
        return frozenset(match.name for match in self.find(reading))

    def _add(self, name: str, phrase: str) -> None:
        folded = fold(phrase)
        if _HAS_HAN.search(folded):
            self._substrings.append(("".join(folded.split()), name, phrase))
        elif "…" in phrase:
            parts = tuple(stems_of(fold(part)) for part in phrase.split("…"))
            self._parted.append((parts, sum(map(len, parts)), name, phrase))
        elif stems := stems_of(folded):
            self._by_first_stem.setdefault(stems[0], []).append((stems, name, phrase))


def stems_of(folded: str) -> tuple[str, ...]:
    """Stems of the words in Latin letters, and numbers, in order."""
    return tuple(stem(word) for word in _WORD.findall(folded))


def _stand_near(parts: Sequence[tuple[str, ...]], tokens: tuple[str, ...]) -> bool:
    """Whether the parts follow each other, each at most `MAX_GAP` words after the one before."""
    starts: Iterable[int] = range(len(tokens))
    for part in parts:
        ends = [start + len(part) for start in starts if tokens[start : start + len(part)] == part]
        starts = sorted({position for end in ends for position in range(end, end + MAX_GAP + 1)})
        if not ends:
            return False
    return True


def overlaps(span: Span, other: Span) -> bool:
    return span[0] < other[1] and other[0] < span[1]
