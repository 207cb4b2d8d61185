"""`support-agent policy`: the versioned policies of a tenant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.bootstrap import open_application
from support_agent.cli.options import Json, Tenant, print_json, run_async, say, talk
from support_agent.settings import read_settings

app = typer.Typer(help="The versioned policies of a tenant.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="One folder a policy, one file a version.")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="As the store knew it then; default now.")]


@app.command("import")
def import_folder(  # noqa: PLR0913 - each is a flag of the command
    folder: Folder,
    *,
    tenant: Tenant,
    publish: Annotated[bool, typer.Option("--publish", help="Publish what is read; without it, only check.")] = False,
    create_tenant: Annotated[bool, typer.Option("--create-tenant", help="Make the tenant if it is new.")] = False,
    time_zone: Annotated[str | None, typer.Option(help="IANA zone of a new tenant; UTC without it.")] = None,
    authorities: Annotated[
        str | None, typer.Option(help="Ranks, highest first, `=` between equals: 'law,corporate=contract,faq'.")
    ] = None,
    overlay: Annotated[Path | None, typer.Option(help="YAML or JSON file that adds front-matter keys.")] = None,
    imported_by: Annotated[str, typer.Option("--by", help="Who imports; kept with every version.")] = "cli",
    json: Json = False,
) -> None:
    """Read a folder of policy versions, say everything that is wrong with it, and publish it when asked to.

    Example: support-agent policy import ./policies-of-ours --tenant acme --create-tenant --publish

    Exit codes: 0 checked or published, 1 refused with every fault, its path and line; 2 usage.
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            report = await application.import_policies(
                folder,
                tenant,
                publish=publish,
                create_tenant=create_tenant,
                time_zone=time_zone,
                authorities=authorities,
                overlay=overlay,
                imported_by=imported_by,
                progress=talk,
            )
        if json:
            print_json(report)
            return
        done = f"{report['n_published']} published, {report['n_unchanged']} unchanged" if publish else "checked only"
        say(f"{report['n_policies']} policies, {report['n_versions']} versions: {done}.")
        if not publish:
            talk("Nothing was stored; add --publish to publish.")

    run_async(work())


@app.command("list")
def list_policies(*, tenant: Tenant, known_at: KnownAt = None, json: Json = False) -> None:
    """List the policies and the periods of their versions.

    Example: support-agent policy list --tenant lumen
    """

    async def work() -> None:
        async with open_application(read_settings()) as application:
            versions = await application.policy_versions(tenant, known_at=known_at)
        if json:
            print_json(versions)
            return
        from support_agent.rendering.policies import print_versions  # noqa: PLC0415 - Rich is slow to load

        print_versions(versions)

    run_async(work())


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

    async def work() -> None:
        async with open_application(read_settings()) as application:
            found = await application.policy_document(tenant, policy, known_at=known_at)
        if json:
            print_json(found)
            return
        from support_agent.rendering.policies import print_document  # noqa: PLC0415 - Rich is slow to load

        print_document(found)

    run_async(work())


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

    async def work() -> None:
        async with open_application(read_settings()) as application:
            versions = await application.policies_as_of(tenant, at, policy=policy, known_at=known_at)
        if json:
            print_json(versions)
            return
        from support_agent.rendering.policies import print_in_force  # noqa: PLC0415 - Rich is slow to load

        print_in_force(versions, at=at)

    run_async(work())


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

    async def work() -> None:
        async with open_application(read_settings()) as application:
            hits = await application.search_policies(tenant, text, at=at, staff=staff, limit=limit)
        if json:
            print_json(hits)
            return
        from support_agent.rendering.policies import print_hits  # noqa: PLC0415 - Rich is slow to load

        print_hits(hits)

    run_async(work())
