"""Policy versions, documents and search hits on the terminal.

Input: what `bootstrap.Application` gives as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]


def print_versions(versions: Sequence[Row]) -> None:
    """Every policy with its versions, oldest first; a gap between two is shown."""
    out = Console(highlight=False)
    if not versions:
        out.print("No policy is published.")
        return
    for policy, rows in groupby(versions, key=lambda row: row["policy"]):
        held = list(rows)
        out.print(Text.assemble((policy, "bold"), f"  {held[-1]['title']}  ({held[-1]['authority']})"))
        before: str | None = None
        for row in held:
            if before is not None and before < row["effective_from"]:
                out.print(
                    Padding(Text(f"no version in force from {before} to {row['effective_from']}", style="red"), (0, 2))
                )
            out.print(Padding(Text(f"{row['version']}  {_period(row)}, {row['state'].replace('_', ' ')}"), (0, 2)))
            before = row["effective_to"]


def print_drafts(drafts: Sequence[Row]) -> None:
    """What is on its way to being published, and who has to act."""
    out = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("version", "change", "state", "author", "reviewer", "why"):
        table.add_column(name, overflow="fold")
    for draft in drafts:
        name = f"{draft['policy']}@{draft['version']}"
        row = (name, draft["kind"], draft["state"].replace("_", " "), draft["author"], draft["reviewer"], draft["why"])
        table.add_row(*(escape(cell or "") for cell in row))
    out.print(table if drafts else "No draft is open.")


def print_in_force(versions: Sequence[Row], *, at: str) -> None:
    """What is in force on a date, and what is not."""
    out = Console(highlight=False)
    # Names are copied from here, so they stay whole; titles give way.
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for row in versions:
        if row["version"] is None:
            table.add_row(Text(row["policy"], "bold"), Text("none in force", "red"), _next(row), "")
        else:
            until = f"until before {row['effective_to']}" if row["effective_to"] else ""
            name = Text(f"{row['policy']}@{row['version']}", "bold")
            table.add_row(name, until, row["authority"], Text(row["title"], "dim"))
    out.print(table if versions else f"No policy had a version in force on {at}.")


def print_document(document: Row) -> None:
    """One version: what it says of itself, then its text with line numbers."""
    out = Console(highlight=False)
    out.print(Text.assemble((f"{document['policy']}@{document['version']}", "bold"), f"  {document['title']}"))
    out.print(Padding(Text(f"{_period(document)}, {document['authority']}, {document['audience']}"), (0, 2)))
    out.print(Padding(Text(f"published by {document['recorded_by']}, approval: {document['approval']}"), (0, 2)))
    if document["why"]:
        out.print(Padding(Text(f"why: {document['why']}"), (0, 2)))
    width = len(str(document["text"].count("\n") + 1))
    for number, line in enumerate(document["text"].splitlines(), start=1):
        out.print(Text.assemble((f"{number:>{width}}  ", "dim"), line))


def print_hits(hits: Sequence[Row]) -> None:
    """The passages found, best first."""
    out = Console(highlight=False)
    if not hits:
        out.print("No passage in force was found.")
        return
    for rank, hit in enumerate(hits, start=1):
        found = " and ".join(hit["found_by"]) or "nothing"
        out.print(Text.assemble((f"{rank:>2}  {hit['clause']}", "bold"), f"  {hit['heading']}  (by {found})"))
        out.print(Padding(Text(hit["quote"]), (0, 4)))


def _next(row: Row) -> str:
    following = row["next"]
    if following is None:
        return ""
    dated = "" if following["version"] == following["effective_from"] else f" from {following['effective_from']}"
    return f"next {following['version']}{dated}"


def _period(row: Row) -> str:
    if row["effective_to"] is None:
        return f"from {row['effective_from']}"
    return f"from {row['effective_from']} until before {row['effective_to']}"
