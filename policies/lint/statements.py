"""What a passage states: its values, each with the words that say what it is a value of.

Dates are left out: two sources that name different dates seldom speak of one event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from policies.candidates import CandidateTerm, candidate_terms, compare, words_around
from policies.glosses import english
from policies.text import chinese_words, is_chinese, question_tokens, tokens

#: How many words two sentences on the same thing have in common, and which share of the shorter and the longer one's.
MIN_SHARED: Final = 2
SHARED: Final = 0.6
SHARED_OF_LONGER: Final = 0.25
#: The latter between two languages, where a word has many meanings and some of them meet by chance.
SHARED_OF_FOREIGN: Final = 0.5
#: Words that stand beside any value.
_BESIDE_VALUES: Final = frozenset(
    [
        *tokens("within after from until least most more less than up"),
        *"天内 日内 月内 之内 以内 以上 以下 之日 之日起 日起 应当 可以".split(),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    candidate: CandidateTerm
    #: Of its sentence, without those that every sentence has, values and units.
    words: frozenset[str]
    in_chinese: bool


@lru_cache(maxsize=16_384)
def statements(text: str) -> tuple[Statement, ...]:
    """The values of a passage in reading order."""
    candidates = [candidate for candidate in candidate_terms(text) if candidate.kind != "date"]
    if not candidates:
        return ()
    values = {token for candidate in candidates for token in tokens(candidate.text)} | _BESIDE_VALUES
    # Of Chinese only whole words: characters and pairs across words are common to any two sentences.
    telling = {token for token in question_tokens(text) if token.isascii()}
    telling |= {word for word in chinese_words(text) if len(word) > 1}
    in_chinese = is_chinese(text)
    return tuple(
        Statement(
            candidate=candidate,
            words=frozenset(words_around(text, candidate)) & telling - values,
            in_chinese=in_chinese,
        )
        for candidate in candidates
    )


def contradict(one: Statement, other: Statement) -> bool:
    """Whether two passages give one thing different values; they may be in different languages."""
    return compare(one.candidate, other.candidate) == "different" and _are_about_the_same(one, other)


def agree(one: Statement, other: Statement) -> bool:
    return compare(one.candidate, other.candidate) == "same" and _are_about_the_same(one, other)


def _are_about_the_same(one: Statement, other: Statement) -> bool:
    n, sizes = _n_shared(one, other), (len(one.words), len(other.words))
    of_longer = SHARED_OF_LONGER if one.in_chinese == other.in_chinese else SHARED_OF_FOREIGN
    return n >= MIN_SHARED and n >= SHARED * min(sizes) and n >= of_longer * max(sizes)


def _n_shared(one: Statement, other: Statement) -> int:
    if one.in_chinese == other.in_chinese:
        return len(one.words & other.words)
    chinese, foreign = (one.words, other.words) if one.in_chinese else (other.words, one.words)
    meant = [({word} | english(word)) & foreign for word in chinese]
    # A word has several meanings and a meaning several words: each counts once.
    return min(sum(map(bool, meant)), len(frozenset().union(*meant)))
