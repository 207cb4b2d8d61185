"""The part of CEL that rules are written in, as a tree: what an expression names, and where.

The library evaluates; it does not say which facts an expression names, and it takes two values of different types for
unequal where we want a fault. So expressions are read here too. Left out on purpose: decimals, `/`, unsigned integers,
bytes, maps, indexing, `null` and `has` (an unknown fact is asked for, never assumed absent).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

MAX_LENGTH: Final = 4_000
_MAX_DEPTH: Final = 40

MACROS: Final = frozenset({"all", "exists", "exists_one", "map", "filter"})


class ExpressionError(ValueError):
    """An expression that no rule may be; `position` counts characters from 0."""

    def __init__(self, position: int, message: str, remedy: str) -> None:
        self.position, self.message, self.remedy = position, message, remedy
        super().__init__(f"{message} at character {position + 1}: {remedy}")


@dataclass(frozen=True, slots=True)
class Constant:
    at: int
    value: bool | int | str


@dataclass(frozen=True, slots=True)
class Name:
    """A fact or term by its dotted name."""

    at: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Variable:
    """What a macro runs through a list."""

    at: int
    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    at: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its one, two or three operands; `?` is the conditional."""

    at: int
    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function, or a method whose target is the first argument."""

    at: int
    function: str
    arguments: tuple[Node, ...]
    method: bool = False


@dataclass(frozen=True, slots=True)
class Macro:
    at: int
    macro: str
    target: Node
    variable: str
    body: Node


Node: TypeAlias = Constant | Name | Variable | ListOf | Operation | Call | Macro

_Kind: TypeAlias = Literal["string", "number", "word", "sign", "end"]
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*)"
    r'|(?P<string>[rR]?(?:"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<number>[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?|\.[0-9]+)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>&&|\|\||[=!<>]=|[-+*/%!<>()\[\]{},.?:])"
)
#: From the loosest to the tightest; all are left-associative.
_BINARY: Final = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"<", "<=", ">", ">=", "==", "!=", "in"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str
    at: int

    @property
    def end(self) -> int:
        return self.at + len(self.text)


def parse(expression: str) -> Node:
    """The tree of `expression`.

    Raises:
        ExpressionError: It is not CEL, or uses a part of CEL that rules leave out.
    """
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH, f"longer than {MAX_LENGTH} characters", "make it two terms")
    parser = _Parser(list(_tokens(expression)))
    return parser.whole()


def names(node: Node) -> Iterator[Name]:
    """Every place where the tree names a fact or term, in reading order."""
    return (part for part in _walk(node) if isinstance(part, Name))


def calls(node: Node) -> Iterator[Call]:
    return (part for part in _walk(node) if isinstance(part, Call))


def _walk(node: Node) -> Iterator[Node]:
    yield node
    match node:
        case ListOf(items=parts) | Operation(operands=parts) | Call(arguments=parts):
            for part in parts:
                yield from _walk(part)
        case Macro(target=target, body=body):
            yield from _walk(target)
            yield from _walk(body)


def _tokens(expression: str) -> Iterator[_Token]:
    position = 0
    while position < len(expression):
        found = _TOKEN.match(expression, position)
        if found is None:
            message = f"{expression[position]!r} has no meaning here"
            raise ExpressionError(position, message, "close quotes, and write words for text")
        position = found.end()
        match found.lastgroup:
            case "string" | "number" | "word" | "sign" as kind:
                yield _Token(kind, found[0], found.start())
    yield _Token("end", "", len(expression))


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._next, self._depth = tokens, 0, 0
        self._variables: list[str] = []

    def whole(self) -> Node:
        node = self._conditional()
        if self._token.kind != "end":
            raise self._unexpected()
        return node

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> _Token | None:
        token = self._token
        if token.text not in texts or token.kind not in {"sign", "word"}:
            return None
        self._next += 1
        return token

    def _expect(self, text: str) -> _Token:
        token = self._take(text)
        if token is None:
            raise self._unexpected(f"a {text!r} is missing")
        return token

    def _unexpected(self, message: str | None = None) -> ExpressionError:
        token = self._token
        found = f"{token.text!r} is not expected" if token.text else "the expression is cut short"
        return ExpressionError(token.at, message or found, "correct the syntax")

    def _conditional(self) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ExpressionError(self._token.at, f"nested more than {_MAX_DEPTH} deep", "make it two terms")
        node = self._binary(0)
        if question := self._take("?"):
            then = self._conditional()
            self._expect(":")
            node = Operation(question.at, "?", (node, then, self._conditional()))
        self._depth -= 1
        return node

    def _binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self._unary()
        node = self._binary(level + 1)
        while operator := self._take(*_BINARY[level]):
            if operator.text == "/":
                remedy = "multiply the other side: money is in minor units, shares in basis points"
                raise ExpressionError(operator.at, "'/' is refused", remedy)
            node = Operation(operator.at, operator.text, (node, self._binary(level + 1)))
        return node

    def _unary(self) -> Node:
        signs = []
        while sign := self._take("!", "-"):
            signs.append(sign)
        node = self._member()
        for sign in reversed(signs):
            node = Operation(sign.at, sign.text, (node,))
        return node

    def _member(self) -> Node:
        node = self._primary()
        while True:
            if bracket := self._take("["):
                raise ExpressionError(bracket.at, "an index is refused", "use in, exists or all")
            if self._take(".") is None:
                return node
            word = self._word()
            if self._take("(") is None:
                raise ExpressionError(word.at, f"{word.text!r} of a value", "name facts and terms directly")
            node = self._method(node, word)

    def _method(self, target: Node, word: _Token) -> Node:
        if word.text not in MACROS:
            return Call(word.at, word.text, (target, *self._arguments(")")), method=True)
        variable = self._word()
        if variable.text.startswith("_"):
            raise ExpressionError(variable.at, f"{variable.text!r} as a variable", "begin it with a letter")
        self._expect(",")
        self._variables.append(variable.text)
        body = self._conditional()
        self._variables.pop()
        self._expect(")")
        return Macro(word.at, word.text, target, variable.text, body)

    def _primary(self) -> Node:
        token = self._token
        match token.kind, token.text:
            case "string", text:
                self._next += 1
                return Constant(token.at, _text(token, text))
            case "number", text:
                self._next += 1
                return Constant(token.at, _integer(token, text))
            case "word", _:
                return self._named()
            case "sign", "(":
                self._next += 1
                node = self._conditional()
                self._expect(")")
                return node
            case "sign", "[":
                self._next += 1
                return ListOf(token.at, self._arguments("]"))
            case "sign", "{":
                raise ExpressionError(token.at, "a map is refused", "use facts and terms")
            case _:
                raise self._unexpected()

    def _named(self) -> Node:
        first = self._word()
        if first.text in {"true", "false"}:
            return Constant(first.at, first.text == "true")
        if first.text == "null":
            raise ExpressionError(first.at, "'null' is refused", "an unknown fact is asked for; test another fact")
        if first.text in self._variables:
            return Variable(first.at, first.text)
        if self._take("("):
            if first.text == "has":
                raise ExpressionError(first.at, "'has' is refused", "an unknown fact is asked for; test another fact")
            return Call(first.at, first.text, self._arguments(")"))
        words = [first]
        # The last word of `order.tags.size()` is a method.
        while self._token.text == "." and self._is_word(1) and not self._is_sign(2, "("):
            self._next += 1
            words.append(self._word())
        return Name(first.at, words[-1].end, ".".join(word.text for word in words))

    def _arguments(self, closing: str) -> tuple[Node, ...]:
        if self._take(closing):
            return ()
        arguments = [self._conditional()]
        while self._take(","):
            arguments.append(self._conditional())
        self._expect(closing)
        return tuple(arguments)

    def _word(self) -> _Token:
        token = self._token
        if token.kind != "word":
            raise self._unexpected()
        self._next += 1
        return token

    def _is_word(self, ahead: int) -> bool:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)].kind == "word"

    def _is_sign(self, ahead: int, text: str) -> bool:
        token = self._tokens[min(self._next + ahead, len(self._tokens) - 1)]
        return token.kind == "sign" and token.text == text


def _integer(token: _Token, text: str) -> int:
    if re.fullmatch("[0-9]+[uU]", text):
        raise ExpressionError(token.at, f"{text}: unsigned integers are refused", "leave the u out")
    if not re.fullmatch("0|[1-9][0-9]*", text):
        remedy = "use whole numbers: money in minor units, shares in basis points"
        raise ExpressionError(token.at, f"{text} is no whole number", remedy)
    if int(text) >= 2**63:
        raise ExpressionError(token.at, f"{text} is too large", "use a number below 2^63")
    return int(text)


def _text(token: _Token, text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise ExpressionError(token.at, f"{text} is no text", "write a backslash as \\\\") from error
    return str(value)
