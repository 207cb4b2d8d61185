"""How a table of patterns becomes a scanner: every rule says what its words mean, the first that matches takes them.

All patterns of a language are one alternation, so a question is scanned once; only the rule that matched is then
matched again, alone, for its named parts. Patterns see folded text. A rule that finds words which mean nothing
(29 February 2023, "for now", 周一至周五) takes them all the same, so that no later rule reads a part of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from support_agent.domain.reading import DurationUnit, Span
from support_agent.language.dates import Asked, Found

Bound: TypeAlias = Literal["since", "after", "before", "until"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """A duration: takes its words, and is no time."""

    amount: int
    unit: DurationUnit
    #: The lowest number that imprecise words mean; `amount` is the highest.
    least: int


Meaning: TypeAlias = Found | Length | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means; `needs_operator` ones count only behind a preposition ("in May", never "may I")."""

    pattern: str
    meaning: Callable[[re.Match[str], Asked], Meaning]
    needs_operator: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A length, counted back or ahead from a time."""

    length: Length
    ahead: bool
    #: Everything up to there is meant: "within two weeks after 1 March".
    throughout: bool
    #: Where the words of both stand.
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Words that a rule takes: with the operators around them, and without."""

    rule: Rule
    match: re.Match[str]
    #: What the expression is counted from the match: in "two days before 1 June", two days back.
    counted: Count | None = None
    #: With operators.
    start: int
    end: int
    operator: str
    suffix: str

    @property
    def span(self) -> Span:
        """Where its words stand, without operators."""
        return self.counted.span if self.counted else self.match.span()


def nothing(_match: re.Match[str], _asked: Asked) -> None:
    """The meaning of words that only look like a time."""


class Grammar:
    """The rules of one language, ready to scan.

    Args:
        rules: In order of preference where two match at the same place.
        before, after: What must stand around an expression for it to be one: zero-width patterns.
        operators, suffixes: Patterns of the words in front and behind that bound an expression.
    """

    def __init__(self, rules: Sequence[Rule], *, before: str, after: str, operators: str, suffixes: str) -> None:
        self._rules = rules
        self._after = after
        self._alone: dict[int, re.Pattern[str]] = {}
        alternatives = "|".join(_alternative(number, rule) for number, rule in enumerate(rules))
        self._all = re.compile(f"{before}(?P<operator>{operators})?(?:{alternatives}){after}")
        self._suffix = re.compile(suffixes)

    def hits(self, folded: str) -> Iterator[Hit]:
        """What the rules take from the text, from left to right."""
        position = 0
        while found := self._all.search(folded, position):
            # The operator stands first, so the last group is the rule that matched.
            name = found.lastgroup or ""
            number = int(name.removeprefix("rule"))
            suffix = self._suffix.match(folded, found.end())
            position = suffix.end() if suffix else found.end()
            match = self._pattern(number).match(folded, found.start(name))
            if match is None:  # pragma: no cover The same pattern has just matched here.
                continue
            yield Hit(
                rule=self._rules[number],
                match=match,
                start=found.start(),
                end=position,
                operator=_plain(found["operator"]),
                suffix=_plain(suffix[0] if suffix else None),
            )

    def _pattern(self, number: int) -> re.Pattern[str]:
        if number not in self._alone:
            self._alone[number] = re.compile(f"(?:{self._rules[number].pattern}){self._after}")
        return self._alone[number]


def _plain(words: str | None) -> str:
    return " ".join((words or "").split()).removesuffix(" the")


def _alternative(number: int, rule: Rule) -> str:
    # Names may repeat from rule to rule; in the alternation only the rules themselves have one.
    pattern = f"(?P<rule{number}>{re.sub(r'[?]P<[a-z_0-9]+>', '?:', rule.pattern)})"
    return f"(?(operator){pattern}|(?!))" if rule.needs_operator else pattern
