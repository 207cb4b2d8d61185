"""From the bytes of a file to its text: UTF-8, one kind of line end, no control characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.errors import Fault

#: Largest file that is read, in bytes.
MAX_BYTES = 5_000_000

_CONTROL = re.compile("\\A\ufeff|[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NAMES = {"\x00": "a NUL character", "\ufeff": "a byte order mark"}


def decode(content: bytes, *, path: str) -> str | list[Fault]:
    """The text of `content` with line feeds as line ends, or what is wrong with its bytes.

    Line ends may be LF or CRLF throughout; a mixture would make line numbers depend on the reader.
    """
    if len(content) > MAX_BYTES:
        return [Fault(path=path, message=f"{len(content)} bytes, more than {MAX_BYTES}", remedy="split the document")]
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        return [_not_utf8(content, error.start, path)]
    faults = [*_mixed_line_ends(text, path), *_invisible(text, path)]
    return faults or text.replace("\r\n", "\n")


def _not_utf8(content: bytes, position: int, path: str) -> Fault:
    if content[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return Fault(path=path, line=1, column=1, message="UTF-16, not UTF-8", remedy="save the file as UTF-8")
    line, column = _place(content[:position].decode(errors="replace"))
    message = f"byte 0x{content[position]:02X} is not UTF-8 (Latin-1?)"
    return Fault(path=path, line=line, column=column, message=message, remedy="save the file as UTF-8")


def _mixed_line_ends(text: str, path: str) -> Iterator[Fault]:
    ends = re.finditer("\r\n|\r|\n", text)
    first = next(ends, None)
    if first is None:
        return
    usual = first[0] if first[0] != "\r" else "\n"
    for end in (first, *ends):
        if end[0] != usual:
            names = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
            line, column = _place(text[: end.start()])
            message = f"line ends are mixed: {names[end[0]]} after {names[usual]}"
            yield Fault(path=path, line=line, column=column, message=message, remedy="save with one kind of line end")
            return


def _invisible(text: str, path: str) -> Iterator[Fault]:
    for found in _CONTROL.finditer(text):
        line, column = _place(text[: found.start()])
        name = _NAMES.get(found[0], f"the control character U+{ord(found[0]):04X}")
        yield Fault(path=path, line=line, column=column, message=name, remedy="delete it")
        return


def tabs(text: str, *, path: str, start: int = 0) -> Iterator[Fault]:
    """The first tab of `text` from `start` on: it looks like spaces and is read as another number of them."""
    if (position := text.find("\t", start)) >= 0:
        line, column = _place(text[:position])
        yield Fault(path=path, line=line, column=column, message="a tab", remedy="write spaces")


def _place(before: str) -> tuple[int, int]:
    return len(re.findall("\r\n|\r|\n", before)) + 1, len(re.split("\r\n|\r|\n", before)[-1]) + 1
