"""What a person at a terminal is asked before a policy changes, and what comes of each reply."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, TIMEOUT_S, Command
from tests.e2e.test_policy_lifecycle import ADA, BOB, NEW, TENANT, acme, approve, submit, text

__all__ = ["acme"]
SCRIPT = [sys.executable, "-c", "from support_agent.cli.start import run; run()"]


def at_a_terminal(command: Command, *arguments: str, reply: str) -> tuple[int, str]:
    """Run the command at a terminal of its own and type `reply` once it asks; the exit code and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*SCRIPT, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT,
        env={**command.environment, "TERM": "xterm", "COLUMNS": "200"}, start_new_session=True,
        # Only then does Ctrl-C reach it.
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one system call, no lock
    )  # fmt: skip
    os.close(theirs)
    shown, typed = "", False
    deadline = time.monotonic() + TIMEOUT_S
    while piece := _read(ours, deadline):
        shown += piece
        if "[y/N]" in shown and not typed:
            os.write(ours, reply.encode())
            typed = True
    os.close(ours)
    return process.wait(TIMEOUT_S), " ".join(shown.split())


def _read(terminal: int, deadline: float) -> str:
    """What is shown next; nothing when the other side has hung up, or too late."""
    ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
    try:
        return os.read(terminal, 4096).decode(errors="replace") if ready else ""
    except OSError:
        return ""


def state(command: Command) -> str:
    versions = command("policy", "list", *TENANT, "--json").json
    return repr(versions)


@pytest.fixture
def reviewed(acme: Command, tmp_path: Path) -> Command:
    """A tenant with a draft in review."""
    submit(acme, tmp_path, "2025-02-01", text("2025-02-01"))
    return acme


@pytest.mark.parametrize("reply", ["n\n", "\n", "\x04", "\x03", "maybe\nn\n"])
def test_whatever_is_no_yes_changes_nothing(reviewed: Command, reply: str) -> None:
    before = state(reviewed)
    code, shown = at_a_terminal(reviewed, "policy", "approve", NEW, *TENANT, *BOB, reply=reply)

    assert code != 0
    assert "Traceback" not in shown
    assert state(reviewed) == before


def test_approval_shows_the_change_and_names_tenant_and_person(reviewed: Command) -> None:
    code, shown = at_a_terminal(reviewed, "policy", "approve", NEW, *TENANT, *BOB, reply="y\n")

    assert code == 0, shown
    assert {"30", "14"} <= set(re.findall("[0-9]+", shown.partition("[y/N]")[0]))
    assert "for tenant 'acme' as 'bob'" in shown
    assert "approved" in shown.partition("[y/N]")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("discard", NEW, "--why", "no need"), f"Discard the draft of {NEW} of tenant 'acme'?"),
        (("publish", NEW), f"Publish {NEW} for tenant 'acme' as 'bob'?"),
    ],
)
def test_what_cannot_be_taken_back_names_tenant_and_version(
    reviewed: Command, arguments: tuple[str, ...], said: str
) -> None:
    approve(reviewed, NEW)
    refused, shown = at_a_terminal(reviewed, "policy", *arguments, *TENANT, *BOB, reply="n\n")
    done, _ = at_a_terminal(reviewed, "policy", *arguments, *TENANT, *BOB, reply="y\n")

    assert said in shown
    assert (refused != 0, done) == (True, 0)


def test_where_nobody_can_be_asked_yes_must_be_given(reviewed: Command) -> None:
    before = state(reviewed)
    done = reviewed("policy", "approve", NEW, *TENANT, *BOB)

    assert done.code == 2
    assert "--yes" in done.said
    assert state(reviewed) == before


def test_the_author_is_refused_before_anything_is_asked(reviewed: Command) -> None:
    code, shown = at_a_terminal(reviewed, "policy", "approve", NEW, *TENANT, *ADA, reply="y\n")

    assert code == 1
    assert "[y/N]" not in shown or "approved" not in shown.partition("[y/N]")[2]
