"""Grades answers to dated questions about real policies, and prints a table, what failed, and a baseline.

    python -m tests.evals.grade_real_policies [--half 0|1] [--failures] [--words-only]

Every question is asked once on its date and once on a later day, when the date comes from its words; once with vectors
and once without. `newest` asks the question without its date: the version that governs is then the newest. Shares have
Wilson's 95 % intervals. Half 0 was looked at while answering was improved; of half 1 only which answers failed, and for
a few of them why. `facts` are further questions, one fact each; they were written before they were first asked.

The first run imports the policies, which takes minutes; the database is that of the environment
(`SUPPORT_AGENT_DATA`, `DATABASE_URL`).
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from support_agent.administration.catalogue import versions
from support_agent.administration.folders import import_policies
from support_agent.bootstrap import Application, open_application
from support_agent.errors import NotFoundError
from support_agent.request import AskRequest
from support_agent.settings import read_settings
from tests.e2e.real_policies import AUTHORITIES, DATA, LATER, ORGANISATIONS, Grade, Side, facts, graded, sides

#: Two-sided 95 %.
Z = 1.959964
COLUMNS = ("version", "value", "passage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    asked: Side
    #: Row of the table.
    run: str
    grade: Grade
    answer: str


async def prepare(application: Application) -> None:
    """Import what is not there yet."""
    for organisation in ORGANISATIONS:
        if await _is_imported(application, organisation):
            continue
        await import_policies(
            application,
            DATA / organisation,
            organisation,
            publish=True,
            create_tenant=True,
            time_zone=None,
            authorities=AUTHORITIES,
            overlay=None,
            imported_by="measuring",
            progress=_say,
        )


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


async def _is_imported(application: Application, organisation: str) -> bool:
    try:
        return bool(await versions(application, organisation, known_at=None))
    except NotFoundError:
        return False


async def ask(application: Application, asked: Side, *, run: str, question: str, at: str) -> Answered:
    request = AskRequest(question=question, tenant=asked.organisation, at=at)
    outcome = (await application.ask(request)).contract
    return Answered(asked=asked, run=run, grade=graded(outcome, asked), answer=outcome["answer"])


async def ask_all(application: Application, found: Sequence[Side], *, how: str) -> list[Answered]:
    answers = []
    for side in found:
        answers.append(await ask(application, side, run=f"{how}, then", question=side.question, at=side.date))
        answers.append(await ask(application, side, run=f"{how}, later", question=side.question, at=LATER))
        undated = (await application.ask(AskRequest(question=side.question, tenant=side.organisation, at=LATER))).run
        spans = sorted((time.span for time in undated.reading.time_expressions), reverse=True)
        question = side.question
        for start, end in spans:
            question = question[:start] + question[end:]
        answers.append(await ask(application, side, run=f"{how}, newest", question=question, at=LATER))
    return answers


def interval(n: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    if not of:
        return 0.0, 1.0
    share, square = n / of, Z * Z / of
    middle = (share + square / 2) / (1 + square)
    margin = Z * math.sqrt(share * (1 - share) / of + square / (4 * of)) / (1 + square)
    return max(0.0, middle - margin), min(1.0, middle + margin)


def table(answers: Sequence[Answered]) -> Iterator[str]:
    yield f"{'':<16}" + "".join(f"{column:>28}" for column in COLUMNS) + f"{'conflict records':>20}"
    for run in dict.fromkeys(answer.run for answer in answers):
        grades = [answer.grade for answer in answers if answer.run == run]
        cells = [_cell(sum(getattr(grade, column) for grade in grades), len(grades)) for column in COLUMNS]
        n_conflicts = sum(grade.n_conflicts for grade in grades)
        yield f"{run:<16}" + "".join(f"{cell:>28}" for cell in cells) + f"{n_conflicts:>20}"


def _cell(n: int, of: int) -> str:
    low, high = interval(n, of)
    return f"{n}/{of} {n / of:.0%} ({low:.0%} to {high:.0%})" if of else "0/0"


def failures(answers: Sequence[Answered], *, with_answers: bool) -> Iterator[str]:
    for answer in answers:
        grade = answer.grade
        if "newest" in answer.run or (grade.version and grade.value and grade.passage and not grade.n_conflicts):
            continue
        conflicts = "; a conflict record" if grade.n_conflicts else ""
        yield f"{answer.asked.id}  {answer.run}: {grade.reason}{conflicts}"
        if with_answers:
            yield f"    {answer.asked.question}\n    -> {answer.answer!r}\n    wanted {answer.asked.passage!r}"


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the rows of one half")
    parser.add_argument("--row", help="only one row")
    parser.add_argument("--answers", action="store_true", help="print the answers that failed")
    parser.add_argument("--words-only", action="store_true", help="without vectors alone")
    chosen = parser.parse_args()
    found = [side for side in sides() if chosen.half in {None, side.half} and chosen.row in {None, side.row}]
    found += [side for side in facts() if chosen.half is None and chosen.row in {None, side.row}]
    settings = read_settings()
    answers: list[Answered] = []
    # With vectors first: the policies are imported by the first way, and their vectors are made then.
    for how, vectors in (*(() if chosen.words_only else (("vectors", True),)), ("words", False)):
        async with open_application(replace(settings, vectors=vectors)) as application:
            await prepare(application)
            answers += await ask_all(application, found, how=how)
    changes = [answer for answer in answers if answer.asked.side != "fact"]
    groups = {
        "half 0": [answer for answer in changes if answer.asked.half == 0],
        "half 1": [answer for answer in changes if answer.asked.half == 1],
        "facts": [answer for answer in answers if answer.asked.side == "fact"],
    }
    for name, group in groups.items():
        if group:
            lines = (name, *table(group), "", *failures(group, with_answers=chosen.answers), "")
            sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.write("\n".join(("both halves", *table(changes))) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
