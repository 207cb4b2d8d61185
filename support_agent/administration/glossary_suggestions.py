"""Phrases for a glossary, read out of the questions that found nothing; without a model.

A phrase is what such questions say and no document in force has, in either language. What it may stand for is looked
for in the passages that come nearest to those questions: by their other words, and by vectors where there are some.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from policies.embedding import LOCAL, Embedder
from policies.glosses import english, english_of_text
from policies.passage_words import chinese_in_force, texts_in_force
from policies.reembedding import vector_model
from policies.search import PassageHit, search
from policies.text import HAN, chinese_words, fold, normalise, question_tokens, segments
from policies.version import instant_period
from support_agent.bootstrap import Application, Rehearsal
from support_agent.domain.question import Principal, Question
from support_agent.pipeline import planning
from support_agent.pipeline.subject import subject_tokens
from support_agent.request import first_instant, read_instant
from support_agent.storage import runs
from support_agent.storage.runs import Unanswered

#: Questions of a phrase that are shown, and whose nearest passages are read.
N_EXAMPLES: Final = 3
N_PASSAGES: Final = 5
N_CANDIDATES: Final = 3
#: Words in a row that make one phrase.
MAX_WORDS: Final = 3
#: What a heading counts for beside a word of the passage: it names what the passage is about.
HEADING: Final = 2.0
#: Terms that are compared with a phrase by vectors.
N_COMPARED: Final = 60
#: Weight from which a word is one of the subject, and not of asking or of measure.
SUBJECT: Final = 1.0
_PIECE: Final = re.compile(rf"(?P<han>[{HAN}]+)|(?P<word>[^\W\d_{HAN}]+(?:'[^\W\d_{HAN}]+)*)|(?P<other>\S)")
_PAIR: Final = 2
#: Words of talking, of which a search takes no notice and a list of suggestions would be full.
_TALK: Final = frozenset(
    "hi hello hey please pls thanks thank ok okay guys 怎么办 咋办 怎么样 谢谢 感谢 你好 您好 麻烦".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question as it is shown, and the tokens by which a document has it."""

    text: str
    #: All of them, or it is not there.
    tokens: tuple[str, ...]
    #: Or any of these: what it means in the other language.
    meanings: frozenset[str] = frozenset()

    def stands_in(self, held: AbstractSet[str]) -> bool:
        return all(token in held for token in self.tokens) or not held.isdisjoint(self.meanings)


@dataclass(slots=True)
class _Phrase:
    """A phrase with the questions that say it, newest first."""

    text: str
    questions: list[tuple[Unanswered, str]] = field(default_factory=list)


async def suggested(
    application: Application,
    tenant: str,
    *,
    since: str | None,
    n_questions: int,
    limit: int,
    at: str | None,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Phrases that questions say and no document has, those of most questions first, with terms they may stand for.

    Args:
        application: The application.
        tenant: Its slug.
        since: Only questions recorded from then on.
        n_questions: The newest so many are read.
        limit: Phrases at most.
        at: When documents must be in force; None: now.
        progress: Told how far it has come.

    Raises:
        NotFoundError: There is no such tenant.
        InvalidRequestError: A date is none.
    """
    async with application.rehearse(tenant) as stage:
        zone = stage.tenant.zone
        on = read_instant("--at", at, zone=zone) or datetime.now(UTC)
        asked = await runs.unanswered(
            stage.session, since=first_instant("--since", since, zone=zone), limit=n_questions
        )
        subjects = [(one, _subject(one, stage)) for one in asked]
        progress(f"{len(asked)} questions found nothing; looking for words that no document has")
        held = await _held(stage, [words for _, subject in subjects for words in words_in(subject)], on=on)
        ranked = sorted(_phrases(subjects, held).values(), key=lambda phrase: (-len(phrase.questions), phrase.text))
        embedder = application.vectors.of(await vector_model(stage.session)) if application.vectors else None
        suggestions = []
        for number, phrase in enumerate(ranked[:limit], start=1):
            progress(f"{number} of {min(limit, len(ranked))} phrases")
            suggestions.append(await _suggestion(phrase, stage, embedder, on=on))
    return {"tenant": tenant, "n_questions": len(asked), "n_phrases": len(ranked), "suggestions": suggestions}


def words_in(subject: str) -> Iterator[list[Word]]:
    """The words of a question that stand in a row, without those that every question has."""
    row: list[Word] = []
    for piece in _PIECE.finditer(fold(normalise(subject))):
        if piece.lastgroup == "han":
            yield from _ended(row)
            yield from _chinese_rows(piece[0])
        elif piece.lastgroup == "word" and _is_subject(piece[0]):
            row.append(Word(piece[0], tuple(question_tokens(piece[0]))))
        else:
            yield from _ended(row)
    yield from _ended(row)


def unknown_phrases(rows: Iterable[Sequence[Word]], held: AbstractSet[str]) -> list[str]:
    """What of a question no document has: neighbouring words as one phrase; each once.

    Args:
        rows: Its words, by `words_in`.
        held: Tokens that documents have.
    """
    found: dict[str, None] = {}
    for row in rows:
        unknown: list[Word] = []
        for word in [*row, None]:
            if word is not None and not word.stands_in(held) and len(unknown) < MAX_WORDS:
                unknown.append(word)
                continue
            if unknown:
                found[_joined(unknown)] = None
            unknown = [word] if word is not None and not word.stands_in(held) else []
        if unknown:
            found[_joined(unknown)] = None
    return list(found)


def _joined(words: Sequence[Word]) -> str:
    return (" " if words[0].text.isascii() else "").join(word.text for word in words)


def _ended(row: list[Word]) -> Iterator[list[Word]]:
    if row:
        yield list(row)
        row.clear()


def _chinese_rows(run: str) -> Iterator[list[Word]]:
    row: list[Word] = []
    known = segments(run)
    for piece in _with_characters_joined(known):
        if not chinese_words(piece) or not _is_subject(piece):
            yield from _ended(row)
        elif len(piece) > 1:
            # What single characters mean says nothing of a new word made of them.
            meanings = english(piece) if piece in known else frozenset[str]()
            row.append(Word(piece, tuple(map("".join, pairwise(piece))), meanings))
    yield from _ended(row)


def _with_characters_joined(pieces: Iterable[str]) -> Iterator[str]:
    """Characters in a row that the segmenter knows no word for, as one word: what is new is cut to pieces."""
    loose = ""
    for piece in pieces:
        if len(piece) == 1 and chinese_words(piece):
            loose += piece
            continue
        if loose:
            yield loose
        loose = ""
        yield piece
    if loose:
        yield loose


def _is_subject(word: str) -> bool:
    return word not in _TALK and max(subject_tokens(word).values(), default=0.0) >= SUBJECT


def _subject(one: Unanswered, stage: Rehearsal) -> str:
    """What the question is about, in the documents' terms as far as the glossary has them already."""
    question = Question(
        text=one.text,
        tenant=stage.tenant.slug,
        principal=Principal(kind="customer"),
        asked_at=one.asked_at,
        locale=one.language,
    )
    slots = planning.read_slots(stage.parts.read(question), tenant=stage.tenant, playbook=None)
    return slots.glossed[0] if slots.glossed else slots.subject


async def _held(stage: Rehearsal, rows: Sequence[Sequence[Word]], *, on: datetime) -> frozenset[str]:
    """Which tokens of the words and their meanings documents have; English ones also by what Chinese texts mean."""
    wanted = {token for row in rows for word in row for token in (*word.tokens, *word.meanings)}
    held = frozenset(await texts_in_force(stage.session, wanted, on=on)) if wanted else frozenset[str]()
    if all(token in held for token in wanted if token.isascii()):
        return held
    chinese = await chinese_in_force(stage.session, on=on)
    return held | {meaning for word in chinese for meaning in english(word)} & wanted


def _phrases(subjects: Iterable[tuple[Unanswered, str]], held: AbstractSet[str]) -> Mapping[str, _Phrase]:
    """Phrases by their stems, each as it is said first."""
    phrases: dict[str, _Phrase] = {}
    for one, subject in subjects:
        for text in unknown_phrases(words_in(subject), held):
            key = " ".join(question_tokens(text))
            phrases.setdefault(key, _Phrase(text)).questions.append((one, subject))
    return phrases


async def _suggestion(phrase: _Phrase, stage: Rehearsal, embedder: Embedder | None, *, on: datetime) -> dict[str, Any]:
    examples = list({subject: (one, subject) for one, subject in reversed(phrase.questions)}.values())[-N_EXAMPLES:]
    terms: dict[str, float] = defaultdict(float)
    for _, subject in examples:
        for term, weight in terms_of(await _nearest(subject, stage, embedder, on=on), asked=subject).items():
            terms[term] += weight
    return {
        "says": phrase.text,
        "n_questions": len(phrase.questions),
        "candidates": await _best(phrase.text, terms, embedder),
        "examples": [{"run_id": str(one.run_id), "text": one.text} for one, _ in reversed(examples)],
    }


async def _nearest(subject: str, stage: Rehearsal, embedder: Embedder | None, *, on: datetime) -> Sequence[PassageHit]:
    vector = None if embedder is None else await embedder.embed_query(subject)
    return await search(
        stage.session,
        tokens=[*question_tokens(subject), *english_of_text(subject)],
        vector=vector,
        model=LOCAL if embedder is None else embedder.model,
        as_of=instant_period(on),
        audiences=("public", "staff"),
        known={},
        groups=stage.tenant.region_groups,
        limit=N_PASSAGES,
    )


def terms_of(hits: Sequence[PassageHit], *, asked: str) -> Mapping[str, float]:
    """Headings and words of passages, the nearest first, with how much speaks for each; not what was `asked` itself."""
    terms: dict[str, float] = defaultdict(float)
    said = frozenset(question_tokens(asked))
    for place, hit in enumerate(hits, start=1):
        heading = " ".join(hit.clause.heading.split())
        named = {heading: HEADING} | {
            word.text: 1.0 for row in words_in(f"{heading}\n{hit.text}") for word in row if len(word.text) >= _PAIR
        }
        for term, weight in named.items():
            if not said.issuperset(question_tokens(term)):
                terms[term] += weight / place
    return terms


async def _best(phrase: str, terms: Mapping[str, float], embedder: Embedder | None) -> list[dict[str, Any]]:
    """The terms that come nearest: by vectors where there are some, else those for which most passages speak."""
    ranked = sorted(terms.items(), key=lambda item: (-item[1], item[0]))
    by = "co-occurrence"
    if embedder is not None and ranked:
        listed = [term for term, _ in ranked[:N_COMPARED]]
        asked = await embedder.embed_query(phrase)
        vectors = await embedder.embed_documents(listed)
        near = [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in vectors]
        ranked = sorted(zip(listed, near, strict=True), key=lambda item: (-item[1], item[0]))
        by = "vectors"
    return [{"term": term, "score": round(score, 3), "by": by} for term, score in ranked[:N_CANDIDATES]]
