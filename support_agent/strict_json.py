"""JSON from outside, read so that no two readers can take it for different things.

A key stands once in its object; numbers are finite, and whole ones have at most 64 bits, as in the database and in
rules.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

INTEGERS: Final = range(-(2**63), 2**63)
#: No whole number of 64 bits is written with more characters.
_MAX_DIGITS: Final = 20


def loads(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value of `text`.

    Raises:
        ValueError: It is no such JSON; the message says why and never repeats what was read.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_unique_keys, parse_int=_whole, parse_float=_finite, parse_constant=_refuse
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def is_storable(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether no text in it holds a NUL or half a character, which the database cannot hold."""
    match value:
        case str():
            return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
        case dict():
            return all(is_storable(key) and is_storable(item) for key, item in value.items())
        case list():
            return all(map(is_storable, value))
        case _:
            return True


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) != len(pairs):
        raise ValueError("a key stands twice")
    return named


def _whole(digits: str) -> int:
    if len(digits) > _MAX_DIGITS or (number := int(digits)) not in INTEGERS:
        raise ValueError("a number beyond 64 bits")
    return number


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number too large to be told from infinity")
    return number


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
