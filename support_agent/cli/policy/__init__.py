"""`support-agent policy`: the versioned policies of a tenant, one module a group of commands."""

from __future__ import annotations

import typer

from support_agent.cli.policy import catalogue, changes, folders, impact, lifecycle, lint, terms, vectors

app = typer.Typer(help="The versioned policies of a tenant.", no_args_is_help=True)
for group in (folders.app, catalogue.app, changes.app, lifecycle.app, lint.app, impact.app, vectors.app):
    app.registered_commands.extend(group.registered_commands)
app.add_typer(terms.app, name="terms")
