"""Options that several commands share, and how a result is printed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Annotated, Any, TypeAlias, TypeVar

import orjson
import typer

Tenant: TypeAlias = Annotated[str, typer.Option("--tenant", "-t", help="Slug of the tenant.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
KnownAt: TypeAlias = Annotated[str | None, typer.Option("--known-at", help="As the store knew it then; default now.")]

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run one command's work to its end."""
    return asyncio.run(work)


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
