"""Findings of lint on the terminal, by file.

Input: what `support_agent.administration.lint` gives as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_findings(found: Sequence[Mapping[str, Any]]) -> None:
    """Each finding with its place, what is wrong, and what to do; the counts last."""
    out = Console(highlight=False)
    if not found:
        out.print("Nothing found.")
        return
    for path, group in groupby(found, key=lambda finding: finding["path"]):
        out.print(Text(path, "bold"))
        table = Table.grid(padding=(0, 2, 0, 0))
        for finding in group:
            mark = Text(finding["severity"], "red" if finding["severity"] == "error" else "yellow")
            said = Text.assemble(finding["message"], (f"  {finding['rule']}\n", "dim"), (finding["remedy"], "dim"))
            table.add_row(Text(f"{finding['line']:>5}", "dim"), mark, said)
        out.print(table)
    n_errors = sum(finding["severity"] == "error" for finding in found)
    n_warnings = len(found) - n_errors
    out.print(f"{_counted(n_errors, 'error')}, {_counted(n_warnings, 'warning')}.")


def print_candidates(found: Mapping[str, Any]) -> None:
    """The values that a text states, clause by clause; what is a term already has a mark."""
    out = Console(highlight=False)
    if not found["candidates"]:
        out.print("The text states no values.")
        return
    for clause, group in groupby(found["candidates"], key=lambda candidate: candidate["clause"]):
        out.print(Text(f"#{clause}", "bold"))
        table = Table.grid(padding=(0, 2, 0, 0))
        for candidate in group:
            plural = "s" if candidate["kind"] == "duration" and candidate["value"] != "1" else ""
            unit = f" {candidate['unit']}{plural}" if candidate["unit"] else ""
            bound = {"at_most": "at most ", "at_least": "at least "}.get(candidate["bound"] or "", "")
            name = candidate["name"] or "no term can hold it"
            said = f"{name}: {candidate['term_value']}" if candidate["term_value"] is not None else name
            table.add_row(
                Text(f"{candidate['line']:>5}", "dim"),
                Text("✓" if candidate["accepted"] else " ", "green"),
                Text(repr(candidate["text"])),
                Text(f"{candidate['kind']}: {bound}{candidate['value']}{unit}"),
                Text(said, "dim"),
            )
        out.print(table)


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
