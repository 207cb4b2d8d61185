"""The console script. It loads nothing until whoever presses Ctrl-C gets one line and no traceback."""

from __future__ import annotations

import os
import sys
from signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal
from types import FrameType


def run() -> None:
    """Load the commands, then run them."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, _stop_at_once)
    from support_agent.cli.main import run as run_command  # noqa: PLC0415 - slow to load, and Ctrl-C must not wait for it

    if getsignal(SIGINT) is _stop_at_once:
        signal(SIGINT, default_int_handler)
    try:
        run_command()
    finally:
        # What there was to do is done, and told.
        if getsignal(SIGINT) is default_int_handler:
            signal(SIGINT, SIG_IGN)


def _stop_at_once(number: int, frame: FrameType | None) -> None:
    """Nothing has begun that would have to be undone."""
    del number, frame
    sys.stderr.write("stopped before anything was done\n")
    sys.stderr.flush()
    os._exit(130)
