"""`support-agent policy list|show|as-of|search`: the policies of a tenant as they are read."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.administration import catalogue, lifecycle
from support_agent.cli.options import Json, KnownAt, Tenant, print_json, with_application

app = typer.Typer()


@app.command("list")
def list_policies(
    *,
    tenant: Tenant,
    drafts: Annotated[bool, typer.Option("--drafts", help="Drafts and their states instead.")] = False,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """List the policies and the periods of their versions, or what is on its way to being published.

    Example: support-agent policy list --tenant lumen
    """
    found = with_application(
        lambda application: (
            lifecycle.open_drafts(application, tenant)
            if drafts
            else catalogue.versions(application, tenant, known_at=known_at)
        )
    )
    if json:
        print_json(found)
        return
    from support_agent.rendering.policies import print_drafts, print_versions  # noqa: PLC0415 - Rich is slow to load

    (print_drafts if drafts else print_versions)(found)


@app.command()
def show(
    policy: Annotated[str, typer.Argument(help="Policy id, or policy@version.")],
    *,
    tenant: Tenant,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """Show a version with its text: the one named, else the one in force now.

    Example: support-agent policy show refund-eu@2025-02-01 --tenant lumen

    Exit codes: 0 shown, 1 no such policy or version, 2 usage.
    """
    found = with_application(lambda application: catalogue.document(application, tenant, policy, known_at=known_at))
    if json:
        print_json(found)
        return
    from support_agent.rendering.policies import print_document  # noqa: PLC0415 - Rich is slow to load

    print_document(found)


@app.command("as-of")
def as_of(
    at: Annotated[str, typer.Argument(metavar="DATE", help="A date (noon there) or an instant with offset.")],
    *,
    tenant: Tenant,
    policy: Annotated[str | None, typer.Option(help="Only this policy.")] = None,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """Show which version of each policy is in force on a date.

    Example: support-agent policy as-of 2025-03-05 --tenant lumen --policy refund-eu
    """
    versions = with_application(
        lambda application: catalogue.as_of(application, tenant, at, policy=policy, known_at=known_at)
    )
    if json:
        print_json(versions)
        return
    from support_agent.rendering.policies import print_in_force  # noqa: PLC0415 - Rich is slow to load

    print_in_force(versions, at=at)


@app.command()
def search(
    text: Annotated[str, typer.Argument(help="What to look for, in English or Chinese.")],
    *,
    tenant: Tenant,
    at: Annotated[str | None, typer.Option(help="Only what is in force then; default now.")] = None,
    staff: Annotated[bool, typer.Option("--staff", help="See staff-only clauses too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many passages.")] = 10,
    json: Json = False,
) -> None:
    """Search the passages in force, best first, by words and by meaning.

    Example: support-agent policy search "refund window" --tenant lumen --at 2025-03-05
    """
    hits = with_application(
        lambda application: catalogue.search(application, tenant, text, at=at, staff=staff, limit=limit)
    )
    if json:
        print_json(hits)
        return
    from support_agent.rendering.policies import print_hits  # noqa: PLC0415 - Rich is slow to load

    print_hits(hits)
