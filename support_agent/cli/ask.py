"""`support-agent ask`: one question, or a file of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TextIO

import orjson
import typer

from connectors.errors import SourceError
from policies.errors import PolicyError
from support_agent.bootstrap import Application, open_application
from support_agent.cli.options import Json, print_json, run_async, talk
from support_agent.errors import InvalidRequestError, NotFoundError, SupportAgentError
from support_agent.request import AskRequest, read_request, readable_id
from support_agent.settings import read_settings


def ask(  # noqa: PLR0913 - each is a flag of the command
    text: Annotated[str | None, typer.Argument(help="The question, in English or Chinese.")] = None,
    *,
    tenant: Annotated[str, typer.Option("--tenant", "-t", help="Slug of the tenant.")],
    customer: Annotated[str | None, typer.Option(help="Id of the customer who asks.")] = None,
    staff: Annotated[str | None, typer.Option(help="Id of a staff member who looks something up.")] = None,
    unverified: Annotated[bool, typer.Option("--unverified", help="Nobody vouches for the customer.")] = False,
    fact: Annotated[list[str] | None, typer.Option(help="KEY=VALUE, something the customer says; repeatable.")] = None,
    at: Annotated[str | None, typer.Option(help="Instant the question is asked; a bare date is noon there.")] = None,
    locale: Annotated[str | None, typer.Option(help="en or zh; without it the question decides.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Id of the conversation.")] = None,
    model: Annotated[str | None, typer.Option(help="Language model for open questions; none is used without.")] = None,
    input_file: Annotated[
        str | None, typer.Option("--input", help="Ask every line of this JSONL file (`-`: standard input).")
    ] = None,
    json: Json = False,
) -> None:
    """Ask a question as a customer or for one.

    Example: support-agent ask "Can I still get a refund for SO-1182?" --tenant lumen --customer C-2001

    Exit codes: 0 an outcome was reached, whatever it is; 1 it could not be; 2 usage.
    """
    if model is not None:
        raise InvalidRequestError("--model", "no model can be configured in this version; leave it out")
    request = AskRequest(
        question=text or "",
        tenant=tenant,
        customer=customer,
        staff=staff,
        verified=not unverified,
        facts=_facts(fact or []),
        at=at,
        locale=locale,
        conversation=conversation,
    )
    if (text is None) == (input_file is None):
        raise InvalidRequestError("TEXT", "give a question, or --input FILE, and not both")
    if input_file is None:
        run_async(_ask_one(request, as_json=json))
    else:
        run_async(_ask_many(request, input_file))


async def _ask_one(request: AskRequest, *, as_json: bool) -> None:
    async with open_application(read_settings()) as application:
        answered = await application.ask(request)
    if as_json:
        print_json(answered.contract)
        return
    from support_agent.rendering.terminal import print_outcome  # noqa: PLC0415 - Rich is slow to load and JSON needs none

    print_outcome(answered.run.outcome, question=answered.run.question.text, contract=answered.contract)


async def _ask_many(defaults: AskRequest, name: str) -> None:
    n_bad = n_asked = 0
    with _lines(name) as lines:
        async with open_application(read_settings()) as application:
            for line in lines:
                if not line.strip():
                    continue
                answer = await _ask_line(application, line, defaults)
                n_asked += 1
                n_bad += "error" in answer
                sys.stdout.buffer.write(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE))
                sys.stdout.buffer.flush()
                if sys.stderr.isatty():
                    sys.stderr.write(f"\r{n_asked} asked, {n_bad} with errors")
                    sys.stderr.flush()
    talk("" if sys.stderr.isatty() else f"{n_asked} asked, {n_bad} with errors")


async def _ask_line(application: Application, line: str, defaults: AskRequest) -> dict[str, object]:
    """The outcome of one line; a line that cannot be asked gives its error and the rest go on."""
    request_id = readable_id(line)
    try:
        request = read_request(line, defaults=replace(defaults, id=None))
        answered = await application.ask(request)
    except (SupportAgentError, PolicyError, SourceError) as error:
        if isinstance(error, NotFoundError) and (error.kind, error.name) == ("tenant", defaults.tenant):
            # The flag's fault, not the line's: every line without a tenant of its own would fail alike.
            raise
        return {"id": request_id, "error": {"code": error.code, "message": str(error)}}
    return {"id": request.id, **answered.contract}


@contextmanager
def _lines(name: str) -> Iterator[TextIO]:
    if name == "-":
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")  # type: ignore[union-attr]  # a text stream outside tests
        yield sys.stdin
        return
    try:
        # A line that is not UTF-8 is that line's fault, not the file's: it is refused where it is read.
        file = Path(name).open(encoding="utf-8-sig", errors="surrogateescape")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InvalidRequestError("--input", f"cannot be read: {error.strerror}") from error
    with file:
        yield file


def _facts(pairs: list[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise InvalidRequestError("--fact", "must be KEY=VALUE")
        if key in facts:
            raise InvalidRequestError("--fact", f"states {key!r} twice")
        facts[key] = value
    return facts
