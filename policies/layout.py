"""How a version is laid out: `<version>.md` with its head between two rules, and `<version>.terms.yaml` beside it."""

from __future__ import annotations

import re
from typing import Final

#: What the name of a sidecar has in the place of `.md`.
SIDECAR: Final = ".terms.yaml"

_HEAD: Final = re.compile(r"---[ ]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ ]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def head_of(text: str) -> re.Match[str] | None:
    """The front matter that a text begins with, whoever's it is: its rules, and `yaml` between them."""
    return _HEAD.match(text)


def own_head_of(text: str) -> re.Match[str] | None:
    """The front matter that a text begins with, where it is ours: it has the key `policy`."""
    head = head_of(text)
    return head if head is not None and re.search(r"^policy\s*:", head["yaml"], re.MULTILINE) else None
