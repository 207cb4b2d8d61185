"""The types of expressions, checked before one is ever evaluated.

CEL alone would meet a wrong type on a customer's question, or not at all: `1 == "a"` is false there, and the wrong half
of `a || b` is never looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal, NoReturn, TypeAlias

from policies.expressions import Call, Constant, ExpressionError, ListOf, Macro, Name, Node, Operation, Variable
from policies.facts import FactDeclaration, FactType

#: What the evaluator sees; lists by what is in them.
RuleType: TypeAlias = Literal["bool", "int", "string", "instant", "bools", "ints", "strings", "instants"]

#: Dates reach the evaluator as the start of their day, units as whole numbers.
SEEN_AS: Final[Mapping[FactType, RuleType]] = {
    "bool": "bool",
    "string": "string",
    "int": "int",
    "money": "int",
    "basis_points": "int",
    "days": "int",
    "hours": "int",
    "instant": "instant",
    "date": "instant",
    "list": "strings",
}
_LISTS: Final[Mapping[RuleType, RuleType]] = {
    "bool": "bools", "int": "ints", "string": "strings", "instant": "instants",
}  # fmt: skip
_ITEMS: Final[Mapping[RuleType, RuleType]] = {many: one for one, many in _LISTS.items()}

_FUNCTIONS: Final[Mapping[str, tuple[tuple[RuleType, ...], RuleType]]] = {
    "days_since": (("instant",), "int"),
    "days_until": (("instant",), "int"),
    "hours_since": (("instant",), "int"),
    "add_hours": (("instant", "int"), "instant"),
    "add_days": (("instant", "int"), "instant"),
    "add_months": (("instant", "int"), "instant"),
    "add_years": (("instant", "int"), "instant"),
    "start_of_day": (("instant",), "instant"),
    "end_of_day": (("instant",), "instant"),
    "timestamp": (("string",), "instant"),
}
_METHODS: Final[Mapping[str, tuple[tuple[RuleType, ...], RuleType]]] = {
    "contains": (("string", "string"), "bool"),
    "startsWith": (("string", "string"), "bool"),
    "endsWith": (("string", "string"), "bool"),
    "matches": (("string", "string"), "bool"),
}
#: Functions whose text the library reads when it evaluates, so that it must be known when the rule is loaded.
_LITERAL: Final = frozenset({"timestamp", "matches"})


class TypeChecker:
    """Infers the type of one expression over facts and terms of known types."""

    def __init__(self, *, facts: Mapping[str, FactDeclaration], terms: Mapping[str, FactType]) -> None:
        self._facts, self._terms = facts, terms
        self._variables: list[tuple[str, RuleType]] = []

    def infer(self, node: Node) -> RuleType:  # noqa: C901, PLR0911 One case a kind of node.
        """The type of `node`'s value.

        Raises:
            ExpressionError: A name or function is unknown, or types do not fit.
        """
        match node:
            case Constant(value=bool()):
                return "bool"
            case Constant(value=int()):
                return "int"
            case Constant():
                return "string"
            case Variable(name=name):
                return next(kind for variable, kind in reversed(self._variables) if variable == name)
            case Name():
                return self._name(node)
            case ListOf():
                return self._list(node)
            case Operation(operands=(_,)):
                return self._sign(node)
            case Operation(operator="?"):
                return self._conditional(node)
            case Operation():
                return self._binary(node)
            case Call():
                return self._call(node)
            case Macro():
                return self._macro(node)

    def _name(self, node: Name) -> RuleType:
        if node.name == "asked_at":
            return "instant"
        if node.name in self._terms:
            return SEEN_AS[self._terms[node.name]]
        if node.name in self._facts:
            return SEEN_AS[self._facts[node.name].type]
        near = get_close_matches(node.name, [*self._facts, *self._terms], n=1)
        remedy = f"did you mean {near[0]}?" if near else "declare the fact in facts.yaml or define the term"
        raise ExpressionError(node.at, f"{node.name!r} is no fact and no term", remedy)

    def _list(self, node: ListOf) -> RuleType:
        kinds = {self.infer(item) for item in node.items}
        if len(kinds) != 1 or not kinds <= set(_LISTS):
            raise ExpressionError(node.at, "a list of nothing or of several types", "list values of one type")
        return _LISTS[kinds.pop()]

    def _sign(self, node: Operation) -> RuleType:
        wanted: RuleType = "bool" if node.operator == "!" else "int"
        self._must_be(node.operands[0], wanted, f"'{node.operator}'")
        return wanted

    def _conditional(self, node: Operation) -> RuleType:
        condition, then, otherwise = node.operands
        self._must_be(condition, "bool", "the condition before '?'")
        return self._same(node, then, otherwise)

    def _binary(self, node: Operation) -> RuleType:
        left, right = node.operands
        match node.operator:
            case "&&" | "||":
                for operand in node.operands:
                    self._must_be(operand, "bool", f"'{node.operator}'")
                return "bool"
            case "==" | "!=":
                self._same(node, left, right)
                self._refuse_other_values(left, right)
                return "bool"
            case "<" | "<=" | ">" | ">=":
                if self._same(node, left, right) not in {"int", "string", "instant"}:
                    raise ExpressionError(node.at, f"'{node.operator}' between values without order", "use == or !=")
                return "bool"
            case "in":
                return self._membership(node, left, right)
            case "+" if self.infer(left) == "string":
                return self._same(node, left, right)
            case _:
                return self._arithmetic(node)

    def _arithmetic(self, node: Operation) -> RuleType:
        for operand in node.operands:
            if self.infer(operand) == "instant":
                remedy = "use add_days, add_months or days_since, or compare the instants"
                raise ExpressionError(node.at, f"'{node.operator}' on an instant", remedy)
            self._must_be(operand, "int", f"'{node.operator}'")
        return "int"

    def _membership(self, node: Operation, item: Node, among: Node) -> RuleType:
        kind = self.infer(among)
        if kind not in _ITEMS or self.infer(item) != _ITEMS[kind]:
            raise ExpressionError(node.at, "'in' without a list of the same type", 'write order.plan in ["a", "b"]')
        if isinstance(among, ListOf):
            for one in among.items:
                self._refuse_other_values(item, one)
        return "bool"

    def _call(self, node: Call) -> RuleType:
        if node.function == "size":
            return self._size(node)
        known = _METHODS if node.method else _FUNCTIONS
        if node.function not in known:
            self._unknown_function(node)
        wanted, result = known[node.function]
        if len(node.arguments) != len(wanted):
            takes = len(wanted) - node.method
            raise ExpressionError(node.at, f"{node.function} takes {takes} arguments", "correct the call")
        for argument, kind in zip(node.arguments, wanted, strict=True):
            self._must_be(argument, kind, node.function)
        if node.function in _LITERAL and not isinstance(node.arguments[-1], Constant):
            raise ExpressionError(node.at, f"{node.function} of a computed text", "write the text in quotes")
        return result

    def _size(self, node: Call) -> RuleType:
        # Of a text the library counts bytes.
        if len(node.arguments) != 1 or self.infer(node.arguments[0]) not in _ITEMS:
            raise ExpressionError(node.at, "size of something that is no list", "compare the text itself")
        return "int"

    def _unknown_function(self, node: Call) -> NoReturn:
        functions: Sequence[str] = [*_FUNCTIONS, *_METHODS, "size", "all", "exists", "exists_one", "filter", "map"]
        near = get_close_matches(node.function, functions, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(functions)}"
        raise ExpressionError(node.at, f"the function {node.function!r} is not known", remedy)

    def _macro(self, node: Macro) -> RuleType:
        kind = self.infer(node.target)
        if kind not in _ITEMS:
            raise ExpressionError(node.at, f"{node.macro} of something that is no list", "call it on a list")
        self._variables.append((node.variable, _ITEMS[kind]))
        body = self.infer(node.body)
        self._variables.pop()
        if node.macro == "map":
            if body not in _LISTS:
                raise ExpressionError(node.at, "a list of lists", "map to single values")
            return _LISTS[body]
        if body != "bool":
            raise ExpressionError(node.at, f"{node.macro} needs a condition", "compare the variable with something")
        return kind if node.macro == "filter" else "bool"

    def _same(self, node: Operation, left: Node, right: Node) -> RuleType:
        kinds = self.infer(left), self.infer(right)
        if kinds[0] != kinds[1]:
            message = f"'{node.operator}' between {kinds[0]} and {kinds[1]}"
            raise ExpressionError(node.at, message, "use values of one type on both sides")
        return kinds[0]

    def _must_be(self, node: Node, wanted: RuleType, where: str) -> None:
        kind = self.infer(node)
        if kind != wanted:
            raise ExpressionError(node.at, f"{where} needs {wanted}, not {kind}", "correct the expression")

    def _refuse_other_values(self, *sides: Node) -> None:
        """Refuse a text that a fact with a closed set of values can never equal."""
        declared = next(
            (self._facts[side.name] for side in sides if isinstance(side, Name) and side.name in self._facts), None
        )
        for side in sides:
            if isinstance(side, Constant) and declared and declared.values and side.value not in declared.values:
                remedy = f"its values are {', '.join(declared.values)}"
                raise ExpressionError(side.at, f"{declared.name} is never {side.value!r}", remedy)
