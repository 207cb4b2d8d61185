"""Phrases that a tenant or a playbook lists, found in a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from policies.text import HAN, fold, stem
from support_agent.domain.reading import Reading, Span

#: Words that "…" in a phrase may stand for.
MAX_GAP = 4

_HAS_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


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
