"""Which passages of those found speak to the question, and whether the first clearly leads; judged without a model.

A passage speaks to a question by the words they share, in the passage itself or, worth less, in its heading or its
title, and by the similarity of their vectors. Between languages words are shared by what a dictionary says they mean.
Among those that speak, the rank also rests on BM25, in which a word counts the more the rarer it is in the scope.
Everything is relative to what was found within the scope, so that what the scope hides changes nothing.

What would be quoted of a passage counts, too: how much of the question stands in it, and whether it gives a value of
the kind asked for. A second passage of the version is quoted beside the first where that does not stand far above it.

The thresholds are set by `tests/evals/calibrate_relevance.py`. On the half of its questions that did not set them,
the right passage leads for 15 of 20 questions on the sample policies and 37 of 50 on real ones, another for 3 and 13,
and any for 2 of 112 questions about nothing we have; without vectors 13 of 20, 36 of 50, 3 and 14, 1 of 112. That half
is not unseen: the form of the judgement and the lists of words were chosen with both halves in sight. What answers are
worth is measured by `tests/evals/grade_real_policies.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from connectors.base import Evidence
from policies.candidates import candidate_terms, compare
from policies.glosses import english_of_text
from policies.text import is_chinese
from support_agent.pipeline.asked_value import gives, values_given
from support_agent.pipeline.extract import Sought, quoted, sought
from support_agent.pipeline.subject import said_in, subject_meanings, subject_tokens

PASSAGES = "passages"
#: What a passage must reach to speak to the question; without vectors shared words alone must do.
ENOUGH = 0.875
ENOUGH_IN_WORDS = 0.4
#: What a passage in the other language speaks less for it: a dictionary also finds what is not meant.
ACROSS = 0.075
#: What similarity, a cosine, counts for beside the share of the question's words: for a passage to speak, and in rank.
SIMILARITY = 1.5
RANKED_SIMILARITY = 0.75
#: What a word counts for that stands in the heading or the title only.
HEADING = 0.7
#: What a passage speaks more for a value of the kind asked for in what would be quoted of it.
GIVES_VALUE = 0.1
#: What the same share of the part that would be quoted, and a value of the kind asked for in it, count for.
QUOTED = 0.5
VALUE = 0.5
#: How far a passage in the other language stands back behind one in the question's own.
FOREIGN = 0.3
#: What a heading counts for that the question names word for word.
NAMED = 0.3
#: What an amount or a percentage counts for that the question names and what would be quoted has.
NAMED_FIGURE = 0.35
#: Lead in standing over a rival of another topic.
CLEARLY = 0.1
#: Lead in standing from which the first passage is quoted alone: where it gives the value asked for, where the question
#: asks for none or for two, and where it asks for one that the first does not give.
ALONE = 0.15
ALONE_WITHOUT_VALUE = 0.8
ALONE_THOUGH_SILENT = 0.6
#: What every question leaves unsaid: without it, a question of one word would be covered by any passage that has it.
UNSAID = 2.0
#: Weight from which a question's further words ask for nothing more: who tells a story need not find it all again.
STORY = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """The passages that speak to the question, best first, and whether the first clearly leads."""

    #: What is sought, in the words by which the first of them speaks best to the question.
    sought: Sought
    hits: tuple[Evidence, ...] = ()
    #: How well each of them stands; compares hits of one question only.
    standings: tuple[float, ...] = ()
    clear: bool = False
    #: A passage to be quoted beside the first: what counts where the first is of a rendition that has been overtaken,
    #: else one of the same version where the first does not say it all.
    beside: Evidence | None = None
    #: Value terms stated in the passage that leads, else in its clause.
    terms: tuple[str, ...] = ()

    @property
    def lead(self) -> Evidence | None:
        return self.hits[0] if self.hits else None


def leading(evidence: Iterable[Evidence], text: str, glossed: Sequence[str] = ()) -> Leading:
    """Rank the passages in `evidence` for the question `text`.

    Args:
        glossed: The same question in terms of the documents: a passage speaks to it by whichever it meets best.
    """
    found = list(evidence)
    hits = _without_lead_ins([hit for hit in found if hit.need == PASSAGES])
    subject, *others = (_Subject(said, asked_in_chinese=is_chinese(text)) for said in (text, *glossed))
    subjects = (subject, *others)
    enough = ENOUGH if any(hit.similarity is not None for hit in hits) else ENOUGH_IN_WORDS
    most = max((hit.words or 0.0 for hit in hits), default=0.0) or 1.0
    speaking = [
        (round(max(standings) + (hit.words or 0.0) / most, 6), hit)
        for hit in hits
        if (standings := [one.standing_of(hit) for one in subjects if one.speaks_to(hit, enough)])
    ]
    if not speaking:
        return Leading(sought=subject.sought)
    speaking.sort(
        key=lambda pair: (-pair[0], -(pair[1].score or 0.0), str(pair[1].locator), pair[1].locator.lines or ())
    )
    best, lead = speaking[0]
    wanted = max(subjects, key=lambda one: one.standing_of(lead)).sought if others else subject.sought
    rivals = [
        standing
        for standing, hit in speaking
        # What stands in another language is asked about only where nothing in the question's own language leads.
        if not _on_one_topic(hit, lead)
        and (subject.is_foreign_to(lead) or not subject.is_foreign_to(hit))
        and not _agree(hit, lead, wanted)
    ]
    return Leading(
        hits=tuple(hit for _, hit in speaking),
        standings=tuple(standing for standing, _ in speaking),
        clear=not rivals or best - max(rivals) >= CLEARLY,
        beside=_beside(speaking, wanted),
        sought=wanted,
        terms=terms_of(lead, found),
    )


class _Subject:
    """What one question is about, in its own language and, when a passage is in the other, by what its words mean."""

    def __init__(self, text: str, *, asked_in_chinese: bool) -> None:
        self._text = text
        self._tokens = subject_tokens(text)
        # A term of the other language makes no question of that language.
        self._is_chinese = asked_in_chinese
        self.sought = sought(text)
        # Durations are more often told of the case than of the policy.
        self._figures = [term for term in candidate_terms(text) if term.kind in {"amount", "percentage"}]

    def is_foreign_to(self, hit: Evidence) -> bool:
        return is_chinese(hit.quote) != self._is_chinese

    def met_by(self, hit: Evidence) -> float:
        """How strongly the passage speaks to the question."""
        words = self._meanings if self.is_foreign_to(hit) else None
        covered = coverage(self._tokens, hit) if words is None else coverage_across(words, hit)
        return covered + SIMILARITY * (hit.similarity or 0.0) - (0.0 if words is None else ACROSS)

    def speaks_to(self, hit: Evidence, enough: float) -> bool:
        """Whether the passage speaks to the question; one that gives a value of the kind asked for may do so by words
        alone, whatever its vector says.
        """
        value = gives(quoted(hit, self.sought), self.sought.value) if self.sought.value.kinds else 0.0
        more = GIVES_VALUE * value
        return self.met_by(hit) + more >= enough or (
            value == 1 and not self.is_foreign_to(hit) and coverage(self._tokens, hit) + more >= ENOUGH_IN_WORDS
        )

    def standing_of(self, hit: Evidence) -> float:
        """How the passage stands among those that speak: by how well what would be quoted of it answers, too."""
        quote = quoted(hit, self.sought)
        answered = QUOTED * self.sought.covered_by(quote) + VALUE * gives(quote, self.sought.value)
        less = (SIMILARITY - RANKED_SIMILARITY) * (hit.similarity or 0.0)
        foreign = FOREIGN if self.is_foreign_to(hit) else 0.0
        named = (NAMED if self._is_named(hit) else 0.0) + (NAMED_FIGURE if self._has_figure(quote) else 0.0)
        return self.met_by(hit) - less + answered + named - foreign

    def _is_named(self, hit: Evidence) -> bool:
        """Whether the question has all words of the passage's heading."""
        heading = subject_tokens(hit.clause.heading) if hit.clause is not None else {}
        return bool(heading) and heading.keys() <= self._tokens.keys()

    def _has_figure(self, quote: str) -> bool:
        """Whether the quote has one of the figures that the question names."""
        said = candidate_terms(quote) if self._figures else ()
        return any(
            compare(figure, other) == "same" and figure.bound in {None, other.bound}
            for figure in self._figures
            for other in said
        )

    @cached_property
    def _meanings(self) -> Mapping[str, tuple[float, frozenset[str]]]:
        return subject_meanings(self._text)


def _without_lead_ins(hits: Sequence[Evidence]) -> list[Evidence]:
    """The passages without those that only lead in a list of which an item was found, and is quoted with it."""
    headers = {(hit.locator.document, hit.locator.version, hit.header) for hit in hits if hit.header}
    return [
        hit
        for hit in hits
        if not any(
            hit.quote.rstrip(" *_") == header.rstrip(" *_")
            for document, version, header in headers
            if (document, version) == (hit.locator.document, hit.locator.version)
        )
    ]


def _agree(one: Evidence, other: Evidence, wanted: Sought) -> bool:
    """Whether two passages give the same values of the kind asked for: then it does not matter which is quoted."""
    values = values_given(quoted(one, wanted), wanted.value)
    return bool(values) and values == values_given(quoted(other, wanted), wanted.value)


def _beside(speaking: Sequence[tuple[float, Evidence]], wanted: Sought) -> Evidence | None:
    """A further passage of the version that leads, unless the first stands so far above it that it is enough.

    Where the first does not give the value asked for, one that does; else the next. A rendition that is older than its
    original has the original's clause beside it, which counts.
    """
    best, lead = speaking[0]
    if (original := next((hit for _, hit in speaking if _overtakes(hit, lead)), None)) is not None:
        return original
    others = [
        (standing, hit)
        for standing, hit in speaking[1:]
        if (hit.locator.document, hit.locator.version) == (lead.locator.document, lead.locator.version)
    ]
    if not wanted.value or wanted.value.twice:
        near = [hit for standing, hit in others if best - standing < ALONE_WITHOUT_VALUE]
    elif gives(quoted(lead, wanted), wanted.value) == 1:
        near = [hit for standing, hit in others if best - standing < ALONE]
    else:
        near = [hit for standing, hit in others if best - standing < ALONE_THOUGH_SILENT]
        near.sort(key=lambda hit: -gives(quoted(hit, wanted), wanted.value))
    return near[0] if near else None


def _overtakes(hit: Evidence, rendition: Evidence) -> bool:
    """Whether a passage is of the same clause of the original, in a later version than the one rendered."""
    if hit.clause is None or rendition.clause is None:
        return False
    later, rendered = hit.clause.version, rendition.clause.version
    is_original = rendered.rendition_of == later.policy and later.valid.start > rendered.valid.start
    return is_original and hit.locator.clause == rendition.locator.clause


def coverage(asked: Mapping[str, float], hit: Evidence) -> float:
    """How much of the question stands in the passage or, worth less, in its heading or its title; 0 up to about 1."""
    return coverage_across({token: (weight, frozenset({token})) for token, weight in asked.items()}, hit, across=False)


def coverage_across(
    asked: Mapping[str, tuple[float, AbstractSet[str]]], hit: Evidence, *, across: bool = True
) -> float:
    """The same with the tokens that may stand for each word; `across`: its words count with their meanings."""
    if hit.clause is None:
        return 0.0
    texts = (f"{hit.header or ''}\n{hit.quote}", f"{hit.clause.version.title}\n{hit.clause.heading}")
    said, titled = ({*said_in(text), *(english_of_text(text) if across else ())} for text in texts)
    covered = 0.0
    for weight, tokens_of_word in asked.values():
        if not said.isdisjoint(tokens_of_word):
            covered += weight
        elif not titled.isdisjoint(tokens_of_word):
            covered += HEADING * weight
    return covered / (min(sum(weight for weight, _ in asked.values()), STORY) + UNSAID)


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


def _on_one_topic(one: Evidence, other: Evidence) -> bool:
    """Whether two passages are of one topic; a rendition is of its original's."""
    if one.clause is None or other.clause is None:
        return one.locator.document == other.locator.document
    a, b = one.clause.version, other.clause.version
    return a.topic == b.topic or a.rendition_of == b.policy or b.rendition_of == a.policy
