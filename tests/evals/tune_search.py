"""Tunes the ranking of search on one half of the shared questions and reports on the other.

    python -m tests.evals.tune_search

Counted are the share of questions whose right passage is among the ten that search gives, from which answers are
chosen, and the mean of 1/rank there; what is tuned is the mean of both, each kind of question counting the same. It
asks the dated questions about real policies, each on its date, whose answer is quoted; questions of two FAQs, whose
answers are published without their questions, in the language of the answer and in the other. One constant of
`policies.search` after the other is tried while the first half gains; then both halves are shown, before and after. The
first run imports the policies, which takes minutes; the database is that of the environment (`SUPPORT_AGENT_DATA`,
`DATABASE_URL`).
"""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, Final

from policies import search as ranking
from policies import store
from policies.document import PolicyDocument, SourceFile, parse_document
from policies.glosses import english_of_text
from policies.search import search
from policies.session import TenantSession
from policies.text import question_tokens
from policies.version import instant_period
from support_agent.administration.documents import surroundings
from support_agent.administration.folders import import_policies
from support_agent.bootstrap import Application, open_application
from support_agent.settings import read_settings
from support_agent.storage import tenants
from support_agent.tenants.folder import new_tenant_files
from tests.e2e.real_policies import AUTHORITIES, DATA, ORGANISATIONS
from tests.evals.calibrate_relevance import STEM, _letters

#: Constants in the order in which they are tried, with what they may be.
CHOICES: Final[Mapping[str, Sequence[float]]] = {
    "K1": (0.6, 0.9, 1.2, 1.6, 2.0),
    "B": (0.2, 0.4, 0.6, 0.75, 0.9),
    "USUAL_LENGTH": (20, 40, 60, 90, 140),
    "DEPTH": (5, 10, 20, 40, 60, 100),
    "WORDS": (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0),
}
N_PASSES: Final = 2
QUESTIONS: Final = DATA.parent / "questions"
FAQ_TENANT: Final = "faq-eval"
#: FAQ -> its files by language.
FAQS: Final = {
    "letsencrypt": {"en": "en_faq_letsencrypt.jsonl", "zh": "zh_faq_letsencrypt.jsonl"},
    "upyun": {"zh": "zh_faq_upyun.jsonl"},
}
TODAY: Final = datetime(2026, 6, 1, tzinfo=UTC)
#: Kind of question -> half -> share in the ten, mean of 1/rank.
Halves = dict[str, dict[int, tuple[float, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, whose passages it is asked of, and what the right one is recognised by."""

    id: str
    family: str
    tenant: str
    text: str
    at: datetime
    topic: str | None = None
    vector: Sequence[float] = ()
    #: The start of the passage's letters, or the anchor of its clause.
    letters: str = ""
    anchor: str = ""

    @property
    def half(self) -> int:
        return zlib.crc32(self.id.encode()) % 2


def dated() -> Iterator[Asked]:
    for row in _rows(DATA / "CHANGES.jsonl"):
        for side, quote in (("question", "old_quote"), ("question_new", "new_quote")):
            yield Asked(
                id=row["id"], family=f"dated {row['language']}", tenant=row["org"], text=row[side],
                at=datetime.fromisoformat(f"{row[f'{side}_date']}T12:00:00+00:00"),
                letters=_letters(row[quote])[:STEM],
            )  # fmt: skip


def frequent() -> Iterator[Asked]:
    """A question's number is its place: the languages of one FAQ are parallel, so that both are in one half."""
    for faq, files in FAQS.items():
        for language, name in files.items():
            for number, row in enumerate(_rows(QUESTIONS / name)):
                for of in files:
                    yield Asked(
                        id=f"{faq} {number}", family=f"{faq} {language}>{of}", tenant=FAQ_TENANT, text=row["question"],
                        at=TODAY, topic=f"{faq}-{of}", anchor=f"answer-{number}",
                    )  # fmt: skip


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def prepare(application: Application) -> None:
    """Import, once, the real policies and the answers of the FAQs."""
    for organisation in ORGANISATIONS:
        await import_policies(
            application, DATA / organisation, organisation, publish=True, create_tenant=True, time_zone=None,
            authorities=AUTHORITIES, overlay=None, imported_by="tuning", progress=_say,
        )  # fmt: skip
    async with application.open_session(FAQ_TENANT) as session:
        await tenants.save(session, FAQ_TENANT, dict(new_tenant_files(FAQ_TENANT, time_zone=None, authorities=None)))
    async with application.open_tenant(FAQ_TENANT) as (session, tenant):
        documents = [
            _document(f"{faq}-{language}", language, _rows(QUESTIONS / name), around=surroundings(tenant))
            for faq, files in FAQS.items()
            for language, name in files.items()
        ]
        await store.publish(session, documents, approval="imported", by="tuning", embedder=application.vectors)


def _document(policy: str, language: str, rows: Sequence[Mapping[str, Any]], *, around: Any) -> PolicyDocument:
    # Headings inside an answer would begin clauses of their own.
    answers = [row["reference_answer"].replace("\n#", "\n").replace("\t", "    ") for row in rows]
    body = "\n\n".join(f"## {number} {{#answer-{number}}}\n\n{answer}" for number, answer in enumerate(answers))
    head = (
        f"policy: {policy}\ntopic: {policy}\ntitle: Answers\nauthority: faq\nlanguage: {language}\n"
        "effective_from: 2020-01-01"
    )
    source = SourceFile(path=f"{policy}/2020-01-01.md", content=f"---\n{head}\n---\n{body}\n".encode())
    document = parse_document(source, around=around)
    if not isinstance(document, PolicyDocument):
        raise SystemExit("\n".join(map(str, document)))
    return document


async def score(application: Application, asked: Sequence[Asked], **constants: float) -> Halves:
    """How well search ranks with these constants."""
    for name, value in constants.items():
        setattr(ranking, name, int(value) if value == int(value) else value)
    # A constant to all but this: the statement is made again from the others.
    setattr(ranking, "_SEARCH_NOW", ranking._statement(ranking._NOW))  # noqa: B010
    found: dict[tuple[str, int], list[float]] = {}
    for tenant in dict.fromkeys(one.tenant for one in asked):
        async with application.open_session(tenant) as session:
            for one in (one for one in asked if one.tenant == tenant):
                found.setdefault((one.family, one.half), []).append(await _reciprocal(session, one))
    families = dict.fromkeys(one.family for one in asked)
    return {family: {half: _means(found.get((family, half), [0.0])) for half in (0, 1)} for family in families}


def _means(reciprocals: Sequence[float]) -> tuple[float, float]:
    return mean(one > 0 for one in reciprocals), mean(reciprocals)


async def _reciprocal(session: TenantSession, asked: Asked) -> float:
    tokens = [*question_tokens(asked.text), *english_of_text(asked.text)]
    hits = await search(
        session, tokens=tokens, vector=asked.vector, as_of=instant_period(asked.at),
        audiences=("public",), known={}, groups={}, topic=asked.topic,
    )  # fmt: skip
    for place, hit in enumerate(hits, start=1):
        if asked.anchor == hit.clause.anchor if asked.anchor else asked.letters in _letters(hit.text):
            return 1 / place
    return 0.0


def overall(scores: Halves, half: int) -> float:
    return mean(mean(of_half[half]) for of_half in scores.values())


async def tune(application: Application, asked: Sequence[Asked]) -> dict[str, float]:
    """The constants under which the first half gains most, each changed by itself, `N_PASSES` times."""
    best: dict[str, float] = {name: getattr(ranking, name) for name in CHOICES}
    best_score = overall(await score(application, asked, **best), 0)
    for _ in range(N_PASSES):
        for name, values in CHOICES.items():
            for value in values:
                reached = overall(await score(application, asked, **{**best, name: value}), 0)
                if reached > best_score + 1e-4:
                    best, best_score = {**best, name: value}, reached
                    _say(f"{name} = {value}: {reached:.4f} on the first half")
    return best


def table(before: Halves, after: Halves, numbers: Mapping[str, int]) -> Iterator[str]:
    yield f"{'':20}{'questions':>10}{'first half: in the ten, 1/rank':>38}{'held back: in the ten, 1/rank':>38}"
    for family in before:
        cells = "".join(_cell(before[family][half], after[family][half]) for half in (0, 1))
        yield f"{family:20}{numbers[family]:>10}{cells}"
    cells = "".join(f"{overall(before, half):>27.3f} > {overall(after, half):.3f}   " for half in (0, 1))
    yield f"{'mean':20}{sum(numbers.values()):>10}{cells}"


def _cell(before: tuple[float, float], after: tuple[float, float]) -> str:
    return "".join(f"{one:>11.3f} > {other:.3f}" for one, other in zip(before, after, strict=True))


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


async def main() -> None:
    async with open_application(replace(read_settings(), vectors=True)) as application:
        await prepare(application)
        assert application.vectors is not None
        questions = [*dated(), *frequent()]
        vectors = await application.vectors.embed_documents([one.text for one in questions])
        asked = [replace(one, vector=vector) for one, vector in zip(questions, vectors, strict=True)]
        used: dict[str, float] = {name: getattr(ranking, name) for name in CHOICES}
        before = await score(application, asked, **used)
        best = await tune(application, asked)
        after = await score(application, asked, **best)
    numbers = {family: sum(one.family == family for one in asked) for family in before}
    for line in table(before, after, numbers):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"\nin use: {used}\nfound:  {best}\n")


if __name__ == "__main__":
    asyncio.run(main())
