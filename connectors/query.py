"""What a tenant's query may be: one SELECT that asks for the scope's customer, by bound parameters only.

The text is read by a small scanner that knows quotes and comments. It does not replace the database's own guard: the
connection is opened for reading only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlalchemy import text

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
  | (?P<quoted> '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | (?P<dollar>\$\w*\$).*?(?P=dollar) )
  | (?P<open> /\* | ['"`] )
  | (?P<parameter> (?<![:\w]):\w+(?!:) )
  | (?P<word> \w+ )
  | (?P<other> \S )
    """,
    re.VERBOSE | re.DOTALL,
)
#: Reserved words of statements that write or lock, also inside WITH.
_WRITING = frozenset({"insert", "update", "delete", "merge", "into", "truncate", "lock"})


def query_problems(query: str, *, allowed: Sequence[str], required: Sequence[str]) -> list[str]:
    """What is wrong with a query, all at once; parameters are named without their colon."""
    return list(dict.fromkeys(_problems(query, allowed=allowed, required=required)))


def parameters_of(query: str) -> frozenset[str]:
    """The parameters that the query takes, without their colon."""
    # SQLAlchemy's own reading, which also sees parameters in quotes and comments.
    return frozenset(text(query).compile().params)


def _problems(query: str, *, allowed: Sequence[str], required: Sequence[str]) -> Iterator[str]:
    if "\\" in query:
        yield "a backslash means something else in each database; write the query without one"
        return
    tokens = [(match.lastgroup, match[0]) for match in _TOKEN.finditer(query) if match.lastgroup != "comment"]
    if any(kind == "open" for kind, _ in tokens):
        yield "a quote or comment is not closed"
        return
    if "/*!" in query:
        yield "a comment that the database would run"
    code = [(kind, value.lower()) for kind, value in tokens if kind not in {"quoted", "dollar"}]
    yield from _form_problems(code)
    used = frozenset(value[1:] for kind, value in tokens if kind == "parameter")
    if hidden := sorted(parameters_of(query) - used):
        yield f"`:{hidden[0]}` stands in quotes or a comment, where it would be taken for a parameter"
    for name in sorted(used.difference(allowed)):
        yield f"unknown parameter `:{name}`; this lookup has {', '.join(f'`:{known}`' for known in allowed)}"
    for name in required:
        if name not in used:
            yield f"the query does not use `:{name}`"


def _form_problems(code: Sequence[tuple[str | None, str]]) -> Iterator[str]:
    words = [value for kind, value in code if kind == "word"]
    first = code[0][1] if code else ""
    if first not in {"select", "with"} or "select" not in words:
        yield "a query must be one SELECT (or WITH … SELECT)"
    if any(value == ";" for _, value in code[:-1]):
        yield "a query must be one statement"
    if writing := sorted(_WRITING.intersection(words)):
        yield f"a query may only read, so not {writing[0].upper()}"
