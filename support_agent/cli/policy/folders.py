"""`support-agent policy import`: policies as a folder of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.administration import folders
from support_agent.cli.options import Json, KnownAt, Tenant, now_and_then, print_json, say, talk, with_application

app = typer.Typer()

Folder = Annotated[Path, typer.Argument(help="One folder a policy, one file a version.")]


@app.command("import")
def import_folder(  # noqa: PLR0913 - each is a flag of the command
    folder: Folder,
    *,
    tenant: Tenant,
    publish: Annotated[
        bool, typer.Option("--publish/--dry-run", help="Publish what is read; else only say what would change.")
    ] = False,
    create_tenant: Annotated[bool, typer.Option("--create-tenant", help="Make the tenant if it is new.")] = False,
    time_zone: Annotated[str | None, typer.Option(help="IANA zone of a new tenant; UTC without it.")] = None,
    authorities: Annotated[
        str | None, typer.Option(help="Ranks, highest first, `=` between equals: 'law,corporate=contract,faq'.")
    ] = None,
    overlay: Annotated[Path | None, typer.Option(help="YAML or JSON file that adds front-matter keys.")] = None,
    imported_by: Annotated[str, typer.Option("--by", help="Who imports; kept with every version.")] = "cli",
    json: Json = False,
) -> None:
    """Read a folder of policy versions, say what is wrong with it or what would change, and publish it when asked to.

    All of it is published or nothing, also when it is stopped. A version that differs only in blanks, bullets or
    emphasis is unchanged; one that says something else corrects what is published.

    Example: support-agent policy import ./policies-of-ours --tenant acme --create-tenant --publish

    Exit codes: 0 checked or published, 1 refused with every fault, its path and line; 2 usage.
    """
    report = with_application(
        lambda application: folders.import_policies(
            application,
            folder,
            tenant,
            publish=publish,
            create_tenant=create_tenant,
            time_zone=time_zone,
            authorities=authorities,
            overlay=overlay,
            imported_by=imported_by,
            progress=talk,
            often=now_and_then(talk),
        )
    )
    if json:
        print_json(report)
        return
    from support_agent.rendering.policy_folders import print_import  # noqa: PLC0415 - Rich is slow to load

    print_import(report)
    if not publish:
        talk("Nothing was stored; add --publish to publish.")


@app.command("export")
def export_folder(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    *,
    tenant: Tenant,
    policy: Annotated[list[str] | None, typer.Option(help="Only this policy; may be said several times.")] = None,
    known_at: KnownAt = None,
    json: Json = False,
) -> None:
    """Write the published policies out as a folder; importing it gives the same store.

    Example: support-agent policy export ./policies-of-ours --tenant acme

    Exit codes: 0 written, 1 no such policy, 2 usage, or the folder holds something.
    """
    report = with_application(
        lambda application: folders.export_policies(
            application, folder, tenant, policies=policy or (), known_at=known_at, progress=talk
        )
    )
    if json:
        print_json(report)
        return
    say(f"{report['folder']}: {report['n_policies']} policies, {report['n_versions']} versions.")
