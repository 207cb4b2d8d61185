"""Facts a tenant declares in `facts.yaml`, and the values that facts and terms may take.

Money is an integer in minor units, a share an integer in basis points, a duration a whole number of days or hours; an
instant is aware UTC, a date is a calendar day without a zone. There are no decimals, floats or naive datetimes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, get_args

from policies.encoding import decode
from policies.errors import Fault
from policies.marked_yaml import Entry, load_marked

FactValue: TypeAlias = bool | int | str | datetime | date | tuple[str, ...] | None
FactType: TypeAlias = Literal[
    "bool", "string", "int", "money", "basis_points", "days", "hours", "instant", "date", "list"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDeclaration:
    """One fact: its type, where it comes from, and how people call it."""

    #: Dotted name, e.g. `order.purchased_at`.
    name: str
    type: FactType
    #: The connector that states it, or `customer` for an assertion that nobody else can make.
    source: str
    null: bool = False
    #: ISO 4217 code of a money fact, or the name of the string fact that holds it.
    currency: str | None = None
    #: The closed set of a string fact; empty when open.
    values: tuple[str, ...] = ()
    #: Value -> language -> words for it, where people call it otherwise.
    value_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Language -> words for this fact, used when it is asked for or named in an answer.
    label: Mapping[str, str] = field(default_factory=dict)


#: Name -> declaration.
Facts: TypeAlias = Mapping[str, FactDeclaration]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_KEYS: Final = ("type", "source", "null", "currency", "values", "label")


def load_facts(content: bytes, *, path: str) -> Facts | list[Fault]:
    """The facts that a `facts.yaml` declares, or everything that is wrong with it.

    Args:
        content: The file: `facts: {order.plan: {type: string, source: orders, values: [annual]}}`.
        path: As faults name it.
    """
    text = decode(content, path=path)
    if isinstance(text, list):
        return text
    loaded = load_marked(text, path=path)
    if isinstance(loaded, Fault):
        return [loaded]
    declared = (loaded.mapping() or {}).get("facts")
    entries = None if declared is None else declared.mapping()
    if entries is None:
        message, remedy = "no facts", "write facts: {order.plan: {type: string, source: orders}}"
        return [Fault(path=path, line=loaded.line, message=message, remedy=remedy)]
    names = {name: entry for name, entry in entries.items() if isinstance(entry.value, dict)}
    faults = [
        Fault(path=path, line=entry.line, message=f"{name}: {message}", remedy=remedy)
        for name, entry in entries.items()
        for message, remedy in _faults(name, entry, entries)
    ]
    return faults or {name: _declaration(name, entry.plain) for name, entry in names.items()}


def _faults(name: str, entry: Entry, others: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    said = entry.plain
    if not _NAME.fullmatch(name):
        yield "no name for a fact", "write SOURCE.NAME in lower case, e.g. order.purchased_at"
    if not isinstance(said, dict):
        yield "no mapping", "write {type: …, source: …}"
        return
    for key in set(said) - set(_KEYS):
        near = get_close_matches(key, _KEYS, n=1)
        yield f"unknown key {key!r}", f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(_KEYS)}"
    if said.get("type") not in get_args(FactType):
        yield f"type is {said.get('type')!r}", f"use one of {', '.join(get_args(FactType))}"
    if not isinstance(said.get("source"), str):
        yield "source is missing", "name the connector that states it, or customer"
    if not isinstance(said.get("null", False), bool):
        yield "null is neither true nor false", "say whether the source may leave it empty"
    yield from _value_faults(said, others)
    label = said.get("label", {})
    if not isinstance(label, dict) or not all(isinstance(words, str) for words in label.values()):
        yield "label is no mapping of texts", "write label: {en: …, zh: …}"


def _value_faults(said: Mapping[str, object], others: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    values, currency = said.get("values", []), said.get("currency")
    labels = values.values() if isinstance(values, dict) else ()
    if not isinstance(values, list | dict) or not all(isinstance(value, str) for value in values):
        yield "values is no list of texts", "write values: [annual, monthly]"
    elif not all(isinstance(words, dict) and all(isinstance(w, str) for w in words.values()) for words in labels):
        yield "a value's words are no mapping of texts", "write values: {annual: {en: yearly, zh: 年付}}"
    elif values and said.get("type") != "string":
        yield "values of a fact that is no string", "leave values out"
    if currency is not None and said.get("type") != "money":
        yield "currency of a fact that is no money", "leave currency out"
    elif said.get("type") == "money" and not (isinstance(currency, str) and (_is_code(currency) or currency in others)):
        yield f"currency is {currency!r}", "name an ISO 4217 code (EUR) or the string fact that holds it"


def _is_code(currency: str) -> bool:
    return re.fullmatch("[A-Z]{3}", currency) is not None


def _declaration(name: str, said: dict[str, Any]) -> FactDeclaration:
    values = said.get("values", ())
    labels = values if isinstance(values, dict) else {}
    return FactDeclaration(name=name, value_labels=labels, **{**said, "values": tuple(values)})
