"""`support-agent policy impact|affected`: what a draft would change, and who was told what a clause says."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from enum import StrEnum
from typing import Annotated

import orjson
import typer

from support_agent.administration import affected as citing
from support_agent.administration import impact as impacts
from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, Tenant, print_json, run_async, say, talk
from support_agent.cli.start import STOPPED
from support_agent.rendering.spreadsheet import csv_line, csv_row
from support_agent.settings import read_settings

app = typer.Typer()

_COLUMNS = (
    "recorded_at", "asked_at", "customer", "conversation", "status", "role", "clauses", "outdated", "question",
    "answer", "run_id",
)  # fmt: skip


class Role(StrEnum):
    GOVERNING = "governing"
    CONSIDERED = "considered"


@app.command()
def impact(
    draft: Annotated[
        str, typer.Argument(metavar="DRAFT", help="VERSION.md, a folder of policies, or POLICY@VERSION of a draft.")
    ],
    *,
    tenant: Tenant,
    at: Annotated[
        str | None, typer.Option(help="Ask all questions at this date or instant, or `now`; default each when it was.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only questions recorded from then on.")] = None,
    customer: Annotated[str | None, typer.Option(help="Only questions of this customer.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 1_000,
    json: Json = False,
) -> None:
    """Ask the recorded questions again, with the draft published and without, and list what would change.

    Nothing is stored, and questions go on being answered meanwhile. Stopped by Ctrl-C, it shows what it has found.

    Example: support-agent policy impact refund-eu/2026-12-15.md --tenant lumen --at 2026-12-20

    Exit codes: 0 done, whatever would change; 1 the draft is refused with every fault; 2 usage.
    """

    async def work() -> bool:
        found: impacts.Impact | None = None
        try:
            async with open_application(read_settings()) as application:
                steps = impacts.impact(application, tenant, draft, at=at, since=since, customer=customer, limit=limit)
                async with aclosing(steps):
                    async for found in steps:
                        _tell(found)
        except asyncio.CancelledError:
            if found is None:
                raise
            talk("stopped; this is what was found so far")
        if found is None:
            return False
        if json:
            print_json(found.json())
        else:
            from support_agent.rendering.policy_impact import print_impact  # noqa: PLC0415 - Rich is slow to load

            print_impact(found.json())
        return found.n_done == len(found.questions)

    if not run_async(work()):
        raise typer.Exit(STOPPED)


def _tell(found: impacts.Impact) -> None:
    """Say how far it has come."""
    n = len(found.questions)
    if found.n_done == 0:
        talk(f"{found.tenant}: {n:,} different questions in {found.n_runs:,} of {found.n_recorded:,} runs")
        return
    rate = found.n_done / max(found.elapsed_s, 0.001)
    talk(f"{found.tenant}: {found.n_done:,} of {n:,} asked, {len(found.changes):,} would change ({rate:,.0f} a second)")


@app.command()
def affected(
    clause: Annotated[str, typer.Argument(metavar="CLAUSE@VERSION", help="POLICY@VERSION#CLAUSE, or POLICY@VERSION.")],
    *,
    tenant: Tenant,
    role: Annotated[Role | None, typer.Option(help="Only where the clause governed, or was only considered.")] = None,
    since: Annotated[str | None, typer.Option(help="Only answers recorded from then on.")] = None,
    recorded_before: Annotated[str | None, typer.Option(help="Only answers recorded before.")] = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="Only answers that read a text which was corrected since.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV for a spreadsheet.")] = False,
    json: Json = False,
) -> None:
    """List the recorded answers that cited a clause, with customer and conversation, newest first.

    A case that was handed over to a person cites nothing, and is not listed.

    Example: support-agent policy affected refund-eu@2025-02-01#window --tenant lumen --outdated

    Exit codes: 0 listed, also when there are none; 1 no such version or clause; 2 usage.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            pages = citing.affected(
                application,
                tenant,
                clause,
                role=role.value if role else None,
                since=since,
                recorded_before=recorded_before,
                only_outdated=outdated,
            )
            async with aclosing(pages):
                await (_write_json(pages) if json else _write_csv(pages) if as_csv else _print(pages, clause))

    run_async(work())


async def _write_json(pages: AsyncIterator[citing.Affected]) -> None:
    """One JSON array, an answer a line, written as the pages come: it holds as many answers as there are."""
    n_written = 0
    sys.stdout.write("[")
    async for page in pages:
        for answer in page.answers:
            sys.stdout.write(f"{',' if n_written else ''}\n{orjson.dumps(answer).decode()}")
            n_written += 1
        _tell_page(n_written, page)
    sys.stdout.write("\n]\n")


async def _write_csv(pages: AsyncIterator[citing.Affected]) -> None:
    sys.stdout.write(csv_line(_COLUMNS))
    n_written = 0
    async for page in pages:
        for answer in page.answers:
            sys.stdout.write(csv_row(answer, _COLUMNS))
        n_written += len(page.answers)
        _tell_page(n_written, page)


async def _print(pages: AsyncIterator[citing.Affected], clause: str) -> None:
    from support_agent.rendering.policy_impact import print_answers  # noqa: PLC0415 - Rich is slow to load

    n_written = 0
    async for page in pages:
        if n_written == 0:
            say(f"{clause} is cited by {page.n_total:,} recorded answer{'' if page.n_total == 1 else 's'}.")
        print_answers(page.answers)
        n_written += len(page.answers)
        _tell_page(n_written, page)


def _tell_page(n_written: int, page: citing.Affected) -> None:
    if page.n_total > citing.PAGE:
        talk(f"{n_written:,} of {page.n_total:,} answers listed")
