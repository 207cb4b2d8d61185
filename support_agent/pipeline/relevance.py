"""Which passage of those found is about the question, judged without a model.

A passage leads when it shares enough of the question's words, in itself, its heading or its title, and clearly more
than the next. Words that the question needs only to be a question (how, what, policy, 规定) do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from connectors.base import Evidence
from policies.text import question_tokens, tokens

PASSAGES = "passages"
#: Share of the question's weight that a passage must cover to speak to it, and the lead over a rival of another topic.
#: Calibrated on one half of the golden questions: below, questions about nothing we have were answered.
ENOUGH = 0.45
CLEARLY = 0.15
#: Words of asking, not of the subject, as tokens of either language.
_ASKING = (
    "policy policies rule rules term terms say says tell know question want need help explain mean exactly "
    "政策 规定 条款 规则 说明 请 知道 问 关于 情况"
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
    asked = subject_tokens(text)
    covered = [(coverage(asked, hit), hit) for hit in found if hit.need == PASSAGES]
    speaking = sorted(
        ((share, hit) for share, hit in covered if share >= ENOUGH),
        key=lambda pair: (
            -round(pair[0], 6),
            # Of two that say as much, the one whose heading says it is about it.
            -share_of(asked, pair[1].clause.heading if pair[1].clause else ""),
            -(pair[1].score or 0.0),
            str(pair[1].locator),
            pair[1].locator.lines or (),
        ),
    )
    if not speaking:
        return Leading()
    best, lead = speaking[0]
    rivals = [share for share, hit in speaking[1:] if _topic(hit) != _topic(lead)]
    return Leading(
        hits=tuple(hit for _, hit in speaking),
        clear=not rivals or best - max(rivals) >= CLEARLY or best >= 1.0 > max(rivals),
        terms=terms_of(lead, found),
    )


def subject_tokens(text: str) -> dict[str, float]:
    """What the question is about: its tokens with their weights; a word counts more than one of its characters."""
    return {token: _weight(token) for token in question_tokens(text) if token not in _asking()}


@cache
def _asking() -> frozenset[str]:
    # Made by the first search: the Chinese half loads the segmenter, which other questions do without.
    return frozenset(question_tokens(_ASKING))


def coverage(asked: Mapping[str, float], hit: Evidence) -> float:
    """The share of the question's weight that stands in the passage, its heading or its title; 0 to 1."""
    if hit.clause is None:
        return 0.0
    return share_of(asked, f"{hit.clause.version.title}\n{hit.clause.heading}\n{hit.quote}")


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
        return 2.0
    return {1: 0.5, 2: 1.5}.get(len(token), 2.0)
