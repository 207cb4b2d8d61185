"""What of a long passage is quoted: the sentences that speak to the question and give the value it asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from connectors.base import Evidence
from policies.glosses import english_of_text
from policies.text import is_chinese
from support_agent.pipeline.asked_value import AskedValue, asked_value, gives, place_of_value
from support_agent.pipeline.citation import MAX_QUOTE, excerpt
from support_agent.pipeline.subject import said_in, subject_meanings, subject_tokens

#: What a figure of the kind asked for counts for beside the share of the question's words.
VALUE: Final = 0.35
#: How much less a word counts for each further sentence of the passage that has it.
RARITY: Final = 0.5
#: What makes a heading a condition.
ANY_LENGTH_OR_AMOUNT: Final = AskedValue(kinds=frozenset({"duration", "amount", "percentage"}))
#: Characters below which a sentence is no sentence of its own: `1.2`, `(a)`, `e.g.`
SHORTEST: Final = 12

_END: Final = re.compile(r"""(?<=[.!?;])["”’)\]*_]*\s+|(?<=[。！？；])|\n+""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a question is about, and which kind of value it asks for."""

    question: str
    value: AskedValue

    def covered_by(self, text: str) -> float:
        """The share of the question's words that `text` says, in either language."""
        asked = self.words_beside(text)
        return asked.share(asked.said_in(text))

    def words_beside(self, text: str) -> Asked:
        """The question's words as `text` is searched for them: by what they mean where it is in the other language."""
        return _asked(self.question, across=is_chinese(text) != is_chinese(self.question))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The words of a question, each with its weight and the tokens that may stand for it."""

    words: Mapping[str, tuple[float, AbstractSet[str]]]
    across: bool

    def said_in(self, text: str) -> set[str]:
        said = {*said_in(text), *(english_of_text(text) if self.across else ())}
        return {word for word, (_, tokens) in self.words.items() if not said.isdisjoint(tokens)}

    def share(self, said: Iterable[str], divided_by: Mapping[str, float] | None = None) -> float:
        """The share of the weight that words have; each first `divided_by` what tells against it."""
        total = sum(weight for weight, _ in self.words.values())
        by = divided_by or {}
        return sum(self.words[word][0] / by.get(word, 1.0) for word in said) / total if total else 0.0


@lru_cache(maxsize=256)
def _asked(question: str, *, across: bool) -> Asked:
    if across:
        return Asked(words=subject_meanings(question), across=True)
    words = {token: (weight, frozenset({token})) for token, weight in subject_tokens(question).items()}
    return Asked(words=words, across=False)


def sought(question: str) -> Sought:
    """What `question`, without its dates, looks for."""
    return Sought(question=question, value=asked_value(question))


def quoted(passage: Evidence, wanted: Sought, *, limit: int = MAX_QUOTE) -> str:
    """What an answer quotes of a passage: its extract, below the line without which it would say too little.

    That line names a table's columns, leads a list in, or is a heading that gives a figure ("less than 24 hours ago").
    """
    header = passage.header
    if header is None and passage.clause is not None and gives(passage.clause.heading, ANY_LENGTH_OR_AMOUNT):
        header = passage.clause.heading
    if header is None or len(header) > limit // 2:
        return extract(passage.quote, wanted, limit=limit)
    return f"{header}\n{extract(passage.quote, wanted, limit=limit - len(header) - 1)}"


@lru_cache(maxsize=1_024)
def extract(text: str, wanted: Sought, *, limit: int = MAX_QUOTE) -> str:
    """At most `limit` characters of `text`: the sentence that speaks best to the question, and what stands around it.

    A cut end is marked with an ellipsis.
    """
    if len(text) <= limit:
        return text
    sentences = _sentences(text)
    strengths = _strengths([text[start:end] for start, end in sentences], wanted)
    best = max(range(len(sentences)), key=lambda i: (strengths[i], -i))
    start, end = sentences[best]
    if end - start > limit - 2:
        place = place_of_value(text[start:end], wanted.value)
        return excerpt(text, around=start + (place or 0), limit=limit)
    first, last = _grown(best, sentences, strengths, limit - 2)
    start, end = sentences[first][0], sentences[last][1]
    return ("…" if start else "") + text[start:end].strip() + ("…" if text[end:].strip() else "")


def _strengths(sentences: Sequence[str], wanted: Sought) -> list[float]:
    """How well each sentence speaks to the question; a word that many of them have tells less."""
    asked = wanted.words_beside(" ".join(sentences))
    said = [asked.said_in(sentence) for sentence in sentences]
    common = {word: n**RARITY for word, n in Counter(word for words in said for word in words).items()}
    return [
        asked.share(words, common) + VALUE * gives(sentence, wanted.value)
        for sentence, words in zip(sentences, said, strict=True)
    ]


def _grown(best: int, sentences: Sequence[tuple[int, int]], strengths: Sequence[float], limit: int) -> tuple[int, int]:
    """The first and last sentence of the longest run that fits, taking the stronger neighbour first."""
    first = last = best
    while True:
        before = first > 0 and sentences[last][1] - sentences[first - 1][0] <= limit
        after = last + 1 < len(sentences) and sentences[last + 1][1] - sentences[first][0] <= limit
        if before and (not after or strengths[first - 1] > strengths[last + 1]):
            first -= 1
        elif after:
            last += 1
        else:
            return first, last


def _sentences(text: str) -> list[tuple[int, int]]:
    """The half-open spans of the sentences, the space after each included."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        if found and (end - start < SHORTEST or found[-1][1] - found[-1][0] < SHORTEST):
            found[-1] = (found[-1][0], end)
        elif end > start:
            found.append((start, end))
        start = end
    return found
