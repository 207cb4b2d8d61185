"""The facts, terms and calculations that one playbook may name in its expressions and wordings.

A playbook is read before any policy, so the type of a term is known only by the ending of its name or by its use: an
expression is right when it is right for some type of each such term.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import product
from typing import Final

from policies.expressions import ExpressionError, names, parse
from policies.facts import Facts, FactType, FactValue
from policies.rules import infer_type
from policies.terms import unit_of

_POSSIBLE: Final[tuple[FactType, ...]] = ("bool", "int", "string", "instant", "list")
_SAMPLES: Final[dict[FactType, FactValue]] = {
    "bool": True,
    "string": "sample",
    "int": 1,
    "money": 100,
    "basis_points": 100,
    "days": 1,
    "hours": 1,
    "instant": datetime(2024, 2, 29, 12, tzinfo=UTC),
    "date": date(2024, 2, 29),
    "list": ("sample",),
}


class Vocabulary:
    """What may be named, and of what type it is as far as that is known."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[str, FactType] = {}
        self._open: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self._facts or name in self._known or name in self._open

    def add_terms(self, terms: Iterable[str]) -> None:
        for name in terms:
            if name != "passages" and name not in self:
                self.define(name, unit_of(name))

    def define(self, name: str, kind: FactType | None) -> None:
        """Add `name`; None: of a type nobody knows yet."""
        if kind is None:
            self._open.add(name)
        else:
            self._open.discard(name)
            self._known[name] = kind

    def sample(self, name: str) -> FactValue:
        """A value of the type of `name`; None while its type is not known."""
        declared = self._facts.get(name)
        if declared is not None:
            return declared.values[0] if declared.values else _SAMPLES[declared.type]
        return _SAMPLES[self._known[name]] if name in self._known else None

    def check(self, expression: str) -> FactType | tuple[str, str]:
        """The type that `expression` gives, or what is wrong with it and what to do."""
        try:
            named = {name.name for name in names(parse(expression))}
        except ExpressionError as error:
            return _fault(error)
        loose = sorted(named & self._open)
        first: ExpressionError | None = None
        for kinds in product(_POSSIBLE, repeat=len(loose)):
            try:
                return infer_type(
                    expression, facts=self._facts, terms={**self._known, **dict(zip(loose, kinds, strict=True))}
                )
            except ExpressionError as error:
                first = first or error
        assert first is not None  # noqa: S101 At least one combination was tried.
        return _fault(first)


def _fault(error: ExpressionError) -> tuple[str, str]:
    return f"{error.message} at character {error.position + 1}", error.remedy
