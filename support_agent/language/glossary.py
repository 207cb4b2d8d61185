"""The tenant's glossary, compiled once: which of its phrases stand in a question, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from policies.text import HAN, fold, normalise, stem
from support_agent.domain.glossary import GlossaryEntry
from support_agent.domain.reading import Gloss, Reading, Span
from support_agent.language.slots import overlaps, stems_of

_HAN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")

#: A phrase as it is compared: stems of English words, or Chinese text without spaces.
Key = tuple[str, ...] | str


def phrase_key(phrase: str) -> Key:
    """What makes two phrases the same one: stems in order, or for what holds Chinese its folded text; may be empty."""
    folded = fold(normalise(phrase))
    return "".join(folded.split()) if _HAN.search(folded) else stems_of(folded)


class Glossary:
    """Entries by their phrase; of phrases that overlap in a question the longest is read."""

    def __init__(self, entries: Iterable[GlossaryEntry]) -> None:
        self._by_stems: dict[tuple[str, ...], list[GlossaryEntry]] = {}
        self._by_text: dict[str, list[GlossaryEntry]] = {}
        for entry in entries:
            key = phrase_key(entry.says)
            if isinstance(key, str):
                self._by_text.setdefault(key, []).append(entry)
            elif key:
                self._by_stems.setdefault(key, []).append(entry)
        self._sizes = sorted({len(stems) for stems in self._by_stems}, reverse=True)

    def find(self, reading: Reading) -> tuple[Gloss, ...]:
        """The phrases in the question, in reading order; never inside a time or an order number."""
        if not self._by_stems and not self._by_text:
            return ()
        taken = [expression.span for expression in reading.time_expressions]
        taken += [order.span for order in reading.order_numbers]
        found: list[Gloss] = []
        standing = [*self._english(reading.folded), *self._chinese(reading.folded)]
        for span, entries in sorted(standing, key=lambda at: (at[0][0] - at[0][1], at[0])):
            read = tuple(entry for entry in entries if entry.language in {"both", reading.language})
            if read and not any(overlaps(span, other) for other in taken):
                taken.append(span)
                found.append(Gloss(span=span, entries=read))
        return tuple(sorted(found, key=lambda gloss: gloss.span))

    def _english(self, folded: str) -> Iterator[tuple[Span, Sequence[GlossaryEntry]]]:
        if not self._by_stems:
            return
        words = [(stem(word[0]), word.span()) for word in _WORD.finditer(folded)]
        stems = tuple(one for one, _ in words)
        for start in range(len(words)):
            for size in self._sizes:
                phrase = words[start : start + size]
                if entries := self._by_stems.get(stems[start : start + size]):
                    yield (phrase[0][1][0], phrase[-1][1][1]), entries

    def _chinese(self, folded: str) -> Iterator[tuple[Span, Sequence[GlossaryEntry]]]:
        if not self._by_text:
            return
        compact = "".join(folded.split())
        for text, entries in self._by_text.items():
            if text in compact:
                # A customer may put a space anywhere in a phrase.
                for match in re.finditer(r"\s*".join(map(re.escape, text)), folded):
                    yield match.span(), entries
