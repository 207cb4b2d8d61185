"""`support-agent policy embed`: the sentence vectors that search by meaning compares."""

from __future__ import annotations

from typing import Annotated

import typer

from support_agent.administration import vectors
from support_agent.cli.options import Json, Tenant, print_json, say, talk, with_application

app = typer.Typer()


@app.command()
def embed(
    *,
    tenant: Tenant,
    model: Annotated[
        str | None,
        typer.Option(help="Model to change to: `local`, or one that pydantic-ai knows; default the model in use."),
    ] = None,
    json: Json = False,
) -> None:
    """Give passages the vectors that search by meaning needs: those that have none, or all by another model.

    Search goes on by the vectors there were until the new ones are complete. Stopped, it goes on where it was when it
    is started again.

    Example: support-agent policy embed --tenant lumen --model openai:text-embedding-3-small

    Exit codes: 0 done, 1 the model cannot be used, 2 usage.
    """
    done = with_application(lambda application: vectors.embed(application, tenant, model=model, progress=talk))
    if json:
        print_json(done)
        return
    say(f"{done['n_embedded']} texts given vectors, {done['n_deleted']} old vectors deleted.")
    say(f"{tenant} is searched by {done['model']}.")
