"""`support-agent policy terms suggest|accept`: from the words of a text to its terms."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from support_agent.administration import terms
from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, Tenant, print_json, run_async, say
from support_agent.settings import read_settings

app = typer.Typer(help="Candidate terms of a text, and its sidecar.", no_args_is_help=True)


class Better(StrEnum):
    """Which direction is better for the customer."""

    HIGHER = "higher"
    LOWER = "lower"


@app.command()
def suggest(
    target: Annotated[str, typer.Argument(metavar="VERSION", help="POLICY@VERSION, or a file ending in .md.")],
    *,
    tenant: Tenant,
    json: Json = False,
) -> None:
    """List the durations, amounts, percentages, counts and dates that a text states, each with a name it could have.

    Example: support-agent policy terms suggest refund-eu@2025-02-01 --tenant lumen

    Exit codes: 0 listed, 1 no such version, or a file with faults; 2 usage.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            found = await terms.suggest(application, tenant, target)
        if json:
            print_json(found)
            return
        from support_agent.rendering.policy_lint import print_candidates  # noqa: PLC0415 - Rich is slow to load

        print_candidates(found)

    run_async(work())


@app.command()
def accept(
    file: Annotated[Path, typer.Argument(help="VERSION.md; the term goes to VERSION.terms.yaml beside it.")],
    clause: Annotated[str, typer.Argument(help="Anchor of the clause.")],
    name: Annotated[str, typer.Argument(help="The term's name; it ends in its unit: refund.window_days.")],
    *,
    tenant: Tenant,
    value: Annotated[str | None, typer.Option(help="As YAML; default the clause's one candidate of that unit.")] = None,
    better: Annotated[Better | None, typer.Option(help="Which is better for the customer.")] = None,
    json: Json = False,
) -> None:
    """Write a term into the sidecar beside a file. The text is not touched.

    Example: support-agent policy terms accept 2026-01-01.md dogs pets.lead_metres --value 2 --tenant acme

    Exit codes: 0 written, 1 the sidecar would have faults, 2 usage, or the term is there already.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            written = await terms.accept(
                application, tenant, file, clause, name, value=value, better=better.value if better else None
            )
        if json:
            print_json(written)
            return
        say(f"{written['file']}: {written['clause']}: {written['name']}: {written['written']}")

    run_async(work())
