"""What travels between us and PostgreSQL, counted on the wire: libpq writes down every message of a connection."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.pq import Trace
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Messages since the last look."""

    #: Statements that the server completed, begin and commit included, however they travelled.
    n_statements: int
    #: Statements that it was given to plan.
    n_parsed: int
    #: Times that we waited for it.
    n_round_trips: int


class Wire:
    """The messages of every connection that an engine makes from now on."""

    def __init__(self, engine: AsyncEngine, file: Path) -> None:
        self._file = file
        self._read = 0
        file.touch()
        event.listen(engine.sync_engine, "connect", self._trace)

    def traffic(self) -> Traffic:
        """What has travelled since this was last asked."""
        with self._file.open("rb") as file:
            file.seek(self._read)
            lines = file.read().splitlines()
            self._read = file.tell()
        # Sender, length, message, content.
        messages = Counter((fields[0], fields[2].strip()) for line in lines if len(fields := line.split(b"\t")) > 2)
        return Traffic(
            n_statements=messages[b"B", b"CommandComplete"],
            n_parsed=messages[b"F", b"Parse"],
            n_round_trips=messages[b"B", b"ReadyForQuery"],
        )

    def _trace(self, connection: Any, _record: object) -> None:
        libpq = connection.driver_connection.pgconn
        # Each connection has a file of its own to close, all of them write at its end.
        libpq.trace(os.open(self._file, os.O_WRONLY | os.O_APPEND))
        libpq.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
