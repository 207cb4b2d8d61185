"""The console script. It loads nothing until whoever presses Ctrl-C gets one line and no traceback."""

from __future__ import annotations

import os
import sys
from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal
from types import FrameType

#: Exit code of a command that Ctrl-C has stopped.
STOPPED = 130


def run() -> None:
    """Load the commands, then run them."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _stop_at_once)
    from support_agent.cli.main import run as run_command  # noqa: PLC0415 - slow to load, and Ctrl-C must not wait for it

    if getsignal(SIGINT) is _stop_at_once:
        signal(SIGINT, default_int_handler)
    try:
        run_command()
    except KeyboardInterrupt:
        # Before its work or after it: work under way says for itself what was undone.
        sys.stderr.write("stopped\n")
        sys.exit(STOPPED)
    finally:
        # What there was to do is done, and told.
        if getsignal(SIGINT) is default_int_handler:
            signal(SIGINT, SIG_IGN)


def _stop_at_once(number: int, frame: FrameType | None) -> None:
    """Nothing has begun that would have to be undone."""
    del number, frame
    sys.stderr.write("stopped before anything was done\n")
    sys.stderr.flush()
    os._exit(STOPPED)
