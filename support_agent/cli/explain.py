"""`support-agent explain`: a run, stage by stage."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.cli.options import Json, Tenant, print_json, with_application


def explain(
    run_id: Annotated[str, typer.Argument(help="The run_id of an outcome.")], *, tenant: Tenant, json: Json = False
) -> None:
    """Show how a run came to its outcome: what was asked of whom, what came back, what settled what.

    Example: support-agent explain 0b6f… --tenant lumen

    Exit codes: 0 shown, 1 no such run, 2 usage.
    """
    receipt = with_application(lambda application: application.receipt(tenant, run_id))
    if json:
        print_json(receipt)
        return
    from support_agent.rendering.explanation import print_receipt  # noqa: PLC0415 - Rich is slow to load

    print_receipt(receipt)
