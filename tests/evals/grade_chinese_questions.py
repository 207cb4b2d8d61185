"""Grades answers to Chinese questions about English policies, and prints a table and where another version was cited.

    python -m tests.evals.grade_chinese_questions [FILE.jsonl]… [--answers]

The questions are ours: the English ones of `CHANGES.jsonl` in Chinese, in `tests/e2e/real_questions/changes_zh*.jsonl`:
close to the wording, as people ask, or in traditional characters (`style`). Each is asked once on its date and once on
a later day, with vectors and by words alone. An organisation that also has texts in Chinese is asked in a
tenant of its English ones. The first run imports them, which takes minutes; the database is that of the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from support_agent.administration.catalogue import versions
from support_agent.administration.folders import import_policies
from support_agent.bootstrap import Application, open_application
from support_agent.errors import NotFoundError
from support_agent.request import AskRequest
from support_agent.settings import read_settings
from tests.e2e.real_policies import AUTHORITIES, DATA, LATER, Side, graded, metadata, sides
from tests.evals.grade_real_policies import Answered, failures, table

QUESTIONS = Path(__file__).parents[1] / "e2e" / "real_questions"
SIDES = {"question": "old", "question_new": "new"}


def asked_in(path: Path) -> Iterator[tuple[str, Side]]:
    """The questions of a file with their style, in the place of the English ones."""
    known = {(side.row, side.side): side for side in sides()}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        side = known[row["id"], SIDES[row["side"]]]
        yield row["style"], replace(side, question=row["question"])


def english_tenant(organisation: str) -> str:
    languages = {meta["language"] for meta in metadata(organisation).values()}
    return organisation if languages == {"en"} else f"{organisation}-english"


async def prepare(application: Application, organisations: Sequence[str]) -> None:
    """Import the English texts that are not there yet."""
    for organisation in organisations:
        tenant = english_tenant(organisation)
        if await _is_imported(application, tenant):
            continue
        with TemporaryDirectory() as folder:
            for policy, meta in metadata(organisation).items():
                if meta["language"] == "en":
                    shutil.copytree(DATA / organisation / policy, Path(folder) / policy)
            await import_policies(
                application,
                Path(folder),
                tenant,
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


async def _is_imported(application: Application, tenant: str) -> bool:
    try:
        return bool(await versions(application, tenant, known_at=None))
    except NotFoundError:
        return False


async def ask_all(
    application: Application, found: Mapping[str, Sequence[tuple[str, Side]]], *, how: str
) -> list[Answered]:
    answers = []
    for name, questions in found.items():
        for style, side in questions:
            for when, at in (("then", side.date), ("later", LATER)):
                request = AskRequest(question=side.question, tenant=english_tenant(side.organisation), at=at)
                outcome = (await application.ask(request)).contract
                grade = graded(outcome, side)
                answers += [
                    Answered(asked=side, run=run, grade=grade, answer=outcome["answer"])
                    for run in (f"{name}, {how}, {when}", f"  {style}")
                ]
    return answers


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path, default=sorted(QUESTIONS.glob("changes_zh*.jsonl")))
    parser.add_argument("--answers", action="store_true", help="print the answers that failed")
    chosen = parser.parse_args()
    found = {path.stem: list(asked_in(path)) for path in chosen.files}
    organisations = sorted({side.organisation for questions in found.values() for _, side in questions})
    settings = read_settings()
    for how, vectors in (("vectors", True), ("words", False)):
        async with open_application(replace(settings, vectors=vectors)) as application:
            await prepare(application, organisations)
            answers = await ask_all(application, found, how=how)
        told = [answer for answer in answers if not answer.run.startswith(" ") and not answer.grade.version]
        for line in (*table(answers), "", *failures(told, with_answers=chosen.answers), ""):
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    asyncio.run(main())
