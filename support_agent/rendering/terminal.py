"""One outcome on a terminal: what came of the question, the answer, what it cites, and what disagreed.

Data is printed as it is, never as Rich markup, and without control characters. In a pipe the same lines come plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from policies.text import normalise
from support_agent.domain.outcome import Outcome, Status
from support_agent.domain.question import Language

#: The contract's object, or a part of it.
Contract: TypeAlias = Mapping[str, Any]

_LABEL_WIDTH: Final = 8
#: What settled a conflict or removed a candidate.
_CHINESE_RUNGS: Final[Mapping[str, str]] = {
    "in_force": "当日有效",
    "applies": "适用范围",
    "declared_relation": "声明的关系",
    "authority": "效力层级",
    "specificity": "特别规定",
    "precedent": "先前裁定",
    "transition": "过渡规定",
    "rendition": "译本从原文",
    "bound_met": "已满足界限",
    "not_delegated": "未获授权",
}
_STYLES: Final[dict[Status, str]] = {
    "answered": "bold white on green",
    "answered_with_conflict": "bold black on yellow",
    "needs_clarification": "bold white on blue",
    "no_answer": "bold white on bright_black",
    "refused": "bold white on red",
    "escalated": "bold white on magenta",
}
_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "answered": "answered",
        "answered_with_conflict": "answered, sources disagree",
        "needs_clarification": "question back",
        "no_answer": "no answer",
        "refused": "refused",
        "escalated": "handed to a person",
        "next": "Next",
        "decided": "Decided",
        "conflict": "Conflict",
        "settled": "settled by",
        "open": "open",
        "case": "Case",
        "considered": "considered",
        "lines": "line {}",
        "elsewhere": "and {} that do not apply to this case",
        "rounds": "rounds",
        "lookups": "lookups",
        "statements": "statements",
    },
    "zh": {
        "answered": "已答复",
        "answered_with_conflict": "已答复，资料说法不一",
        "needs_clarification": "需要确认",
        "no_answer": "无法答复",
        "refused": "不予提供",
        "escalated": "已转人工",
        "next": "下一步",
        "decided": "判定",
        "conflict": "冲突",
        "settled": "裁定依据",
        "open": "未决",
        "case": "工单",
        "considered": "未采用",
        "lines": "第 {} 行",
        "elsewhere": "另有 {} 条不适用于此情况",
        "rounds": "轮",
        "lookups": "次查询",
        "statements": "条语句",
    },
}


def print_outcome(outcome: Outcome, *, question: str, contract: Contract, console: Console | None = None) -> None:
    """Print the question and what came of it, as far as `contract` (`outcome_json`, for this principal) shows it."""
    out = console or Console(highlight=False)
    for part in _parts(outcome, question, contract):
        out.print(part)


def _parts(outcome: Outcome, question: str, contract: Contract) -> Iterator[RenderableType]:
    words = _WORDS[outcome.language]
    yield Text.assemble((f" {words[outcome.status]} ", _STYLES[outcome.status]), " ", (normalise(question), "bold"))
    yield Padding(_answer(contract["answer"]), (1, 2))
    if contract["next_step"]:
        yield _row(words["next"], Text(normalise(contract["next_step"])))
    if decision := contract["decision"]:
        value = str(decision["value"]).lower()
        yield _row(words["decided"], Text(f"{decision['term']} = {value}  {decision['clause']}"))
    if case := contract["escalation"]:
        yield _row(words["case"], Text(f"{case['id']}  {case['reason']}"))
    for citation in contract["citations"]:
        yield _row(f"[{citation['marker']}]", _citation(citation, words))
    for conflict in contract["conflicts"]:
        yield _row(words["conflict"], _conflict(conflict, outcome.language))
    yield Padding(Text(_footer(contract, words), style="dim"), (1, 2))


def _row(label: str, content: Text) -> Table:
    """A label in a narrow column, and beside it what it stands for."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_LABEL_WIDTH, justify="right", style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(label), content)
    return grid


def _answer(answer: str) -> Text:
    text = Text(normalise(answer))
    text.highlight_regex(r"\[\d+\]", "bold cyan")
    return text


def _citation(citation: Contract, words: Mapping[str, str]) -> Text:
    version, lines = citation["version"], citation["lines"]
    name = f"{citation['document']}@{version}" if version else citation["document"]
    details = [citation["clause"], citation["authority"]]
    if citation["effective_from"]:
        details.append(f"{citation['effective_from']} → {citation['effective_to'] or ''}".rstrip())
    if lines:
        details.append(words["lines"].format(lines[0] if lines[0] == lines[1] else f"{lines[0]}–{lines[1]}"))
    if citation["role"] == "considered":
        details.append(words["considered"])
    dim = " · ".join(["", *details])
    return Text.assemble((name, "bold"), (dim, "dim"), "\n", f"“{normalise(citation['quote'])}”")


def _conflict(conflict: Contract, language: Language) -> Text:
    words = _WORDS[language]
    settled = conflict["settled_by"]
    text = Text(
        f"{conflict['need']}, " + (f"{words['settled']} {_rung(settled, language)}" if settled else words["open"])
    )
    # What is for other regions or customers is counted, not listed; the record has it.
    elsewhere = sum(candidate["removed_by"] == "applies" for candidate in conflict["candidates"])
    for candidate in conflict["candidates"]:
        removed = candidate["removed_by"]
        if removed == "applies" and settled != "applies":
            continue
        value = normalise(str(candidate["value"]))
        text.append(f"\n{'✗' if removed else '✓'} {value}  {candidate['clause']}", style="dim" if removed else "")
        if removed:
            text.append(f"  ({_rung(removed, language)})", style="dim")
    if elsewhere and settled != "applies":
        text.append("\n" + words["elsewhere"].format(elsewhere), style="dim")
    return text


def _rung(name: str, language: Language) -> str:
    return _CHINESE_RUNGS[name] if language == "zh" else name.replace("_", " ")


def _footer(contract: Contract, words: Mapping[str, str]) -> str:
    usage, governing = contract["usage"], contract["governing_date"]
    parts = [
        f"{contract['rounds']} {words['rounds']}",
        f"{usage['lookups']} {words['lookups']}",
        f"{usage['statements']} {words['statements']}",
        f"{usage['elapsed_ms']:.0f} ms",
        contract["run_id"],
    ]
    return " · ".join([f"{governing['from']} {governing['value']}", *parts] if governing else parts)
