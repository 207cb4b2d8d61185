"""`support-agent policy lint`: what is wrong before it is published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.administration import lint as administration
from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, Tenant, print_json, run_async, talk
from support_agent.settings import read_settings

app = typer.Typer()


@app.command()
def lint(
    path: Annotated[
        Path | None, typer.Argument(help="VERSION.md, or a folder with one folder a policy; default what is published.")
    ] = None,
    *,
    tenant: Tenant,
    overlay: Annotated[
        Path | None, typer.Option(help="YAML or JSON file that adds front-matter keys to a folder.")
    ] = None,
    errors_only: Annotated[bool, typer.Option("--errors-only", help="Leave out what may be meant so.")] = False,
    json: Json = False,
) -> None:
    """Say what is wrong with a file or folder before it is published: dates, relations, contradictions, texts.

    Example: support-agent policy lint 2027-03-01.md --tenant lumen

    Exit codes: 0 nothing found, 1 something found, each with path, line, reason and what to do; 2 usage.
    """

    async def work() -> int:
        async with open_application(read_settings()) as application:
            found = await administration.lint(application, tenant, path, overlay=overlay, progress=talk)
        found = [finding for finding in found if not errors_only or finding["severity"] == "error"]
        if json:
            print_json(found)
        else:
            from support_agent.rendering.policy_lint import print_findings  # noqa: PLC0415 - Rich is slow to load

            print_findings(found)
        return len(found)

    if run_async(work()):
        raise typer.Exit(1)
