"""`support-agent policy diff|history`: how a policy changed."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.administration import changes
from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, KnownAt, Tenant, print_json, run_async
from support_agent.settings import read_settings

app = typer.Typer()


@app.command()
def diff(
    one: Annotated[str, typer.Argument(metavar="VERSION", help="POLICY@VERSION, or a file ending in .md.")],
    other: Annotated[str | None, typer.Argument(metavar="[NEWER]", help="The newer side.")] = None,
    *,
    tenant: Tenant,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """Show what changed between two versions, word by word, and in their terms; one alone: against the one before it.

    Example: support-agent policy diff refund-eu@2024-01-01 refund-eu@2025-02-01 --tenant lumen

    Exit codes: 0 shown, 1 no such version, or a file with faults; 2 usage.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            found = await changes.diff(application, tenant, one, other, known_at=known_at)
        if json:
            print_json(found)
            return
        from support_agent.rendering.policy_changes import print_diff  # noqa: PLC0415 - Rich is slow to load

        print_diff(found)

    run_async(work())


@app.command()
def history(
    policy: Annotated[str, typer.Argument(help="Policy id.")],
    *,
    tenant: Tenant,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """Show a policy's versions on a timeline: in force, scheduled, gaps, corrections, and who did what and why.

    Example: support-agent policy history refund-eu --tenant lumen

    Exit codes: 0 shown, 1 no such policy, 2 usage.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            found = await changes.history(application, tenant, policy, known_at=known_at)
        if json:
            print_json(found)
            return
        from support_agent.rendering.policy_changes import print_history  # noqa: PLC0415 - Rich is slow to load

        print_history(found)

    run_async(work())
