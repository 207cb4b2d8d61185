"""`support-agent` as a person or a script runs it: as a process, or in this one where a process would cost a second."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support_agent.cli.main import run

ROOT = Path(__file__).parents[2]
#: The console script, without need of an installed one.
_SCRIPT = [sys.executable, "-c", "from support_agent.cli.start import run; run()"]
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON values on standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def said(self) -> str:
        """Everything printed, as one line: where a sentence breaks depends on the width of the terminal."""
        return " ".join(f"{self.out} {self.err}".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`support-agent` with an environment of its own."""

    environment: Mapping[str, str]

    @classmethod
    def on(cls, database_url: str, *, data: Path) -> Command:
        """On a database, without sentence vectors, with nothing of the tester's own settings."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
        said = {"DATABASE_URL": database_url, "SUPPORT_AGENT_DATA": str(data), "SUPPORT_AGENT_VECTORS": "off"}
        return cls(environment={**kept, **said, "COLUMNS": "200", "NO_COLOR": "1"})

    def having(self, **environment: str) -> Command:
        return replace(self, environment={**self.environment, **environment})

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result:
        """Run it in this process; any exception that the command itself does not turn into a sentence is raised."""
        printed = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in printed)
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "argv", ["support-agent", *arguments]),
            patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = _exit_code()
        return Result(code=code, out=printed[0].getvalue().decode(), err=printed[1].getvalue().decode())

    def process(self, *arguments: str, stdin: bytes = b"") -> Result:
        """Run it as a process of its own."""
        done = subprocess.run(
            [*_SCRIPT, *arguments],
            input=stdin,
            capture_output=True,
            env=dict(self.environment),
            cwd=ROOT,
            timeout=TIMEOUT_S,
            check=False,
        )
        return Result(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it as a process, which the caller waits for or kills."""
        return subprocess.Popen(
            [*_SCRIPT, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self.environment),
            cwd=ROOT,
        )


def _exit_code() -> int:
    try:
        run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
