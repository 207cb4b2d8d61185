"""From a URL to an engine whose connections act as the application role.

Connections are in the driver's autocommit mode: `tenancy.open_session` begins and ends transactions itself, which saves
a round trip a question; a statement outside of one has no tenant and sees nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString
from urllib.parse import urlsplit

from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from support_agent.errors import DatabaseNotReadyError

APPLICATION_ROLE: Final = "support_agent_app"
OWNER_ROLE: Final = "support_agent_owner"

#: What every transaction of the application role is bound to; `database prepare` sets it on the role too.
ROLE_SETTINGS: Final[dict[LiteralString, LiteralString]] = {
    "search_path": "public",
    "statement_timeout": "'30s'",
    "lock_timeout": "'5s'",
    "idle_in_transaction_session_timeout": "'60s'",
    # The access paths of the statements that questions pay for are fixed in their text: planning them again with each
    # question's values costs more than running them, and so would compiling them.
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    # A plan made while a table is small stays after it has grown, and every table has an index that starts with the
    # tenant.
    "enable_seqscan": "off",
    # Instants come as UTC.
    "timezone": "'UTC'",
}
ACT_AS_APPLICATION: Final = "; ".join(
    [f"SET ROLE {APPLICATION_ROLE}", *(f"SET {name} = {value}" for name, value in ROLE_SETTINGS.items())]
)


def create_engine(url: str, *, pool_size: int = 16, wait_s: float = 10.0) -> AsyncEngine:
    """An engine for the database at `url`; connects when first used.

    Args:
        url: `postgresql://…`; its login is, or may act as, the application role.
        pool_size: Connections at most; further sessions wait for one.
        wait_s: How long they wait.

    Raises:
        DatabaseNotReadyError: The URL is not one of PostgreSQL.
    """
    engine = create_async_engine(
        driver_url(url), pool_size=pool_size, max_overflow=0, pool_timeout=wait_s, isolation_level="AUTOCOMMIT"
    )
    event.listen(engine.sync_engine, "connect", _act_as_application)
    return engine


def driver_url(url: str) -> URL:
    """`url` for SQLAlchemy with our driver.

    Raises:
        DatabaseNotReadyError: The URL is not one of PostgreSQL.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # A port or an IPv6 address that is none is a plain ValueError.
        parsed = None
    if parsed is None or parsed.get_backend_name() not in {"postgresql", "postgres"}:
        raise DatabaseNotReadyError(
            "DATABASE_URL",
            problem="the URL is not one of PostgreSQL",
            remedy="Write postgresql://user:password@host:5432/database",
        )
    return parsed.set(drivername="postgresql+psycopg")


def place(url: str) -> str:
    """Host, port and database of `url`, for messages; never the user or the password."""
    parts = urlsplit(url)
    socket_or_host = parts.hostname or "a local socket"
    return f"{socket_or_host}:{parts.port or 5432}{parts.path}"


def _act_as_application(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy's adapted connection
    """Give a login that is more than the application role no more rights than that."""
    cursor = connection.cursor()
    try:
        cursor.execute("select current_user::text")
        rows: Sequence[tuple[str]] = cursor.fetchall()
        if rows[0][0] != APPLICATION_ROLE:
            cursor.execute(ACT_AS_APPLICATION)
    finally:
        cursor.close()
