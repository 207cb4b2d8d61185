"""Differences and histories of policies on the terminal.

Input: what `support_agent.administration.changes` gives as JSON values. Without colour, deleted words stand in [-…-]
and inserted ones in {+…+}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]

_KINDS: Final = {
    "added": ("added", "green"),
    "removed": ("removed", "red"),
    "moved": ("moved", "cyan"),
    "changed": ("changed", "yellow"),
}
_STATES: Final = {
    "in_force": ("in force", "bold green"),
    "scheduled": ("scheduled", "cyan"),
    "superseded": ("superseded", "dim"),
    "expired": ("expired", "dim"),
    "withdrawn": ("withdrawn", "red"),
    "corrected": ("corrected", "dim"),
}
_UNITS: Final = {"days": " days", "hours": " hours"}


def print_diff(found: Row, *, file: IO[str] | None = None) -> None:
    """Everything that differs, terms first: they decide."""
    out = Console(highlight=False, file=file)
    out.print(Text.assemble((found["old"], "bold"), "  →  ", (found["new"], "bold")))
    if not (found["keys"] or found["clauses"] or found["terms"]):
        out.print("Nothing differs.")
        return
    for change in found["terms"]:
        out.print(
            Text.assemble("  term ", (change["name"], "bold"), f"  {_terms(change)}", (f"  #{change['clause']}", "dim"))
        )
    for change in found["keys"]:
        out.print(Text(f"  {change['key']}: {_plain(change['old'])} → {_plain(change['new'])}"))
    for change in found["clauses"]:
        _print_clause(out, change)
    out.print(Text(f"{_counted(found['n_unchanged'], 'clause')} unchanged", "dim"))


def print_history(found: Row) -> None:
    """Versions on a line with their gaps, then what was held before, then the log."""
    out = Console(highlight=False)
    out.print(Text.assemble((found["policy"], "bold"), f"  {found['title']}"))
    _print_versions(out, found["versions"], {gap["after"]: gap for gap in found["gaps"]})
    if found["earlier"]:
        out.print(Text("Held before", "bold"))
    for row in found["earlier"]:
        known = f"known {_minute(row['recorded_from'])} to {_minute(row['recorded_to'])}"
        out.print(Text(f"    {row['version']}  {_period(row)}  {known}", "dim"))
    if found["events"]:
        out.print(Text("Log", "bold"))
        _print_log(out, found["events"])


def _print_versions(out: Console, versions: Sequence[Row], gaps: Mapping[str, Row]) -> None:
    for row in versions:
        said, style = _STATES[row["state"]]
        mark = "●" if row["state"] == "in_force" else "○" if row["state"] == "scheduled" else "│"
        out.print(
            Text.assemble(
                f"  {mark} ",
                (row["version"], "bold" if row["state"] == "in_force" else ""),
                f"  {_period(row)}  ",
                (said, style),
                (f"  by {row['recorded_by']}, {_approval(row['approval'])}", "dim"),
            )
        )
        if row["version"] in gaps:
            gap = gaps[row["version"]]
            out.print(Text(f"  ┆ no version in force from {gap['from']} to {gap['to'] or 'any later day'}", "red"))


def _print_log(out: Console, events: Sequence[Row]) -> None:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for event in events:
        table.add_row(
            Text(f"    {_minute(event['at'])}", "dim"), Text(event["person"]),
            Text(f"{event['action'].replace('_', ' ')} {event['version']}"), Text(event["why"] or "", "italic"),
        )  # fmt: skip
    out.print(table)


def _print_clause(out: Console, change: Row) -> None:
    said, style = _KINDS[change["kind"]]
    anchor = change["new"] or change["old"]
    was = f" (was #{change['old']})" if change["old"] and change["new"] and change["old"] != change["new"] else ""
    moved = ", moved" if change["moved"] and change["kind"] == "changed" else ""
    line = f"  line {change['lines'][0]}"
    out.print()
    out.print(
        Text.assemble((said + moved, style), " ", (f"#{anchor}", "bold"), was, f"  {change['heading']}", (line, "dim"))
    )
    for attribute in change["attributes"]:
        out.print(Text(f"    {attribute['key']}: {_plain(attribute['old'])} → {_plain(attribute['new'])}"))
    if change["marks"]:
        out.print(Padding(Text.assemble(*_marked(change["marks"], plain=out.no_color or not out.is_terminal)), (0, 4)))


def _marked(marks: Sequence[Sequence[str]], *, plain: bool) -> Iterator[tuple[str, str]]:
    for operation, text in marks:
        if operation == "equal":
            yield text, ""
        elif operation == "delete":
            yield (f"[-{text}-]" if plain else text), "red strike"
        else:
            yield (f"{{+{text}+}}" if plain else text), "green bold"


def _terms(change: Row) -> str:
    old, new = _value(change["old"]), _value(change["new"])
    if old is None:
        return f"new: {new}"
    return f"gone, was: {old}" if new is None else f"{old} → {new}"


def _value(term: Row | None) -> str | None:
    if term is None:
        return None
    if term["rule"] is not None:
        return str(term["rule"])
    return f"{_plain(term['value'])}{_UNITS.get(term['type'] or '', '')}"


def _plain(value: Any) -> str:  # noqa: ANN401 - a JSON value
    match value:
        case None:
            return "nothing"
        case dict() if set(value) <= {"date", "instant"} and value:
            return str(next(iter(value.values())))
        case dict():
            return ", ".join(f"{name}: {_plain(item)}" for name, item in value.items() if item) or "everywhere"
        case list():
            return ", ".join(map(_plain, value)) or "none"
        case _:
            return str(value)


def _period(row: Row) -> str:
    return f"{row['effective_from']} → {row['effective_to'] or '…'}"


def _approval(approval: str) -> str:
    return "imported" if approval == "imported" else f"approved by {approval}"


def _minute(instant: str | None) -> str:
    return "" if instant is None else instant[:16].replace("T", " ")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
