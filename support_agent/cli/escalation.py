"""`support-agent escalation`: the cases that wait for a person."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.cli.options import Json, Tenant, print_json, with_application

app = typer.Typer(help="Cases that wait for a person.", no_args_is_help=True)


@app.command("list")
def list_cases(
    *,
    tenant: Tenant,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many, oldest first.")] = 50,
    json: Json = False,
) -> None:
    """List the cases, oldest first.

    Example: support-agent escalation list --tenant lumen
    """
    cases = with_application(lambda application: application.escalations(tenant, limit=limit))
    if json:
        print_json(cases)
        return
    from support_agent.rendering.explanation import print_cases  # noqa: PLC0415 - Rich is slow to load

    print_cases(cases)


@app.command()
def show(
    escalation_id: Annotated[str, typer.Argument(help="Id of the case.")], *, tenant: Tenant, json: Json = False
) -> None:
    """Show one case: the question, both sides with text and dates, and why it was handed over.

    Example: support-agent escalation show 5c21… --tenant lumen

    Exit codes: 0 shown, 1 no such case, 2 usage.
    """
    case = with_application(lambda application: application.escalation(tenant, escalation_id))
    if json:
        print_json(case)
        return
    from support_agent.rendering.explanation import print_case  # noqa: PLC0415 - Rich is slow to load

    print_case(case)
