"""`support-agent playbooks`: the questions that are known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.administration import playbook_suggestions, playbooks
from support_agent.cli.options import Json, Tenant, print_json, say, talk, with_application

app = typer.Typer(help="The questions that are known beforehand, and how each is answered.", no_args_is_help=True)

Playbook = Annotated[str, typer.Argument(metavar="PLAYBOOK", help="Its id.")]


@app.command("list")
def list_playbooks(*, tenant: Tenant, json: Json = False) -> None:
    """List the playbooks, where each comes from, and why one is not used.

    Example: support-agent playbooks list --tenant lumen

    Exit codes: 0 listed, 1 no such tenant, 2 usage.
    """
    found = with_application(lambda application: playbooks.catalogue(application, tenant))
    if json:
        print_json(found)
        return
    from support_agent.rendering.playbooks import print_playbooks  # noqa: PLC0415 - Rich is slow to load

    print_playbooks(found)


@app.command()
def show(playbook: Playbook, *, tenant: Tenant, json: Json = False) -> None:
    """Print a playbook; a file with the same id in the tenant's `playbooks/` replaces it.

    Example: support-agent playbooks show refund-eligibility --tenant lumen > acme/playbooks/refund.yaml

    Exit codes: 0 printed, 1 no such playbook, 2 usage.
    """
    found = with_application(lambda application: playbooks.shown(application, tenant, playbook))
    if json:
        print_json(found)
        return
    say(found["yaml"].rstrip("\n"))


@app.command("test")
def try_out(
    playbook: Annotated[
        str | None, typer.Argument(metavar="[PLAYBOOK]", help="Its id; default all that are used.")
    ] = None,
    *,
    tenant: Tenant,
    question: Annotated[
        str | None, typer.Option("--question", "-q", help="Say instead what this question reaches, and why.")
    ] = None,
    json: Json = False,
) -> None:
    """Say which playbook the examples reach, or a question of your own. Nothing is asked or recorded.

    Example: support-agent playbooks test --tenant lumen --question "Can I send the headset back?"

    Exit codes: 0 every example reaches its playbook, or the question one; 1 not so, or no such playbook; 2 usage.
    """
    from support_agent.rendering.playbooks import print_examples, print_recognised  # noqa: PLC0415 - Rich is slow to load

    if question is not None:
        said = with_application(lambda application: playbooks.recognised(application, tenant, question))
        if json:
            print_json(said)
        else:
            print_recognised(question, said)
        if said["playbook"] is None:
            raise typer.Exit(1)
        return
    found = with_application(lambda application: playbooks.trial(application, tenant, playbook))
    if json:
        print_json(found)
    else:
        print_examples(found)
    if not all(example["ok"] for example in found):
        raise typer.Exit(1)


@app.command()
def lint(
    folder: Annotated[
        Path | None, typer.Argument(help="The tenant's folder, before it is loaded; default what is loaded.")
    ] = None,
    *,
    tenant: Tenant,
    json: Json = False,
) -> None:
    """Say what is wrong with playbooks: examples they miss, triggers they share, terms and topics that nobody states.

    Example: support-agent playbooks lint policies/sample --tenant lumen

    Exit codes: 0 nothing found, 1 something found, each with path, line, reason and what to do; 2 usage.
    """
    found = with_application(lambda application: playbooks.lint(application, tenant, folder))
    if json:
        print_json(found)
    else:
        from support_agent.rendering.policy_lint import print_findings  # noqa: PLC0415 - Rich is slow to load

        print_findings(found)
    if found:
        raise typer.Exit(1)


@app.command()
def suggest(
    *,
    tenant: Tenant,
    since: Annotated[str | None, typer.Option(help="Of questions recorded from then on; default all.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Of the newest questions.")] = 10_000,
    at_least: Annotated[int, typer.Option(min=1, help="Different questions that a group must have.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Folder for a file a draft; default all are printed.")] = None,
    json: Json = False,
) -> None:
    """Group the recorded questions that no playbook recognised, and draft a playbook for each group. No model is asked.

    Order numbers, e-mail addresses and longer numbers are left out. Every draft is off until somebody has looked at it.

    Example: support-agent playbooks suggest --tenant lumen --out acme/playbooks

    Exit codes: 0 drafted, or nothing to draft; 1 no such tenant; 2 usage, or a file is there already.
    """
    drafts = with_application(
        lambda application: playbook_suggestions.suggest(
            application, tenant, since=since, limit=limit, at_least=at_least, progress=talk
        )
    )
    files = playbook_suggestions.write(drafts, out) if out is not None else []
    if json:
        print_json(drafts)
    elif out is not None:
        for file, draft in zip(files, drafts, strict=True):
            say(f"{file}: {draft['n_questions']} questions, asked {draft['n_runs']} times")
        talk(f"Look at them, then: support-agent playbooks lint FOLDER --tenant {tenant}")
    else:
        say("---\n".join(draft["yaml"] for draft in drafts).rstrip("\n") or "Nothing to draft.")
