"""`support-agent tenant`: a business on this installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.administration.tenants import load_tenant
from support_agent.cli.options import Json, print_json, say, talk, with_application

app = typer.Typer(help="A business on this installation.", no_args_is_help=True)


@app.command()
def load(
    folder: Annotated[
        Path, typer.Argument(help="Folder with tenant.yaml, facts.yaml, playbooks/, documents/, trial/.")
    ],
    *,
    tenant: Annotated[
        str | None, typer.Option("--tenant", "-t", help="Must equal the slug in tenant.yaml when given.")
    ] = None,
    json: Json = False,
) -> None:
    """Load a tenant from a folder; loading the same folder again changes nothing.

    Example: support-agent tenant load policies/sample

    Exit codes: 0 loaded, 1 refused with every fault, its path and line; 2 usage.
    """
    report = with_application(lambda application: load_tenant(application, folder, expected=tenant, progress=talk))
    if json:
        print_json(report)
        return
    changed = "changed" if report["changed"] else "nothing changed"
    say(f"Tenant {report['tenant']}: {report['n_policies']} policies in {report['n_versions']} versions, {changed}.")
