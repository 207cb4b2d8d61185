"""A stored run, stage by stage, and the cases of the queue, on the terminal. Input: receipts as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Receipt = Mapping[str, Any]


def print_receipt(receipt: Receipt, *, console: Console | None = None) -> None:
    """One run from the question to the outcome."""
    out = console or Console(highlight=False)
    question, outcome, plan = receipt["question"], receipt["outcome"], receipt["plan"]
    _title(out, "Question")
    out.print(Padding(Text(question["text"]), (0, 2)))
    asker = question["principal"]
    who = f"{asker['kind']} {asker['staff_id'] or asker['customer_id'] or 'unknown'}"
    out.print(
        Padding(Text(f"asked at {question['asked_at']} by {who}, read as {receipt['reading']['language']}"), (0, 2))
    )
    # Runs recorded before there was a glossary have none.
    if glossary := receipt["reading"].get("glossary"):
        read = "; ".join(f"{entry['says']} → {entry['means']}" for entry in glossary)
        out.print(Padding(Text(f"by the glossary: {read}"), (0, 2)))
    _title(out, "Plan")
    recipe = f"playbook {plan['playbook']}" if plan["playbook"] else "one retrieval"
    out.print(Padding(Text(f"{plan['route']}: {recipe}"), (0, 2)))
    for sub in plan["sub_questions"]:
        out.print(Padding(Text(f"{sub['id']} asks {sub['source']} for {', '.join(sub['needs'])}"), (0, 4)))
    for turn in receipt["rounds"]:
        _print_round(out, turn)
    _title(out, "Evidence")
    out.print(Padding(_evidence_table(receipt["evidence"]), (0, 2)))
    if conflicts := [r["conflict"] for r in receipt["resolutions"] if r["conflict"]]:
        _title(out, "What differed")
        for conflict in conflicts:
            out.print(Padding(_conflict(conflict), (0, 2)))
    _title(out, "Outcome")
    out.print(Padding(Text(f"{outcome['status']}: {outcome['answer']}"), (0, 2)))
    spent = ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in receipt["timings_ms"].items())
    usage = outcome["usage"]
    out.print(
        Padding(Text(f"{usage['lookups']} lookups, {usage['statements']} statements; {spent}", style="dim"), (0, 2))
    )


def print_cases(cases: Sequence[Mapping[str, Any]], *, console: Console | None = None) -> None:
    """The queue, oldest first."""
    out = console or Console(highlight=False)
    if not cases:
        out.print("No case waits.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("case", "since", "reason", "about", "customer", "question"):
        table.add_column(name, overflow="fold")
    for case in cases:
        table.add_row(
            case["id"],
            case["created_at"][:16].replace("T", " "),
            case["reason"],
            case["need"] or "",
            escape(case["customer"] or ""),
            escape(case["question"]),
        )
    out.print(table)


def print_case(case: Mapping[str, Any], *, console: Console | None = None) -> None:
    """One case: the reason, the question, and both sides with text and dates."""
    out = console or Console(highlight=False)
    receipt = case["receipt"]
    _title(out, f"Case {case['id']}")
    about = f" about {case['need']}" if case["need"] else ""
    out.print(Padding(Text(f"{case['state']}: {case['reason']}{about}, since {case['created_at'][:16]}"), (0, 2)))
    out.print(Padding(Text(f"customer {case['customer'] or 'unknown'}, run {case['run_id']}"), (0, 2)))
    _title(out, "Question")
    out.print(Padding(Text(receipt["question"]["text"]), (0, 2)))
    conflicts = [r["conflict"] for r in receipt["resolutions"] if r["conflict"]]
    open_ones = [conflict for conflict in conflicts if conflict["settled_by"] is None]
    sides = {evidence["number"]: evidence for evidence in receipt["evidence"]}
    for conflict in open_ones or conflicts:
        _title(out, f"Sides on {conflict['need']}")
        for candidate in conflict["candidates"]:
            out.print(Padding(_side(candidate, sides.get(candidate["evidence"])), (0, 2)))
    _title(out, "Facts")
    facts = [evidence for evidence in receipt["evidence"] if evidence["authority"] == "record"]
    out.print(Padding(_evidence_table(facts), (0, 2)) if facts else Padding("none were read", (0, 2)))
    _title(out, "What the customer was told")
    out.print(Padding(Text(receipt["outcome"]["answer"]), (0, 2)))


def _title(out: Console, text: str) -> None:
    out.print(Text(text, style="bold"))


def _print_round(out: Console, turn: Mapping[str, Any]) -> None:
    _title(out, f"Round {turn['number']}")
    for lookup in turn["lookups"]:
        asked = ", ".join(f"{key}={_short(value)}" for key, value in lookup["parameters"].items())
        result = lookup["failure"] or f"{lookup['n_returned']} statements, {lookup['n_added']} new"
        line = f"{lookup['sub_question']} {lookup['source']}({asked}): {result} in {lookup['elapsed_ms']:.1f} ms"
        out.print(Padding(Text(line), (0, 4)))
    verdict = turn["verdict"]
    parts = ["sufficient" if verdict["sufficient"] else "not sufficient"]
    parts += [f"missing {', '.join(verdict['missing'])}"] if verdict["missing"] else []
    parts += [f"open conflicts on {', '.join(verdict['conflicts'])}"] if verdict["conflicts"] else []
    out.print(Padding(Text(f"verdict: {'; '.join(parts)}; next: {verdict['next_action']}"), (0, 4)))


def _evidence_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "need", "where", "says"):
        table.add_column(name, overflow="fold")
    for row in rows:
        said = row["quote"] if row["value"] is None else _short(row["value"])
        table.add_row(f"E{row['number']}", row["need"], escape(row["locator"]), escape(said))
    return table


def _conflict(conflict: Mapping[str, Any]) -> Group:
    settled = f"settled by {conflict['settled_by']}" if conflict["settled_by"] else "open"
    lines = [Text(f"{conflict['need']}: {settled}")]
    for candidate in conflict["candidates"]:
        fate = f"removed by {candidate['removed_by']}" if candidate["removed_by"] else "stands"
        lines.append(Text(f"  {_short(candidate['value'])}  {candidate['locator']}  {fate}"))
    return Group(*lines)


def _side(candidate: Mapping[str, Any], evidence: Mapping[str, Any] | None) -> Group:
    fate = f"removed by {candidate['removed_by']}" if candidate["removed_by"] else "stands"
    lines = [Text(f"{_short(candidate['value'])}  {candidate['locator']}  ({fate})", style="bold")]
    if evidence:
        valid = evidence["valid"] or {"start": None, "end": None}
        start, end = valid["start"], valid["end"]
        lines.append(
            Text(f"  {evidence['authority']}, in force {str(start)[:10]} to {str(end)[:10] if end else 'open'}")
        )
        lines.append(Text(f"  “{evidence['quote']}”"))
    return Group(*lines)


def _short(value: object) -> str:
    """A value in a line; a period as its two instants."""
    if isinstance(value, dict) and set(value) == {"start", "end"}:
        text = f"{value['start']} .. {value['end'] or 'open'}"
    elif isinstance(value, dict):
        text = ", ".join(f"{name} {_short(inner)}" for name, inner in value.items()) or "nothing"
    else:
        text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004 - a terminal's width
