"""`support-agent glossary`: what customers say for the terms of the documents."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from support_agent.administration import glossary, glossary_suggestions
from support_agent.cli.options import By, Json, Tenant, now_and_then, person, print_json, say, talk, with_application

app = typer.Typer(help="What customers say for the terms of the documents.", no_args_is_help=True)

At = Annotated[
    str | None, typer.Option(help="When documents must be in force, a date or an instant with offset; default now.")
]
Says = Annotated[str, typer.Argument(metavar="SAYS", help="What customers say, in English or Chinese.")]


class Language(StrEnum):
    EN = "en"
    ZH = "zh"
    BOTH = "both"


@app.command("list")
def list_entries(
    *,
    tenant: Tenant,
    removed: Annotated[bool, typer.Option("--removed", help="Those that were removed, too.")] = False,
    json: Json = False,
) -> None:
    """List the entries, with who added and removed them and when.

    Example: support-agent glossary list --tenant lumen --removed

    Exit codes: 0 listed, 1 no such tenant, 2 usage.
    """
    found = with_application(lambda application: glossary.listed(application, tenant, removed=removed))
    if json:
        print_json(found)
        return
    from support_agent.rendering.glossary import print_entries  # noqa: PLC0415 - Rich is slow to load

    print_entries(found)


@app.command()
def add(
    says: Says,
    means: Annotated[str, typer.Argument(metavar="MEANS", help="The documents' term, in either language.")],
    *,
    tenant: Tenant,
    language: Annotated[Language, typer.Option(help="Of the questions in which it is read.")] = Language.BOTH,
    at: At = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Add what customers say for a term: questions then also find what the documents say of that term.

    Example: support-agent glossary add "cash back" refund --tenant lumen --by ada

    Exit codes: 0 added, 1 refused with every reason, 2 usage.
    """
    who = person(by)
    done = with_application(
        lambda application: glossary.add(application, tenant, says, means, language=language.value, by=who, at=at)
    )
    if json:
        print_json(done)
        return
    say(f"{done['says']} → {done['means']}")
    for finding in done["findings"]:
        talk(f"warning: {finding['message']}; {finding['remedy']}")


@app.command()
def remove(
    says: Says,
    means: Annotated[
        str | None, typer.Argument(metavar="[MEANS]", help="Only the entry with this term; default all of the phrase.")
    ] = None,
    *,
    tenant: Tenant,
    by: By = None,
    json: Json = False,
) -> None:
    """Remove entries; the record keeps them, and who removed them.

    Example: support-agent glossary remove "cash back" --tenant lumen --by ada

    Exit codes: 0 removed, 1 no such entry, 2 usage.
    """
    who = person(by)
    done = with_application(lambda application: glossary.remove(application, tenant, says, means=means, by=who))
    if json:
        print_json(done)
        return
    for entry in done:
        say(f"removed {entry['says']} → {entry['means']}")


@app.command()
def lint(*, tenant: Tenant, at: At = None, json: Json = False) -> None:
    """Say what is wrong with the glossary: terms that no document in force has, phrases that one has, circles.

    Example: support-agent glossary lint --tenant lumen --at 2027-01-01

    Exit codes: 0 nothing found, 1 something found, each with what to do; 2 usage.
    """
    found = with_application(lambda application: glossary.linted(application, tenant, at=at))
    if json:
        print_json(found)
    else:
        from support_agent.rendering.glossary import print_findings  # noqa: PLC0415 - Rich is slow to load

        print_findings(found)
    if found:
        raise typer.Exit(1)


@app.command()
def suggest(
    *,
    tenant: Tenant,
    since: Annotated[str | None, typer.Option(help="Only questions recorded from then on.")] = None,
    questions: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many are read.")] = 1_000,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Phrases at most.")] = 20,
    at: At = None,
    json: Json = False,
) -> None:
    """Suggest phrases from the questions that found nothing: what they say and no document in force has.

    Those of most questions come first, each with terms that it may stand for. Nothing is added.

    Example: support-agent glossary suggest --tenant lumen --since 2026-11-01

    Exit codes: 0 done, whatever was found; 1 no such tenant; 2 usage.
    """
    found = with_application(
        lambda application: glossary_suggestions.suggested(
            application,
            tenant,
            since=since,
            n_questions=questions,
            limit=limit,
            at=at,
            progress=now_and_then(talk),
        )
    )
    if json:
        print_json(found)
        return
    from support_agent.rendering.glossary import print_suggestions  # noqa: PLC0415 - Rich is slow to load

    print_suggestions(found)
