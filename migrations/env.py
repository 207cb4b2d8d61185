"""Runs revisions on the connection that `support_agent.storage.schema` hands over, as the role that owns the tables."""

from __future__ import annotations

from alembic import context

from support_agent.storage.tables import metadata


def run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise RuntimeError("revisions run through `support-agent database upgrade`, which knows database and role")
    context.configure(
        connection=connection, target_metadata=metadata, compare_type=True, compare_server_default=True,
        transaction_per_migration=True,
    )  # fmt: skip
    with context.begin_transaction():
        context.run_migrations()


run()
