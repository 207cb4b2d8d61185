"""Figures of two passages against each other: durations, amounts, shares and counts, whatever the language.

Dates are left out: two of them may both be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from policies.candidates import CandidateTerm, candidate_terms, compare, words_around
from policies.glosses import english
from policies.text import is_chinese, question_tokens


def differing(one: str, other: str, *, beyond: bool = False) -> tuple[str, str] | None:
    """The figures of the kind in which two texts differ, as they are written: they have none of that kind in common.

    Args:
        beyond: A figure that only `one` gives is a difference too, whatever else they have in common.
    """
    kind = _kind_of_difference(one, other, beyond=beyond)
    if kind is None:
        return None
    first, second = (", ".join(term.text for term in _figures(text) if term.kind == kind) for text in (one, other))
    return first, second


def n_common(one: str, other: str) -> int:
    """How many figures of `one` stand in `other` too."""
    return sum(_is_among(term, other) for term in _figures(one))


def alike(one: str, other: str) -> float:
    """The share of their words that two sentences have in common which give different figures; the largest, 0 to 1."""
    foreign = is_chinese(one) != is_chinese(other)
    shares = [
        len(a & b) / len(a | b)
        for first, second in product(_figures(one), _figures(other))
        if compare(first, second) == "different"
        for a, b in [(_words(one, first, foreign=foreign), _words(other, second, foreign=foreign))]
        if a or b
    ]
    return max(shares, default=0.0)


def _figures(text: str) -> Iterator[CandidateTerm]:
    return (term for term in candidate_terms(text) if term.kind != "date")


def _kind_of_difference(one: str, other: str, *, beyond: bool) -> str | None:
    for kind in ("duration", "amount", "percentage", "count"):
        pairs = product(*((term for term in _figures(text) if term.kind == kind) for text in (one, other)))
        found = [(first, compare(first, second)) for first, second in pairs]
        same = [first for first, comparison in found if comparison == "same"]
        different = [first for first, comparison in found if comparison == "different"]
        if different and (not same or (beyond and any(first not in same for first in different))):
            return kind
    return None


def _is_among(term: CandidateTerm, text: str) -> bool:
    return any(compare(term, other) == "same" for other in _figures(text))


def _words(text: str, figure: CandidateTerm, *, foreign: bool) -> frozenset[str]:
    """The words of the sentence around a figure; in both languages where the other text is `foreign`."""
    # Without the words that every sentence has.
    words = frozenset(words_around(text, figure)) & frozenset(question_tokens(text))
    if not foreign:
        return words
    return words | {token for word in words if len(word) > 1 and not word.isascii() for token in english(word)}
