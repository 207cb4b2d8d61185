"""The environment, read once at the edge; inner code gets plain arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What this installation is told from outside."""

    #: URL of the application role; None: a local server is started.
    database_url: str | None
    #: URL of the role that owns the tables and migrates; None: the application URL's server has been prepared by hand.
    database_owner_url: str | None
    #: Folder of the local server's data.
    data_folder: Path
    #: Sentence vectors; without them search works on words alone and says so.
    vectors: bool
    #: The environment itself, for the names that a tenant's connectors give.
    environment: Mapping[str, str]


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read `DATABASE_URL`, `DATABASE_OWNER_URL`, `SUPPORT_AGENT_DATA` and `SUPPORT_AGENT_VECTORS` (`off`)."""
    env = os.environ if environment is None else environment
    return Settings(
        database_url=env.get("DATABASE_URL") or None,
        database_owner_url=env.get("DATABASE_OWNER_URL") or None,
        data_folder=Path(env.get("SUPPORT_AGENT_DATA") or ".support-agent"),
        vectors=env.get("SUPPORT_AGENT_VECTORS", "on").strip().lower() not in {"off", "0", "false", "no"},
        environment=dict(env),
    )
