"""Lists as one reads them: an item with what leads it in, and a list of mere names as one passage.

"Ohio" alone says nothing; "We collect sales tax in: Ohio" does, and whoever asks about Texas must see the whole list
with what leads it in. Items that are sentences, or give a figure, stay passages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from policies.blocks import Block, Passage, plain_text

#: Characters of a list of names that make one passage, so that an answer can quote it whole; and of one name.
MAX_LIST: Final = 400
MAX_NAME: Final = 60
#: Characters of the paragraph, or else its last sentence, that leads a list in.
MAX_LEAD_IN: Final = 200

_NO_NAME: Final = re.compile(r"\d|[.;:!?。；：！？]$")
#: What stands before the last sentence is taken first, as much as there is; "e.g. " ends none.
_LAST_SENTENCE: Final = re.compile(
    r"(?s:.*(?:(?<=[.!?])\s+(?![a-z])|(?<=[。！？])|\n))?(?P<sentence>[^\n]+[:：])[*_\s]*\Z"
)


def with_lists(blocks: Iterable[Block], lines: Sequence[str], *, first_line: int = 1) -> list[Block]:
    """The blocks with each item's lead-in as its header, and items that are names put together.

    Args:
        blocks: In reading order.
        lines: Of the text that `blocks` were read from.
        first_line: Line of the document at which `lines` begin.
    """
    lists = _Lists(lines, first_line)
    for block in blocks:
        lists.add(block)
    lists.end_names()
    return lists.read


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeadIn:
    """A passage whose last sentence leads in what follows it."""

    passage: Passage
    sentence: str
    #: Of its line; a paragraph's is below that of any item.
    indent: int


class _Lists:
    """The blocks read so far, and the names that may still go on."""

    def __init__(self, lines: Sequence[str], first_line: int) -> None:
        self.read: list[Block] = []
        self._lines, self._first_line = lines, first_line
        self._around: list[_LeadIn] = []
        self._names: list[Passage] = []
        self._led_by: _LeadIn | None = None

    def add(self, block: Block) -> None:
        if not isinstance(block, Passage) or block.kind == "row":
            self.end_names()
            self._around = []
            self.read.append(block)
            return
        indent = self._indent(block) if block.kind == "item" else -1
        self._around = [lead_in for lead_in in self._around if lead_in.indent < indent]
        lead_in = self._around[-1] if self._around else None
        passage = replace(block, table_header=lead_in.sentence) if lead_in else block
        if not _is_name(passage):
            self.end_names()
            self.read.append(passage)
        else:
            if not self._goes_on(passage):
                self.end_names()
            if not self._names:
                follows = lead_in is not None and self._adjoin(lead_in.passage, passage)
                self._led_by = lead_in if follows else None
            self._names.append(passage)
        if (sentence := _lead_in(block.text)) is not None:
            self._around.append(_LeadIn(passage=passage, sentence=sentence, indent=indent))

    def end_names(self) -> None:
        """Put the names read so far together; one alone is no list."""
        names, self._names = self._names, []
        if len(names) < 2:  # noqa: PLR2004 - one name is no list
            self.read += names
            return
        text, start = self._text(names)
        header = names[0].table_header
        if self._led_by is not None:
            header = None
            if self.read[-1] == self._led_by.passage and self._led_by.passage.text == self._led_by.sentence:
                # It says nothing beside the list that it now begins.
                self.read.pop()
        self.read.append(replace(names[0], text=text, lines=(start, names[-1].lines[1]), table_header=header))

    def _goes_on(self, further: Passage) -> bool:
        """Whether a name belongs to those before it: one list, not too long."""
        if not self._names:
            return False
        last = self._names[-1]
        if further.table_header != last.table_header or not self._adjoin(last, further):
            return False
        return len(self._text([*self._names, further])[0]) <= MAX_LIST

    def _text(self, names: Sequence[Passage]) -> tuple[str, int]:
        """The list as it is written, with the sentence right above it, and its first line."""
        first, last = names[0].lines[0], names[-1].lines[1]
        if self._led_by is not None:
            above = self._led_by.passage.lines[1]
            text = self._written(above, last)
            return text[text.index(self._led_by.sentence) :], above
        text = self._written(first, last)
        return text[text.index(names[0].text.split("\n", 1)[0]) :], first

    def _written(self, first: int, last: int) -> str:
        """The lines as they stand, up to the last visible character: a passage is a piece of its document."""
        return "\n".join(self._lines[first - self._first_line : last - self._first_line + 1]).rstrip()

    def _adjoin(self, one: Passage, other: Passage) -> bool:
        """Whether only empty lines stand between them."""
        between = self._lines[one.lines[1] + 1 - self._first_line : other.lines[0] - self._first_line]
        return not any(line.strip() for line in between)

    def _indent(self, passage: Passage) -> int:
        line = self._lines[passage.lines[0] - self._first_line]
        return len(line) - len(line.lstrip(" \t>"))


def _lead_in(text: str) -> str | None:
    """What leads in a list: a text that ends in a colon, of a long one its last sentence; else None."""
    whole = text.rstrip("*_ \n")
    if not whole.endswith((":", "：")):
        return None
    if "\n" not in whole and len(plain_text(whole)) <= MAX_LEAD_IN:
        return whole
    ending = _LAST_SENTENCE.match(text)
    if ending is None or len(plain_text(ending["sentence"])) > MAX_LEAD_IN:
        return None
    return ending["sentence"].strip()


def _is_name(passage: Passage) -> bool:
    if passage.kind != "item":
        return False
    shown = plain_text(passage.text)
    return len(shown) <= MAX_NAME and not _NO_NAME.search(shown)
