"""`support-agent policy diff|history`: how a policy changed."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.administration import changes
from support_agent.cli.options import Json, KnownAt, Tenant, print_json, with_application

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
    found = with_application(lambda application: changes.diff(application, tenant, one, other, known_at=known_at))
    if json:
        print_json(found)
        return
    from support_agent.rendering.policy_changes import print_diff  # noqa: PLC0415 - Rich is slow to load

    print_diff(found)


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
    found = with_application(lambda application: changes.history(application, tenant, policy, known_at=known_at))
    if json:
        print_json(found)
        return
    from support_agent.rendering.policy_changes import print_history  # noqa: PLC0415 - Rich is slow to load

    print_history(found)
