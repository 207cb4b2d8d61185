"""One candidate as the rungs see it, and how two of them compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from policies.authority import FAQ, Ladder
from policies.facts import FactValue
from policies.version import Better, Clause, Effect, PolicyVersion
from support_agent.domain.conflict import Candidate


class Statement(NamedTuple):
    """A candidate with what the rungs ask of it, read once. Two of them are told apart by `number`."""

    number: int
    candidate: Candidate
    clause: Clause
    version: PolicyVersion
    level: int
    value: FactValue
    #: Which direction is better for the customer; for a rule true is.
    better: Better | None
    effect: Effect

    @property
    def is_bound(self) -> bool:
        return self.effect in {"minimum", "maximum"}

    @property
    def is_faq(self) -> bool:
        return self.version.authority == FAQ

    @property
    def is_unknown(self) -> bool:
        return bool(self.candidate.missing)


def statements_of(candidates: Sequence[Candidate], ladder: Ladder) -> list[Statement]:
    """The candidates in an order of their own, so that the order in which they came cannot matter.

    Raises:
        ValueError: A candidate stands in no clause; records are facts and are not weighed against policies.
        KeyError: A clause has a rank that the ladder lacks.
    """
    ordered = sorted((_sort_key(candidate), number) for number, candidate in enumerate(candidates))
    return [_statement(number, candidates[index], ladder) for number, (_, index) in enumerate(ordered)]


def same(a: Statement, b: Statement) -> bool:
    return a.value == b.value and type(a.value) is type(b.value)


def agree(statements: Sequence[Statement]) -> bool:
    first = statements[0]
    return all(same(first, other) for other in statements[1:])


def is_better(a: Statement, b: Statement, direction: Better | None) -> bool:
    """Whether `a` is better for the customer than `b`; values of different or unordered types are not comparable."""
    x, y = a.value, b.value
    if direction is None or type(x) is not type(y):
        return False
    if not isinstance(x, (int, datetime, date)):
        return False
    # Equal types were checked above, which the type checker cannot carry over to `y`.
    return bool(x > y if direction == "higher" else x < y)  # type: ignore[operator]  # equal types were checked above


def are_rivals(a: Statement, b: Statement) -> bool:
    """Whether these are two versions of one policy: never in force together but by mistake, so neither outranks."""
    return a.version.policy == b.version.policy and a.version.version != b.version.version


def _sort_key(candidate: Candidate) -> tuple[object, ...]:
    clause = _clause(candidate)
    version = clause.version
    return version.policy, version.valid.start, version.version, clause.anchor, candidate.evidence.key


def _statement(number: int, candidate: Candidate, ladder: Ladder) -> Statement:
    clause = _clause(candidate)
    term = candidate.evidence.term
    better: Better | None = None
    if term is not None:
        better = "higher" if term.rule is not None else term.better
    effect = clause.effect
    if better is None and effect in {"minimum", "maximum"}:
        # Without a direction nothing is worse or better than the bound: it says what holds.
        effect = "mandatory"
    version = clause.version
    return Statement(
        number, candidate, clause, version, ladder.level(version.authority), candidate.value, better, effect
    )


def _clause(candidate: Candidate) -> Clause:
    if candidate.evidence.clause is None:
        raise ValueError(f"{candidate.evidence.locator} stands in no clause")
    return candidate.evidence.clause
