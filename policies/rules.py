"""Decision rules: CEL over facts and resolved values, evaluated so that what is unknown is asked for and never guessed.

The evaluator sees bool, string, int, UTC instants and lists. A fact or term without a value is *missing*: a rule that
needs it has no value, and says what it lacks; a rule that is decided without it (`a || b`, whichever comes first)
stands. `asked_at` is always known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from policies.calendar_functions import FUNCTIONS
from policies.cel_extension import load_evaluator
from policies.expressions import Constant, ExpressionError, Node, calls, names, parse
from policies.facts import Facts, FactType, FactValue
from policies.rule_types import RuleType, TypeChecker
from policies.version import start_of_day

if TYPE_CHECKING:
    import cel
else:
    cel = load_evaluator()

RuleValue: TypeAlias = bool | int | str | datetime | tuple[str, ...]

_RESULTS: Final[Mapping[RuleType, FactType]] = {
    "bool": "bool", "int": "int", "string": "string", "instant": "instant", "strings": "list",
}  # fmt: skip
_SAMPLE_INSTANT: Final = datetime(2024, 2, 29, 12, tzinfo=UTC)
_SAMPLES: Final[Mapping[FactType, FactValue]] = {
    "bool": True,
    "string": "sample",
    "int": 1,
    "money": 100,
    "basis_points": 100,
    "days": 1,
    "hours": 1,
    "instant": _SAMPLE_INSTANT,
    "date": date(2024, 2, 29),
    "list": ("sample",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a rule gives: a value, or what it lacks, or why it cannot be computed."""

    value: RuleValue | None = None
    #: Facts and terms that the value depends on and that are unknown; empty when it is decided without them.
    missing: frozenset[str] = frozenset()
    #: Arithmetic that left the range of numbers; such a rule decides nothing.
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled expression. Compiling is cached; evaluating costs some 10 µs."""

    source: str
    #: Facts and terms that it names; `asked_at` is not among them.
    references: frozenset[str]
    _program: cel.Program
    #: Name in the program -> dotted name.
    _names: Mapping[str, str]
    _functions: Mapping[str, Callable[..., Any]]

    def evaluate(self, values: Mapping[str, FactValue], *, asked_at: datetime, zone: ZoneInfo) -> Evaluation:
        """The value of the rule on `values`, where None and absence both mean unknown.

        Args:
            values: Facts and resolved terms by dotted name; a date counts as the start of its day in `zone`.
            asked_at: Instant of the question, aware.
            zone: The policy's zone, in which calendar functions count.

        Raises:
            TypeError: A value is of a type that facts cannot have, such as a float or a naive datetime.
        """
        known = {
            variable: _seen(asked_at if name == "asked_at" else values.get(name), zone)
            for variable, name in self._names.items()
        }
        missing: set[str] = set()

        def resolve(variable: str) -> object:
            value = known[variable]
            if value is None:
                missing.add(self._names[variable])
            return value

        context = cel.Context(functions={name: partial(call, asked_at, zone) for name, call in self._functions.items()})
        context.set_variable_resolver(resolve)
        try:
            value = self._program.execute(context)
        except (RuntimeError, ArithmeticError, ValueError, TypeError) as error:
            if missing:
                return Evaluation(missing=frozenset(missing))
            return Evaluation(failure=f"{type(error).__name__} in {self.source!r}")
        return Evaluation(value=tuple(value) if isinstance(value, list) else value)


@lru_cache(maxsize=4_096)
def load_rule(expression: str) -> Rule:
    """The rule of an expression that was checked when its document was loaded.

    Raises:
        ExpressionError: It is not CEL, or uses a part of CEL that rules leave out.
    """
    tree = parse(expression)
    variables: dict[str, str] = {}
    pieces, position = [], 0
    for name in names(tree):
        # The library resolves whole names only, and looks a name up when it needs it: that tells what a value lacks.
        variable = variables.setdefault(name.name, f"_{len(variables)}")
        pieces += [expression[position : name.at], variable]
        position = name.end
    try:
        program = cel.compile("".join([*pieces, expression[position:]]))
    except ValueError as error:
        raise ExpressionError(0, "the expression is no CEL", "correct the syntax") from error
    return Rule(
        source=expression,
        references=frozenset(variables) - {"asked_at"},
        _program=program,
        _names={variable: name for name, variable in variables.items()},
        _functions={name: FUNCTIONS[name] for name in program.functions() if name in FUNCTIONS},
    )


def compile_rule(expression: str, *, facts: Facts, terms: Mapping[str, FactType]) -> Rule:
    """The rule of `expression`, its names, functions and types checked and evaluated once on samples.

    Raises:
        ExpressionError: With the place in the expression, what is wrong and what to do.
    """
    infer_type(expression, facts=facts, terms=terms)
    return load_rule(expression)


def infer_type(expression: str, *, facts: Facts, terms: Mapping[str, FactType]) -> FactType:
    """The type of the value that `expression` gives; units are not inferred.

    Raises:
        ExpressionError: As `compile_rule`.
    """
    tree = parse(expression)
    kind = TypeChecker(facts=facts, terms=terms).infer(tree)
    if kind not in _RESULTS:
        raise ExpressionError(0, f"the result is a list of {kind}", "give a single value or a list of texts")
    _try_literals(tree)
    samples = {name: _sample(name, facts, terms) for name in load_rule(expression).references}
    tried = load_rule(expression).evaluate(samples, asked_at=_SAMPLE_INSTANT, zone=ZoneInfo("UTC"))
    if tried.failure is not None:
        raise ExpressionError(0, f"it fails on sample values ({tried.failure})", "correct the expression")
    return _RESULTS[kind]


def _sample(name: str, facts: Facts, terms: Mapping[str, FactType]) -> FactValue:
    if name in terms:
        return _SAMPLES[terms[name]]
    declared = facts[name]
    return declared.values[0] if declared.values else _SAMPLES[declared.type]


def _try_literals(node: Node) -> None:
    """Run what a short circuit might hide until a customer's question: dates and patterns written in quotes."""
    for call in calls(node):
        text = call.arguments[-1] if call.arguments else None
        if not isinstance(text, Constant) or call.function not in {"timestamp", "matches"}:
            continue
        try:
            cel.evaluate("timestamp(x)" if call.function == "timestamp" else '"".matches(x)', {"x": text.value})
        except (RuntimeError, ValueError, TypeError) as error:
            remedy = "write an instant with its offset, 2025-02-01T00:00:00Z, or a regular expression"
            raise ExpressionError(text.at, f"{text.value!r} is not understood by {call.function}", remedy) from error


def _seen(value: object, zone: ZoneInfo) -> object:
    match value:
        case None | bool() | str():
            return value
        case int() if -(2**63) <= value < 2**63:
            return value
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
        case date() if not isinstance(value, datetime):
            return start_of_day(value, zone)
        case tuple():
            return list(value)
        case _:
            raise TypeError(f"{value!r} is no value of a fact")
