"""Terms as authors write them: `name: 14`, `name: "CEL"`, `{value: 14, better: higher}` or `{rule: "CEL"}`.

A name ends in its unit: `_days`, `_hours`, `_minor` (money in minor units), `_bp` (a share in basis points); any other
name takes the type of its value. A text value needs the long form, for short text is a rule. `quote` may give words of
the passage that states the term; without it the passage is found by the value, or is the first of the clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from policies.blocks import Passage
from policies.facts import FactType, FactValue
from policies.marked_yaml import Entry
from policies.quantities import quantities
from policies.terms import unit_of
from policies.version import Better

_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
_KEYS = frozenset({"value", "rule", "better", "quote"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TermText:
    """A term as written, not yet tied to the passage that states it."""

    name: str
    value: FactValue
    rule: str | None
    better: Better | None
    #: None for a rule: its type is that of its result.
    type: FactType | None
    quote: str | None


def read_term(name: str, entry: Entry) -> TermText | tuple[str, str]:
    """The term `name` as written in `entry`, or what is wrong with it and what to do."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no term name", "write TOPIC.NAME in lower case, e.g. refund.window_days"
    fields = entry.mapping()
    if fields is None:
        fields = {"rule" if isinstance(entry.value, str) else "value": entry}
    if set(fields) - _KEYS:
        return f"{name}: unknown key {min(set(fields) - _KEYS)!r}", f"the keys are {', '.join(sorted(_KEYS))}"
    if ("value" in fields) == ("rule" in fields):
        return f"{name}: needs either a value or a rule", "write {value: 14} or {rule: …}"
    better, quote = (fields[key].plain if key in fields else None for key in ("better", "quote"))
    if better not in {None, "higher", "lower"}:
        return f"{name}: better is {better!r}", "say which is better for the customer: higher or lower"
    if quote is not None and (not isinstance(quote, str) or not quote.strip()):
        return f"{name}: quote is not text", "give words of the passage that states the term"
    if "rule" in fields:
        return _rule(name, fields["rule"].plain, better=better, quote=quote)
    return _value(name, fields["value"].plain, better=better, quote=quote)


def _rule(name: str, rule: object, *, better: Better | None, quote: str | None) -> TermText | tuple[str, str]:
    if not isinstance(rule, str) or not rule.strip():
        return f"{name}: the rule is not text", 'write it in quotes: {rule: "…"}'
    return TermText(name=name, value=None, rule=rule.strip(), better=better, type=None, quote=quote)


def _value(name: str, value: object, *, better: Better | None, quote: str | None) -> TermText | tuple[str, str]:
    if isinstance(value, float):
        return f"{name}: {value} has decimals", "write money in minor units (_minor), shares in basis points (_bp)"
    if isinstance(value, datetime) and value.tzinfo is None:
        return f"{name}: {value} has no offset", "write a date, or an instant as 2025-02-01T09:00:00+01:00"
    typed = _typed(value)
    if typed is None:
        return f"{name}: {value!r} is no value", "use true or false, a whole number, text, a date or a list of texts"
    kind, plain = typed
    unit = unit_of(name)
    if unit is not None and kind != "int":
        return f"{name}: {value!r} is not a whole number", f"a name of this ending holds {unit} as a whole number"
    if better is not None and kind not in {"int", "date", "instant"}:
        return f"{name}: better on a {kind}", "leave it out: such values have no order"
    return TermText(name=name, value=plain, rule=None, better=better, type=unit or kind, quote=quote)


def _typed(value: object) -> tuple[FactType, FactValue] | None:
    match value:
        case bool():
            return "bool", value
        case int():
            return ("int", value) if abs(value) < 2**63 else None
        case str():
            return ("string", value) if value.strip() else None
        case datetime():
            return "instant", value.astimezone(UTC)
        case date():
            return "date", value
        case list() if value and all(isinstance(item, str) for item in value):
            return "list", tuple(value)
        case _:
            return None


def stating(term: TermText, passages: tuple[Passage, ...]) -> Passage | None:
    """The passage that states `term`: the one with its quote, else with its value, else the first."""
    if term.quote is not None:
        wanted = " ".join(term.quote.split())
        return next((passage for passage in passages if wanted in " ".join(passage.text.split())), None)
    if isinstance(term.value, int) and not isinstance(term.value, bool):
        # Money and shares are written in whole units: 2500 as $25, 1000 as 10%.
        said = {Decimal(term.value) / (100 if term.type in {"money", "basis_points"} else 1)}
        for passage in passages:
            if any(quantity.value in said and quantity.kind != "date" for quantity in quantities(passage.text)):
                return passage
    return passages[0] if passages else None
