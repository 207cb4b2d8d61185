"""`support-agent database`: the server that everything is stored in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from support_agent.cli.options import Json, print_json, say
from support_agent.errors import InvalidRequestError
from support_agent.settings import Settings, read_settings
from support_agent.storage import embedded, schema

app = typer.Typer(help="The database: prepare, upgrade, look, stop the local one.", no_args_is_help=True)


@app.command()
def prepare(
    *,
    admin_url: Annotated[
        str | None,
        typer.Option("--admin-url", envvar="DATABASE_ADMIN_URL", help="URL of an administrator; not stored."),
    ] = None,
    json: Json = False,
) -> None:
    """Make the two roles, the database and its extensions, with an administrator's URL; what exists stays.

    Where DATABASE_URL and DATABASE_OWNER_URL hold the roles' passwords, the roles get them.

    Example: support-agent database prepare --admin-url postgresql://postgres:…@db.internal/support_agent

    Exit codes: 0 prepared, 1 refused with the reason, 2 usage.
    """
    settings = read_settings()
    if admin_url is None and settings.database_url is None:
        schema.ensure_local(_folder(settings))
    elif admin_url is None:
        raise InvalidRequestError("--admin-url", "is needed: only an administrator may make roles and extensions")
    else:
        urls = [url for url in (settings.database_url, settings.database_owner_url) if url]
        schema.prepare(admin_url, urls=urls)
    _done(
        {"prepared": True}, "Roles, database and extensions are there. Next: support-agent database upgrade", json=json
    )


@app.command()
def upgrade(*, json: Json = False) -> None:
    """Bring the tables to the newest revision, as the owner.

    The URL is DATABASE_OWNER_URL, else DATABASE_URL, else that of the local server.

    Example: support-agent database upgrade

    Exit codes: 0 upgraded, 1 refused with the reason, 2 usage.
    """
    settings = read_settings()
    url = settings.database_owner_url or settings.database_url
    if url is None:
        schema.ensure_local(_folder(settings))
    else:
        schema.upgrade(url)
    _done({"revision": schema.head()}, f"The tables are at revision {schema.head()}.", json=json)


@app.command()
def stop(*, json: Json = False) -> None:
    """Stop the local server; its data stays, and the next command starts it again.

    Example: support-agent database stop
    """
    stopped = embedded.stop(_folder(read_settings()))
    _done({"stopped": stopped}, "Stopped." if stopped else "No local server was running.", json=json)


def _folder(settings: Settings) -> Path:
    return settings.data_folder / "postgres"


def _done(result: dict[str, object], message: str, *, json: bool) -> None:
    if json:
        print_json(result)
    else:
        say(message)
