"""`support-agent policy new|submit|correct|withdraw|rollback|review|approve|discard|publish|schedule`: changes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import CallbackParam

from support_agent.administration import changes, lifecycle
from support_agent.cli.options import By, Json, Tenant, Yes, confirm, person, print_json, say, talk, with_application
from support_agent.errors import InvalidRequestError

app = typer.Typer()


def _readable(text: str | None, param: CallbackParam) -> str | None:
    """Refuse a blank, which says nothing, and bytes that are no text, which cannot be stored."""
    if text is None:
        return None
    if not text.strip() or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InvalidRequestError(param.opts[0], "must be words, in UTF-8")
    return text


File = Annotated[Path, typer.Argument(help="VERSION.md; terms may stand beside it in VERSION.terms.yaml.")]
Name = Annotated[str, typer.Argument(metavar="POLICY@VERSION", callback=_readable)]
Why = Annotated[str | None, typer.Option("--why", help="The reason, kept in the log.", callback=_readable)]
Reason = Annotated[str, typer.Option("--why", help="The reason, kept in the log.", callback=_readable)]
From = Annotated[str, typer.Option("--from", help="A date (midnight in the policy's zone) or an instant with offset.")]

_SAYS = {
    "in_review": "is in review; a second person approves it: policy approve {name}",
    "approved": "is approved; publish it (policy publish {name}) or, if its date lies ahead, schedule it",
    "draft": "is back with its author",
    "discarded": "is discarded",
}


@app.command()
def new(
    policy: Annotated[str, typer.Argument(help="Policy id.")],
    *,
    tenant: Tenant,
    from_version: Annotated[
        str | None, typer.Option("--from", help="Version to copy; default the one in force now.")
    ] = None,
    effective_from: Annotated[
        str | None, typer.Option(help="Start of the new version, a date or an instant; default today.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: START.md here.")] = None,
    json: Json = False,
) -> None:
    """Write a file to edit: a copy of a version with a new start, or a skeleton of a new policy. Nothing is stored.

    Example: support-agent policy new refund-eu --tenant lumen --effective-from 2027-03-01

    Exit codes: 0 written, 1 no such version, 2 usage, or the file is there already.
    """
    written = with_application(
        lambda application: lifecycle.new(
            application, tenant, policy, from_version=from_version, effective_from=effective_from, output=output
        )
    )
    if json:
        print_json(written)
        return
    copied = f"a copy of {policy}@{written['from']}" if written["from"] else "a skeleton"
    say(f"{written['file']}: {copied}, effective from {written['effective_from']}.")
    talk(f"Edit it, then: support-agent policy lint {written['file']} --tenant {tenant}")


@app.command()
def submit(file: File, *, tenant: Tenant, by: By = None, why: Why = None, json: Json = False) -> None:
    """Put a new version in review. Submitting it again replaces the text, and any approval of the old one is void.

    Example: support-agent policy submit 2027-03-01.md --tenant lumen --by alice

    Exit codes: 0 in review, 1 refused with every fault, its path and line; 2 usage.
    """
    who = person(by)
    draft = with_application(lambda application: lifecycle.submit(application, tenant, file, by=who, why=why))
    _print_draft(draft, as_json=json)


@app.command()
def correct(
    file: File,
    *,
    tenant: Tenant,
    why: Annotated[str, typer.Option("--why", help="What was wrong, kept in the log.", callback=_readable)],
    by: By = None,
    json: Json = False,
) -> None:
    """Put a correction of a published version in review; what it said until then stays known.

    Example: support-agent policy correct 2025-02-01.md --tenant lumen --by alice --why "typing error in clause 2"

    Exit codes: 0 in review, 1 refused, 2 usage.
    """
    who = person(by)
    draft = with_application(lambda application: lifecycle.correct(application, tenant, file, by=who, why=why))
    _print_draft(draft, as_json=json)


@app.command()
def withdraw(
    name: Name,
    *,
    tenant: Tenant,
    start: From,
    why: Reason,
    by: By = None,
    json: Json = False,
) -> None:
    """Put the end of a published version in review; from that date no version governs, unless another begins then.

    Example: support-agent policy withdraw pets@2026-01-01 --tenant acme --from 2027-01-01 --why "no shops left"

    Exit codes: 0 in review, 1 refused, 2 usage.
    """
    who = person(by)
    draft = with_application(
        lambda application: lifecycle.withdraw(application, tenant, name, start=start, by=who, why=why)
    )
    _print_draft(draft, as_json=json)


@app.command()
def rollback(
    name: Name,
    *,
    tenant: Tenant,
    start: From,
    why: Reason,
    version: Annotated[str | None, typer.Option(help="Name of the new version; default its start.")] = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Put a new version with the text of an old one in review. History is not touched.

    Example: support-agent policy rollback refund-eu@2024-01-01 --tenant lumen --from 2027-06-01 --why "too strict"

    Exit codes: 0 in review, 1 refused, 2 usage.
    """
    who = person(by)
    draft = with_application(
        lambda application: lifecycle.roll_back(
            application, tenant, name, start=start, version=version, by=who, why=why
        )
    )
    _print_draft(draft, as_json=json)


@app.command()
def approve(
    name: Name,
    *,
    tenant: Tenant,
    send_back: Annotated[bool, typer.Option("--return", help="Send it back to its author instead.")] = False,
    by: By = None,
    why: Why = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Approve what is in review, as another person than its author; exactly that content may then be published.

    It is shown before it is asked about; with --yes, look at it first: support-agent policy review.

    Example: support-agent policy approve refund-eu@2027-03-01 --tenant lumen --by bob

    Exit codes: 0 approved or sent back, 1 refused, 2 usage.
    """
    who = person(by)
    if send_back:
        if why is None:
            raise InvalidRequestError("--why", "is needed with --return: the author has to know")
        reason = why
        draft = with_application(lambda application: lifecycle.send_back(application, tenant, name, by=who, why=reason))
        _print_draft(draft, as_json=json)
        return
    found = with_application(lambda application: changes.review(application, tenant, name))
    seen = found["draft"]
    if not yes and sys.stdin.isatty():
        _print_review(found, beside_result=True)
    said = f"{seen['kind']} {name} by {seen['author']!r}, content {seen['sha256'][:12]}"
    confirm(f"Approve the {said}, for tenant {tenant!r} as {who!r}?", yes=yes)
    draft = with_application(
        lambda application: lifecycle.approve(application, tenant, name, by=who, why=why, seen=seen["sha256"])
    )
    _print_draft(draft, as_json=json)


@app.command()
def review(name: Name, *, tenant: Tenant, json: Json = False) -> None:
    """Show what an open draft would change: against what is published, or whole where nothing is.

    Example: support-agent policy review refund-eu@2027-03-01 --tenant lumen

    Exit codes: 0 shown, 1 there is no open draft, 2 usage.
    """
    found = with_application(lambda application: changes.review(application, tenant, name))
    if json:
        print_json(found)
    else:
        _print_review(found)


@app.command()
def discard(
    name: Name, *, tenant: Tenant, by: By = None, why: Why = None, yes: Yes = False, json: Json = False
) -> None:
    """Give up what is in review or approved and not yet published.

    Example: support-agent policy discard refund-eu@2027-03-01 --tenant lumen --by alice

    Exit codes: 0 discarded, 1 there is no open draft, 2 usage.
    """
    who = person(by)
    confirm(f"Discard the draft of {name} of tenant {tenant!r}?", yes=yes)
    draft = with_application(lambda application: lifecycle.discard(application, tenant, name, by=who, why=why))
    _print_draft(draft, as_json=json)


@app.command()
def publish(name: Name, *, tenant: Tenant, by: By = None, yes: Yes = False, json: Json = False) -> None:
    """Publish what is approved and whose date has come.

    Example: support-agent policy publish refund-eu@2025-02-01 --tenant lumen --by alice

    Exit codes: 0 published, 1 refused with the reason, 2 usage.
    """
    _publish(name, tenant, by=by, yes=yes, scheduled=False, json=json)


@app.command()
def schedule(name: Name, *, tenant: Tenant, by: By = None, yes: Yes = False, json: Json = False) -> None:
    """Publish what is approved and whose date lies ahead; it governs from that date on its own.

    Example: support-agent policy schedule refund-eu@2027-03-01 --tenant lumen --by alice

    Exit codes: 0 scheduled, 1 refused with the reason, 2 usage.
    """
    _publish(name, tenant, by=by, yes=yes, scheduled=True, json=json)


def _publish(name: str, tenant: str, *, by: str | None, yes: bool, scheduled: bool, json: bool) -> None:
    who = person(by)
    verb = "Schedule" if scheduled else "Publish"
    confirm(f"{verb} {name} for tenant {tenant!r} as {who!r}?", yes=yes)
    done = with_application(
        lambda application: lifecycle.publish(application, tenant, name, scheduled=scheduled, by=who)
    )
    if json:
        print_json(done)
        return
    verb = "no longer governs" if done["kind"] == "withdrawal" else "governs"
    say(f"{name}: {done['state']}; it {verb} from {done['effective_from']}.")


def _print_review(found: dict[str, Any], *, beside_result: bool = False) -> None:
    from support_agent.rendering.policy_lifecycle import print_review  # noqa: PLC0415 - Rich is slow to load

    print_review(found, file=sys.stderr if beside_result else sys.stdout)


def _print_draft(draft: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(draft)
        return
    name = f"{draft['policy']}@{draft['version']}"
    for warning in draft.get("warnings", ()):
        talk(f"{warning['path']}:{warning['line']}: warning: {warning['message']}: {warning['remedy']}")
    say(f"{name}: the {draft['kind']} {_SAYS[draft['state']].format(name=name)}.")
