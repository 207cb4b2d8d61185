"""Calibrates what makes a passage speak to a question; prints a line for each threshold, on either half of the data.

    python -m tests.evals.calibrate_relevance

Every question is asked once with vectors and once without; then `leading` judges what search found under each
threshold. It asks the golden questions of the sample tenant, and, where `../shared` is beside the repository, questions
of real people about nothing the sample tenant has and dated questions about real policies. The first run imports those
policies, which takes minutes; the database is that of the environment (`SUPPORT_AGENT_DATA`, `DATABASE_URL`).

Columns: `right/all` of the questions that a passage answers, of those the ones answered with another passage (`off`),
and `said/all` of the questions that nothing answers, in the golden files (`silent`) and of real people (`oos`).
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from connectors.base import Evidence
from support_agent.administration.folders import import_policies
from support_agent.administration.tenants import load_tenant
from support_agent.bootstrap import Application, open_application
from support_agent.pipeline import relevance
from support_agent.request import AskRequest
from support_agent.settings import read_settings
from tests.e2e.golden import lines_of, request_of
from tests.e2e.real_policies import AUTHORITIES, DATA, ORGANISATIONS

SAMPLE = Path(__file__).parents[2] / "policies" / "sample"
STRANGE = DATA.parent / "questions" / "en_clinc_oos.jsonl"
THRESHOLDS = {
    "ENOUGH": (0.75, 0.8, 0.85, 0.875, 0.9, 0.95, 1.0),
    "ENOUGH_IN_WORDS": (0.3, 0.35, 0.4, 0.425, 0.45, 0.475, 0.5),
}
STEM = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question that came to a search of passages, and what it found."""

    id: str
    #: Column of the table.
    column: str
    text: str
    evidence: Sequence[Evidence]
    #: What a right passage is recognised by; empty: nothing answers the question.
    locators: frozenset[str] = frozenset()
    words: str = ""

    @property
    def half(self) -> int:
        return zlib.crc32(self.id.encode()) % 2

    def is_right(self, hit: Evidence) -> bool:
        if self.words:
            return self.words in _letters(hit.quote)
        return _original(str(hit.locator)) in self.locators


def questions() -> Iterator[tuple[Asked, AskRequest]]:
    """The questions with what answers them; those that the golden files leave open are left out."""
    for name, column in (("questions.jsonl", "golden"), ("questions_second.jsonl", "second")):
        for row in lines_of(name):
            asked = Asked(id=row["id"], column=column, text="", evidence=(), locators=_expected(row["expect"]))
            if asked.locators:
                yield asked, request_of(row)
            elif row["expect"]["status"] in {"no_answer", "refused"}:
                yield replace(asked, column="silent"), request_of(row)
    if not DATA.exists():
        return
    for row in map(json.loads, STRANGE.read_text(encoding="utf-8").splitlines()):
        if row["intent"] == "oos":
            request = AskRequest(question=row["text"], tenant="lumen", customer="C-2001", at="2026-11-30")
            yield Asked(id=row["id"], column="oos", text="", evidence=()), request
    for row in map(json.loads, (DATA / "CHANGES.jsonl").read_text(encoding="utf-8").splitlines()):
        for side, quote in (("question", "old_quote"), ("question_new", "new_quote")):
            request = AskRequest(question=row[side], tenant=row["org"], at=row[f"{side}_date"])
            yield Asked(id=row["id"], column="real", text="", evidence=(), words=_letters(row[quote])[:STEM]), request


def _expected(expect: Mapping[str, Any]) -> frozenset[str]:
    if expect["status"] not in {"answered", "answered_with_conflict"}:
        return frozenset()
    groups = [expect.get("cites", ()), expect.get("removed", ()), *expect.get("cites_any", ())]
    return frozenset(_original(locator) for group in groups for locator in group)


def _original(locator: str) -> str:
    """The locator as if a rendition were its original: either answers."""
    return locator.replace("-zh@", "@")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


async def prepare(application: Application) -> None:
    """Load the sample tenant and, once, the real policies."""
    await load_tenant(application, SAMPLE, expected=None, progress=_say)
    for organisation in ORGANISATIONS:
        await import_policies(
            application,
            DATA / organisation,
            organisation,
            publish=True,
            create_tenant=True,
            time_zone=None,
            authorities=AUTHORITIES,
            overlay=None,
            imported_by="calibration",
            progress=_say,
        )


async def ask_all(application: Application) -> list[Asked]:
    found = []
    for asked, request in questions():
        run = (await application.ask(request)).run
        lookups = [lookup for step in run.rounds for lookup in step.lookups if relevance.PASSAGES in lookup.needs]
        if lookups:
            found.append(replace(asked, text=str(lookups[0].parameters["text"]), evidence=run.evidence))
    return found


def judged(asked: Asked) -> str:
    """`right`, `off` (another passage leads) or `silent`."""
    lead = relevance.leading(asked.evidence, asked.text).lead
    if lead is None:
        return "silent"
    return "right" if asked.is_right(lead) else "off"


def table(found: Sequence[Asked], constant: str) -> Iterator[str]:
    columns = list(dict.fromkeys(asked.column for asked in found))
    used = getattr(relevance, constant)
    for half in (0, 1):
        yield f"{constant}, half {half}" + "".join(f"{column:>20}" for column in columns)
        for threshold in THRESHOLDS[constant]:
            setattr(relevance, constant, threshold)
            tally = Counter((asked.column, judged(asked)) for asked in found if asked.half == half)
            mark = "*" if threshold == used else " "
            yield f"{mark} {threshold:<21}" + "".join(f"{_cell(tally, column):>20}" for column in columns)
        setattr(relevance, constant, used)


def _cell(tally: Mapping[tuple[str, str], int], column: str) -> str:
    right, off, silent = (tally.get((column, grade), 0) for grade in ("right", "off", "silent"))
    if column in {"silent", "oos"}:
        return f"{off}/{off + silent}"
    return f"{right}/{right + off + silent} ({off} off)"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


async def main() -> None:
    settings = read_settings()
    async with open_application(replace(settings, vectors=True)) as application:
        await prepare(application)
        with_vectors = await ask_all(application)
    async with open_application(replace(settings, vectors=False)) as application:
        without = await ask_all(application)
    for line in (*table(with_vectors, "ENOUGH"), "", *table(without, "ENOUGH_IN_WORDS")):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    asyncio.run(main())
