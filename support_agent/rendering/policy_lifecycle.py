"""What is in review on the terminal, for the person who approves it.

Input: what `support_agent.administration.changes.review` gives as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rich.console import Console
from rich.text import Text

from support_agent.rendering.policy_changes import print_diff


def print_review(found: Mapping[str, Any], *, file: IO[str]) -> None:
    """Who wants what and why; then the change, or the whole text where there is nothing to compare it with."""
    draft = found["draft"]
    out = Console(highlight=False, file=file)
    name = f"{draft['policy']}@{draft['version']}"
    out.print(
        Text.assemble((name, "bold"), f"  {draft['kind']}, {draft['state'].replace('_', ' ')}, by {draft['author']!r}")
    )
    if draft["why"]:
        out.print(Text(f"  why: {draft['why']}"))
    if "withdrawn_from" in draft:
        out.print(Text(f"  it no longer governs from {draft['withdrawn_from']}", "red"))
    if "effective_from" in draft:
        out.print(Text(f"  it governs from {draft['effective_from']}"))
    if found["diff"] is not None:
        print_diff(found["diff"], file=file)
    if found["text"] is not None:
        # In a frame of line numbers, so that no line of the text passes for one of ours.
        for number, line in enumerate(found["text"].splitlines(), start=1):
            out.print(Text.assemble((f"{number:>5}  ", "dim"), line))
