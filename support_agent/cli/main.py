"""`support-agent`: the commands, and what a failure looks like.

Exit codes: 0 an outcome was reached or the work is done, 1 it could not be done (the reasons are printed), 2 usage.
With `--json`, standard output holds one value even then: `{"error": {"code", "message", "retryable", "faults"}}`, where
`faults` is what is wrong with written input, each with path and line.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from connectors.errors import SourceError
from policies.errors import PolicyError, PolicyParseError
from support_agent.cli import ask, database, escalation, explain, glossary, playbooks, policy, tenant
from support_agent.cli.options import print_json, say, talk
from support_agent.errors import InvalidRequestError, SupportAgentError

app = typer.Typer(
    name="support-agent",
    help="Customer support answers that hold up: dated, cited, and never a side taken in silence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("ask")(ask.ask)
app.command("explain")(explain.explain)
app.add_typer(tenant.app, name="tenant")
app.add_typer(policy.app, name="policy")
app.add_typer(playbooks.app, name="playbooks")
app.add_typer(glossary.app, name="glossary")
app.add_typer(escalation.app, name="escalation")
app.add_typer(database.app, name="database")


def _version(wanted: bool) -> None:  # noqa: FBT001 - Typer hands the flag over
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - only this flag needs it

        say(version("support-agent"))
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version


def run() -> None:
    """The console script: a user's mistake ends in a sentence, never in a traceback."""
    try:
        app()
    except InvalidRequestError as error:
        _fail(error, code=2)
    except (SupportAgentError, PolicyError, SourceError) as error:
        _fail(error, code=1)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(1)


def _fail(error: SupportAgentError | PolicyError | SourceError, *, code: int) -> None:
    talk(f"support-agent: {error}")
    if "--json" in sys.argv:
        print_json({"error": _error_json(error)})
    sys.exit(code)


def _error_json(error: SupportAgentError | PolicyError | SourceError) -> dict[str, object]:
    said: dict[str, object] = {"code": error.code, "message": str(error), "retryable": error.retryable}
    if isinstance(error, PolicyParseError):
        said["faults"] = [asdict(fault) for fault in error.faults]
    return said
