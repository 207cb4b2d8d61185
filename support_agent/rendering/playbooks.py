"""Playbooks on the terminal.

Input: what `support_agent.administration.playbooks` gives as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_playbooks(found: Sequence[Mapping[str, Any]]) -> None:
    """Each playbook with what it does; one that is not used with the reason."""
    out = Console(highlight=False)
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in found:
        does = f"decides {one['decides']}" if one["decides"] else f"{one['form']} from {', '.join(one['sources'])}"
        says = Text(one["mode"] or "", "dim") if one["used"] else Text("not used", "yellow")
        table.add_row(Text(one["id"], "bold"), says, Text(does), Text(one["origin"], "dim"))
        if not one["used"]:
            table.add_row("", "", Text(one["why_not"], "dim"))
    out.print(table)


def print_examples(found: Sequence[Mapping[str, Any]]) -> None:
    """Each playbook's examples, with what they reach where that is another."""
    out = Console(highlight=False)
    for name, group in groupby(found, key=lambda example: example["playbook"]):
        out.print(Text(name, "bold"))
        for example in group:
            mark = Text("✓ ", "green") if example["ok"] else Text("✗ ", "red")
            by = f"  by {example['by']}" if example["by"] else ""
            wrong = "" if example["ok"] else f"  reaches {example['reached'] or 'no playbook'}"
            out.print(Text.assemble("  ", mark, example["example"], (by, "dim"), (wrong, "red")), soft_wrap=True)
    n_missed = sum(not example["ok"] for example in found)
    out.print(f"{len(found)} examples, {n_missed} missed.")


def print_recognised(question: str, said: Mapping[str, Any]) -> None:
    """What a question reaches, and what speaks for and against each playbook."""
    out = Console(highlight=False)
    reached = f"reaches {said['playbook']}, by {said['by']}" if said["playbook"] else "reaches no playbook"
    topics = f"; topics: {', '.join(said['topics'])}" if said["topics"] else ""
    out.print(Text.assemble((question, "bold"), f"\n{reached}{topics}"))
    table = Table.grid(padding=(0, 2, 0, 0))
    for candidate in said["candidates"]:
        likeness = f"likeness {candidate['likeness']:.2f}" if candidate["likeness"] is not None else ""
        against = f"not with {', '.join(candidate['unless'])}" if candidate["unless"] else ""
        speaks = ", ".join([*candidate["trigger"], *candidate["requires"]])
        table.add_row("", Text(candidate["playbook"]), Text(speaks), Text(against, "red"), Text(likeness, "dim"))
    out.print(table)
