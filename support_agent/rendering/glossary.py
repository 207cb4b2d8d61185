"""The glossary on the terminal.

Input: what `support_agent.administration.glossary` and `glossary_suggestions` give as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_entries(found: Sequence[Mapping[str, Any]]) -> None:
    """Each entry with who added it; one that was removed with who did that."""
    out = Console(highlight=False)
    if not found:
        out.print("No entries; `support-agent glossary suggest` reads some out of questions.")
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in found:
        added = f"{one['added_by']}, {one['added_at'][:10]}"
        removed = f"removed by {one['removed_by']}, {one['removed_at'][:10]}" if one["removed_by"] else ""
        language = "" if one["language"] == "both" else one["language"]
        said = Text(f"{one['says']} → {one['means']}", "dim" if removed else "bold")
        table.add_row(said, Text(language), Text(added, "dim"), Text(removed, "yellow"))
    out.print(table)


def print_findings(found: Sequence[Mapping[str, Any]]) -> None:
    """Each finding with what to do."""
    out = Console(highlight=False)
    for one in found:
        mark = Text(one["severity"], "red" if one["severity"] == "error" else "yellow")
        line = Text.assemble(f"{one['says']} → {one['means']}: ", mark, f" [{one['rule']}] {one['message']}")
        out.print(line, soft_wrap=True)
        out.print(Text(f"    {one['remedy']}", "dim"), soft_wrap=True)
    out.print(f"{len(found)} found." if found else "Nothing found.")


def print_suggestions(found: Mapping[str, Any]) -> None:
    """Each phrase with how many questions say it, what it may stand for, and one of the questions."""
    out = Console(highlight=False)
    out.print(f"{found['n_questions']} questions found nothing.")
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in found["suggestions"]:
        terms = ", ".join(candidate["term"] for candidate in one["candidates"])
        table.add_row(Text(str(one["n_questions"])), Text(one["says"], "bold"), Text(terms or "no term comes near"))
        table.add_row("", "", Text(one["examples"][0]["text"], "dim"))
    out.print(table)
