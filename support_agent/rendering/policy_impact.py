"""What a draft would change, and who was told what a clause says, on the terminal.

Input: what `administration.impact` and `administration.affected` give as JSON values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]

#: Changes that are shown in full; all are counted.
MAX_SHOWN: Final = 50
_SKIPPED: Final = {
    "other_topic": "looked up other topics only",
    "no_policy_read": "looked up no policy",
    "source_unavailable": "could not be compared",
    "unreadable": "cannot be asked again: their facts are no longer declared, or their receipt is of an older layout",
}
_DIFFERS: Final = {
    "outcome": "",
    "value": ", with another value",
    "clause": ", by another clause",
    "wording": ", in other words",
}


def print_impact(found: Row, *, console: Console | None = None) -> None:
    """How many questions would end otherwise and how, then each of them side by side."""
    out = console or Console(highlight=False)
    n_asked, n_all = found["n_done"], found["n_questions"]
    asked = f"{n_asked:,}" if n_asked == n_all else f"{n_asked:,} of {n_all:,}"
    out.print(Text(f"With {', '.join(found['draft'])}, {found['n_changed']:,} of {asked} questions change.", "bold"))
    for count in found["counts"]:
        after = "" if count["differs"] != "outcome" else f" -> {count['after']}"
        out.print(Text(f"  {count['n']:>6,}  {count['before']}{after}{_DIFFERS[count['differs']]}"))
    for reason, n in found["skipped"].items():
        lost = f" ({', '.join(found['unavailable'])} is down)" if reason == "source_unavailable" else ""
        out.print(Text(f"  {n:>6,}  {_SKIPPED[reason]}{lost}", "dim"))
    if found["n_recorded"] > found["n_runs"]:
        out.print(
            Text(f"  {found['n_recorded'] - found['n_runs']:>6,}  older runs left out; --limit takes more", "dim")
        )
    if hint := _hint(found):
        out.print(Text(hint))
    for change in found["changes"][:MAX_SHOWN]:
        _print_change(out, change)
    if (n_more := found["n_changed"] - MAX_SHOWN) > 0:
        out.print(Text(f"\nand {n_more:,} more; --json lists all of them."))


def print_answers(answers: Sequence[Row], *, console: Console | None = None) -> None:
    """Each answer with whom it was given to."""
    out = console or Console(highlight=False)
    for answer in answers:
        about = [
            answer["recorded_at"][:16].replace("T", " "),
            f"customer {answer['customer'] or 'unknown'}",
            *([f"conversation {answer['conversation']}"] if answer["conversation"] else []),
            f"run {answer['run_id']}",
        ]
        notes = ["corrected since"] if answer["outdated"] else []
        notes += [f"{answer['role']}: {', '.join(answer['clauses'])}"]
        out.print(Text.assemble("\n", ("  ".join(about), "bold"), f"  ({'; '.join(notes)})"))
        out.print(Padding(Text(answer["question"], "italic"), (0, 2)))
        out.print(Padding(Text(answer["answer"]), (0, 2)))


def _hint(found: Row) -> str | None:
    """Why nothing changes, where the questions were all asked before the draft begins."""
    newest = found["newest_asked_at"]
    if found["n_changed"] or newest is None or newest >= found["effective_from"]:
        return None
    day = found["effective_from"][:10]
    return f"All were asked before the draft begins, on {day}: --at asks them on a day of your choice."


def _print_change(out: Console, change: Row) -> None:
    who = f"customer {change['customer'] or 'unknown'}"
    often = f", asked {change['n_runs']} times" if change["n_runs"] > 1 else ""
    out.print()
    out.print(Text(change["question"], "bold"))
    out.print(
        Text(f"{who}, asked at {change['asked_at'][:16].replace('T', ' ')}{often}, run {change['run_id']}", "dim")
    )
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("now", ratio=1, overflow="fold")
    table.add_column("with the draft", ratio=1, overflow="fold")
    before, after = change["before"], change["after"]
    table.add_row(Text(before["ending"]), Text(after["ending"]))
    for name in dict.fromkeys((*before["values"], *after["values"])):
        table.add_row(_value(name, before), _value(name, after))
    table.add_row(Text(", ".join(before["clauses"]), "dim"), Text(", ".join(after["clauses"]), "dim"))
    table.add_row(Text(_said(before)), Text(_said(after)))
    out.print(Padding(table, (0, 2)))


def _value(name: str, side: Row) -> Text:
    return Text(f"{name} = {side['values'][name]}" if name in side["values"] else "")


def _said(side: Row) -> str:
    return "\n".join(filter(None, (side["answer"], side["next_step"])))
