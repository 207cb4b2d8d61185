"""Grades answers from frequently asked questions in Chinese; prints the shares and what failed.

    python -m tests.evals.grade_faq [--answers]

Each collection is a tenant of its own, its entries clauses of one document of the rank `faq`. `own` asks each entry in
other words (`tests/e2e/real_questions/faq_zh.jsonl`, written from the questions alone before any of them was asked);
right is an answer that cites that entry. `other` asks one tenant what the other's customers ask; right is no answer.
The database is that of the environment (`SUPPORT_AGENT_DATA`, `DATABASE_URL`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support_agent.administration.catalogue import versions
from support_agent.administration.folders import import_policies
from support_agent.bootstrap import Application, open_application
from support_agent.errors import NotFoundError
from support_agent.request import AskRequest
from support_agent.settings import read_settings

QUESTIONS = Path(__file__).parents[3] / "shared" / "data" / "questions"
WORDED = Path(__file__).parents[1] / "e2e" / "real_questions" / "faq_zh.jsonl"
#: Tenant -> its file and the beginning of its ids.
TENANTS = {"le-faq": ("zh_faq_letsencrypt.jsonl", "le-faq"), "upyun-faq": ("zh_faq_upyun.jsonl", "upyun-faq")}
AT = "2026-11-30"
HEAD = """---
policy: faq
title: 常见问题
authority: faq
effective_from: 2020-01-01
language: zh
owner: support
---
"""


def document(name: str) -> str:
    rows = [json.loads(line) for line in (QUESTIONS / TENANTS[name][0]).read_text(encoding="utf-8").splitlines()]
    return HEAD + "\n".join(f"## {_heading(row)} {{#{anchor(row['id'])}}}\n\n{_answer(row)}\n" for row in rows)


def anchor(entry: str) -> str:
    return f"e{entry.rpartition('-')[2]}"


def _heading(row: Mapping[str, Any]) -> str:
    return " ".join(re.sub(r"[#{}`]", " ", row["question"]).split())


def _answer(row: Mapping[str, Any]) -> str:
    """The answer with its own headings made plain, so that each entry is one clause."""
    return re.sub(r"(?m)^#+\s*", "", row["reference_answer"]).expandtabs(4)


async def prepare(application: Application) -> None:
    for name in TENANTS:
        try:
            if await versions(application, name, known_at=None):
                continue
        except NotFoundError:
            pass
        with TemporaryDirectory() as folder:
            file = Path(folder) / "faq" / "2020-01-01.md"
            file.parent.mkdir()
            file.write_text(document(name), encoding="utf-8")
            await import_policies(
                application, Path(folder), name, publish=True, create_tenant=True, time_zone=None,
                authorities="corporate,faq", overlay=None, imported_by="measuring", progress=_say,
            )  # fmt: skip


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def asked() -> Iterator[tuple[str, str]]:
    for line in WORDED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["id"], row["question"]


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", action="store_true", help="print the answers that failed")
    arguments = parser.parse_args()
    async with open_application(read_settings()) as application:
        await prepare(application)
        for name, (_, prefix) in TENANTS.items():
            for kind, rows in (
                ("own", [row for row in asked() if row[0].startswith(prefix)]),
                ("other", [row for row in asked() if not row[0].startswith(prefix)]),
            ):
                failed = []
                for entry, question in rows:
                    outcome = (await application.ask(AskRequest(question=question, tenant=name, at=AT))).contract
                    cited = {citation["clause"] for citation in outcome["citations"]}
                    right = anchor(entry) in cited if kind == "own" else outcome["status"] == "no_answer"
                    if not right:
                        failed.append((entry, question, outcome["status"], sorted(cited)))
                right = len(rows) - len(failed)
                sys.stdout.write(f"{name:10} {kind:6} {right}/{len(rows)} {right / len(rows):.1%}\n")
                for one in failed if arguments.answers else ():
                    sys.stdout.write(f"    {one}\n")


if __name__ == "__main__":
    asyncio.run(main())
