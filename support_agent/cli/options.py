"""Options that several commands share, how their work is run, and how a result is printed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import orjson
import typer

from support_agent.bootstrap import Application, open_application
from support_agent.cli.start import STOPPED
from support_agent.errors import InvalidRequestError
from support_agent.settings import read_settings

#: Names the person at the terminal to every command that changes a policy.
PERSON: Final = "SUPPORT_AGENT_PERSON"
MAX_PERSON: Final = 200

Tenant: TypeAlias = Annotated[str, typer.Option("--tenant", "-t", help="Slug of the tenant.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
KnownAt: TypeAlias = Annotated[str | None, typer.Option("--known-at", help="As the store knew it then; default now.")]

T = TypeVar("T")


By: TypeAlias = Annotated[
    str | None, typer.Option("--by", help="Who does it; without it, the environment variable SUPPORT_AGENT_PERSON.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def person(by: str | None) -> str:
    """Who acts: the flag, else the environment.

    Raises:
        InvalidRequestError: Neither says.
    """
    name = " ".join((by or os.environ.get(PERSON, "")).split())
    if not name or not name.isprintable() or len(name) > MAX_PERSON:
        raise InvalidRequestError("--by", f"must name who does this, in 200 characters at most, or set {PERSON}")
    return name


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if a person says so.

    Raises:
        InvalidRequestError: There is no person to ask, and `yes` was not said.
        typer.Abort: They said no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidRequestError("--yes", f"is needed where nobody can be asked: {question}")
    typer.confirm(question, abort=True, err=True)


def with_application(work: Callable[[Application], Coroutine[Any, Any, T]]) -> T:
    """What one command's work with the application gives.

    Raises:
        typer.Exit: It was stopped.
    """

    async def run() -> T:
        async with open_application(read_settings()) as application:
            return await work(application)

    return run_async(run())


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run one command's work to its end, or until Ctrl-C.

    Raises:
        typer.Exit: It was stopped.
    """
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        talk("stopped; what had not been committed is undone")
        raise typer.Exit(STOPPED) from None


def print_json(value: object) -> None:
    """One JSON value on standard output, indented where a person reads it."""
    option = orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0
    sys.stdout.buffer.write(orjson.dumps(value, option=option | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A result in words, on standard output."""
    sys.stdout.write(f"{text}\n")


def talk(message: str) -> None:
    """Say something to the person at the terminal, apart from the result."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


def now_and_then(tell: Callable[[str], None], *, every_s: float = 2.0) -> Callable[[str], None]:
    """`tell` for what happens often: it is told what has passed `every_s` after the last time, and the rest is not."""
    last = time.monotonic()

    def told(message: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= every_s:
            last = now
            tell(message)

    return told
