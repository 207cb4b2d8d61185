"""The history of the database, for Alembic; `support_agent.storage.schema` runs it."""
