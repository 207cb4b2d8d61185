"""What an import of policies comes to, on the terminal.

Input: what `support_agent.administration.folders` gives as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from rich.console import Console
from rich.text import Text

Row = Mapping[str, Any]

#: Versions of one policy that are named; of more, their number.
MAX_NAMED: Final = 5


def print_import(report: Row) -> None:
    """What changes, a line a policy; each correction says what differs."""
    out = Console(highlight=False, soft_wrap=True)
    for (policy, kind), group in groupby(report["changes"], key=lambda change: (change["policy"], change["change"])):
        for line in _lines(kind, list(group)):
            out.print(Text.assemble("  ", (policy, "bold"), f"  {line}"))
    done = "" if report["published"] else "would be "
    counts = ", ".join(
        f"{report[key]} {done if word != 'unchanged' else ''}{word}"
        for key, word in (("n_added", "added"), ("n_corrected", "corrected"), ("n_unchanged", "unchanged"))
        if report[key] or word != "corrected"
    )
    out.print(Text(f"{report['n_policies']} policies, {report['n_versions']} versions: {counts}."))


def _lines(kind: str, changes: Sequence[Row]) -> list[str]:
    if kind == "corrected":
        return [f"corrected {change['version']}: {', '.join(change['differs'])}" for change in changes]
    if kind == "period":
        return [
            f"{change['version']} now from {change['effective_from']} until before {change['effective_to']}"
            if change["effective_to"]
            else f"{change['version']} now from {change['effective_from']}"
            for change in changes
        ]
    named = [change["version"] for change in changes]
    if len(named) > MAX_NAMED:
        named = [f"{len(named)} versions, {named[0]} to {named[-1]}"]
    word = "added" if kind == "added" else "left out, withdrawn before it began:"
    return [f"{word} {', '.join(named)}"]
