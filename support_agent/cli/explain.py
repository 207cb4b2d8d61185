"""`support-agent explain`: a run, stage by stage."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, Tenant, print_json, run_async
from support_agent.settings import read_settings


def explain(
    run_id: Annotated[str, typer.Argument(help="The run_id of an outcome.")], *, tenant: Tenant, json: Json = False
) -> None:
    """Show how a run came to its outcome: what was asked of whom, what came back, what settled what.

    Example: support-agent explain 0b6f… --tenant lumen

    Exit codes: 0 shown, 1 no such run, 2 usage.
    """
    run_async(_explain(tenant, run_id, as_json=json))


async def _explain(tenant: str, run_id: str, *, as_json: bool) -> None:
    async with open_application(read_settings()) as application:
        receipt = await application.receipt(tenant, run_id)
    if as_json:
        print_json(receipt)
        return
    from support_agent.rendering.explanation import print_receipt  # noqa: PLC0415 - Rich is slow to load

    print_receipt(receipt)
