"""YAML whose every value knows its line and column, so that a fault can be shown where it stands.

A small, strict reading: keys are text and unique, `true` and `false` are the only booleans (`NO` is Norway), integers
are decimal, there are no aliases, tags or second documents. A date stays a date, an instant a datetime, naive or aware.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

import yaml

from policies.errors import Fault

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 20

Plain: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One value with its place: a scalar, a list of entries, or a mapping of names to entries."""

    value: bool | int | float | str | date | datetime | list[Entry] | dict[str, Entry] | None
    line: int
    column: int

    @property
    def plain(self) -> Plain:
        """The value without places."""
        match self.value:
            case dict() as mapping:
                return {key: entry.plain for key, entry in mapping.items()}
            case list() as items:
                return [entry.plain for entry in items]
            case value:
                return value

    def mapping(self) -> Mapping[str, Entry] | None:
        return self.value if isinstance(self.value, dict) else None

    def items(self) -> list[Entry]:
        """The entries of a list; a single value counts as a list of one."""
        return self.value if isinstance(self.value, list) else [self]


class YamlFault(ValueError):  # noqa: N818 It carries a fault; the public functions return that instead.
    def __init__(self, line: int, column: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.line, self.column, self.message, self.remedy = line, column, message, remedy


def load_marked(text: str, *, path: str, first_line: int = 1) -> Entry | Fault:
    """The one document in `text`, or what is wrong with it.

    Args:
        text: YAML, or JSON, which is YAML.
        path: Named in the fault.
        first_line: Line of the file that `text` begins at.
    """
    try:
        return _load(text, first_line)
    except YamlFault as fault:
        return Fault(path=path, line=fault.line, column=fault.column, message=fault.message, remedy=fault.remedy)


def entry_of(plain: Plain, *, line: int = 1, column: int = 1) -> Entry:
    """Places all of a plain value at one place: for values that come from a file as a whole."""
    match plain:
        case Mapping():
            value: Any = {str(key): entry_of(item, line=line, column=column) for key, item in plain.items()}
        case list() | tuple():
            value = [entry_of(item, line=line, column=column) for item in plain]
        case _:
            value = plain
    return Entry(value, line, column)


def _load(text: str, first_line: int) -> Entry:
    offset = first_line - 1
    if tab := re.search(r"^[ ]*\t", text, re.MULTILINE):
        line = text.count("\n", 0, tab.end() - 1) + 1
        raise YamlFault(line + offset, tab.end() - tab.start(), "a tab in YAML", "indent with spaces")
    try:
        node = yaml.compose(text, Loader=_Loader)
        return Entry(None, first_line, 1) if node is None else _Reader(offset).entry(node, _MAX_DEPTH)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (first_line, 1) if mark is None else (mark.line + 1 + offset, mark.column + 1)
        raise YamlFault(*place, f"not YAML ({error.problem or error.context})", "correct the syntax") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlFault(first_line, 1, "not YAML", "correct the syntax") from error


class _Reader:
    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._seen: set[int] = set()

    def entry(self, node: yaml.Node, depth: int) -> Entry:
        line, column = self._place(node)
        if depth == 0:
            raise YamlFault(line, column, f"nested more than {_MAX_DEPTH} deep", "flatten it")
        # An alias gives the same node again; a few of them in a row would unfold to gigabytes.
        if id(node) in self._seen:
            raise YamlFault(line, column, "an alias", "write the value out")
        self._seen.add(id(node))
        match node:
            case yaml.MappingNode():
                return Entry(dict(self._pairs(node, depth)), line, column)
            case yaml.SequenceNode():
                return Entry([self.entry(item, depth - 1) for item in node.value], line, column)
            case _:
                return Entry(_scalar(node, line, column), line, column)

    def _pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, Entry]]:
        names: set[str] = set()
        for key, value in node.value:
            line, column = self._place(key)
            if not isinstance(key, yaml.ScalarNode):
                raise YamlFault(line, column, "a key that is not text", "name it by a word")
            name = str(key.value)
            if name in names:
                raise YamlFault(line, column, f"the key {name!r} stands twice", "keep one of them")
            names.add(name)
            entry = self.entry(value, depth - 1)
            # A block value begins on a later line than its key, and the key is where the eye looks.
            yield name, Entry(entry.value, line, column) if isinstance(entry.value, (dict, list)) else entry

    def _place(self, node: yaml.Node) -> tuple[int, int]:
        return node.start_mark.line + 1 + self._offset, node.start_mark.column + 1


def _scalar(node: yaml.Node, line: int, column: int) -> bool | int | float | str | date | datetime | None:
    text: str = node.value
    match node.tag.removeprefix("tag:yaml.org,2002:"):
        case "bool" if text.lower() in {"true", "false"}:
            return text.lower() == "true"
        case "int" if re.fullmatch("[-+]?(0|[1-9][0-9]{0,18})", text):
            return int(text)
        case "float" if re.fullmatch(r"[-+]?[0-9]+\.[0-9]+", text):
            return float(text)
        case "timestamp":
            return _timestamp(text, line, column)
        case "null":
            return None
        case "str" | "bool" | "int" | "float" | "value" | "merge":
            return text
        case tag:
            raise YamlFault(line, column, f"the tag {tag!r}", "write a plain value")


def _timestamp(text: str, line: int, column: int) -> date | datetime:
    try:
        return date.fromisoformat(text) if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else instant_of(text)
    except ValueError as error:
        raise YamlFault(line, column, f"{text!r} is no date", "write it as 2025-02-28") from error


def instant_of(text: str) -> datetime:
    """An ISO instant as YAML and JSON write it; naive when it has no offset."""
    return datetime.fromisoformat(re.sub(r"\s+(?=[-+Zz])", "", text.strip()).replace("z", "Z"))
