"""The whole service on a database of its own, in-process."""

from __future__ import annotations

from tests.integration.conftest import new_database, server, template

__all__ = ["new_database", "server", "template"]
