"""The structure of a Markdown text: headings, passages with their exact lines, and blocks of terms.

Besides Markdown's own headings, what people write as headings counts: a bold line, a numbered title line
(`1.2 Refunds`, `一、总则`), and the chapters and articles of Chinese law (第一章, 第三条). An article or a numbered
paragraph that says something is heading and passage at once: its number is the heading, the whole paragraph the
passage. A title that stands over nothing is text. HTML comments, link definitions and paragraphs without a visible
letter are no passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Literal, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from policies.text import HAN

PassageKind: TypeAlias = Literal["paragraph", "item", "row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What search ranks and answers quote."""

    #: A substring of the document, from its first to its last visible character.
    text: str
    kind: PassageKind
    #: First and last line, from 1.
    lines: tuple[int, int]
    #: Of a table row: the line that names its columns. Of a list's item: the sentence that leads the list in.
    table_header: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    #: Without markup.
    text: str
    #: As the author gave it (`{#window}`).
    anchor: str | None = None
    #: 1 is the outermost.
    level: int
    line: int
    #: The line it was read from, when it counts as a heading only because something follows.
    weak: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsBlock:
    """A fenced block `terms`: YAML and the line on which it begins."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeLine:
    """A line in braces directly under a heading."""

    text: str
    line: int


Block: TypeAlias = Heading | Passage | TermsBlock | AttributeLine

# Levels below Markdown's own six.
_PART, _CHAPTER, _SECTION, _BOLD, _ORDINAL, _NUMBERED, _ARTICLE = 7, 8, 9, 10, 11, 12, 20

_HAN_NUMBER = "[〇零一二三四五六七八九十百千两0-9]+"
_ARTICLE_LINE = re.compile(rf"\s*(?:\*\*|__)?(第{_HAN_NUMBER}条(?:之{_HAN_NUMBER})?)(?:\*\*|__)?(?=[\s　:：【（(]|$)")
_CHAPTER_LINE = re.compile(rf"\s*(?:\*\*)?第{_HAN_NUMBER}(分?编|章|节|部分)(?=[\s　:：]|$)[^。；;]*$")
_BOLD_LINE = re.compile(
    r"\s*(?P<mark>\*\*|__)(?=\S)(?P<text>(?:(?!\*\*|__).)+)(?<![\s\\.。;；,，])(?P=mark)\s*[:：]?\s*$"
)
_GLUED_LINE = re.compile(r" {0,3}(?P<marks>#{1,6})(?P<text>[^\s#!].*)$")
_NUMBERED_LINE = re.compile(r"\s*(?P<number>\d{1,2}(?:\.\d{1,2}){1,4})\\?[.、)）]?\s+(?P<text>\S.*)$")
_ORDINAL_LINE = re.compile(rf"\s*(?:\d{{1,2}}\\?[.．]|{_HAN_NUMBER}、)\s*(?P<text>[^\s\d].*)$")
_ATTRIBUTES = re.compile(r" {0,3}\{[^{:%#<].*\}\s*$")
_ANCHOR = re.compile(r"\s*\{#(?P<anchor>[^}\s]*)\}\s*$")

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
#: Stands for a comment's characters while the structure is read; no document holds it.
_HIDDEN = "\x00"
#: From one visible character to the last one before a comment.
_PIECE = re.compile(rf"[^\s{_HIDDEN}](?:[^{_HIDDEN}]*[^\s{_HIDDEN}])?")
_INVISIBLE_MARKUP = re.compile(r"<[^<>]*>|!?\[\]\([^()\s]*\)|(?<=\])\([^()\s]*\)|\{\{[<%][^{}]*[%>]\}\}")
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\([^()]*\)")
_EMPHASIS = re.compile(r"(?<!\w)[*_`]+(?=\S)|(?<=\S)[*_`]+(?!\w)")
_BULLET = re.compile(r"^[ >]*[-*+][ ]+", re.MULTILINE)
_HAN_BLANK = re.compile(rf"(?<=[{HAN}，。；：、])\s(?=[{HAN}])")
_MAX_TITLE = 80
_MAX_HEADING = 200


def read_blocks(text: str, *, first_line: int = 1) -> list[Block]:
    """The blocks of `text` in reading order.

    Args:
        text: Markdown with line feeds as line ends, without control characters.
        first_line: Line of the document at which `text` begins.
    """
    marked = _COMMENT.sub(lambda comment: re.sub("[^\n]", _HIDDEN, comment[0]), text)
    lines = marked.split("\n")
    tokens = _markdown().parse(marked.replace(_HIDDEN, " "))
    return list(_over_something(_blocks(tokens, lines, first_line)))


@cache
def _markdown() -> MarkdownIt:
    # Policies are prose: indented paragraphs are no code, and text between HTML tags is text.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "code", "html_block"])


def _blocks(  # noqa: C901 One case a kind of token.
    tokens: Sequence[Token], lines: Sequence[str], first_line: int
) -> Iterator[Block]:
    numbers: set[str] = set()
    item_depth, table_header = 0, None
    after_heading = False
    for index, token in enumerate(tokens):
        match token.type:
            case "list_item_open":
                item_depth += 1
            case "list_item_close":
                item_depth -= 1
            case "thead_open":
                table_header = lines[_start(token)].strip()
            case "fence" if token.info.strip() == "terms":
                yield TermsBlock(text=token.content, line=_start(token) + 1 + first_line)
            case "fence":
                yield from _code(token, lines, first_line)
            case "tr_open" if tokens[index - 1].type != "thead_open":
                yield from _passages(lines, _span(token), first_line, kind="row", table_header=table_header)
            case "inline" if tokens[index - 1].type == "heading_open":
                yield from _heading(tokens[index - 1], token, lines, first_line)
            case "inline" if tokens[index - 1].type == "paragraph_open" and item_depth:
                title = _list_title(tokens, index, item_depth, lines, first_line)
                item = _passages(lines, _span(token), first_line, kind="item", content=token.content)
                yield from [title] if title else item
            case "inline" if tokens[index - 1].type == "paragraph_open":
                yield from _paragraph(token, lines, first_line, numbers=numbers, after_heading=after_heading)
        # A heading closes right before the paragraph that opens under it.
        after_heading = token.type == "heading_close" or (after_heading and token.type == "paragraph_open")


def _start(token: Token) -> int:
    return _span(token)[0]


def _span(token: Token) -> tuple[int, int]:
    """The half-open range of line indexes."""
    if token.map is None:
        raise AssertionError(f"the Markdown parser gives {token.type} no lines")
    return token.map[0], token.map[1]


def _heading(opening: Token, token: Token, lines: Sequence[str], first_line: int) -> Iterator[Block]:
    # A rule under a paragraph makes it a heading in Markdown, though its author drew a line.
    if opening.markup in {"=", "-"} and len(token.content) > _MAX_HEADING:
        start, end = _span(token)
        yield from _passages(lines, (start, end), first_line, kind="paragraph", content=token.content)
        return
    anchor = _ANCHOR.search(token.content)
    text = plain_text(token.content[: anchor.start()] if anchor else token.content)
    if text or anchor:
        line = _start(token) + first_line
        yield Heading(text=text, anchor=anchor["anchor"] if anchor else None, level=int(opening.tag[1]), line=line)


def _list_title(
    tokens: Sequence[Token], index: int, item_depth: int, lines: Sequence[str], first_line: int
) -> Heading | None:
    """A list of one numbered item that is a title line: how `1. Refunds` reads to Markdown."""
    around = [token.type for token in tokens[index - 3 : index + 4]]
    alone = ["ordered_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    token = tokens[index]
    if item_depth != 1 or around != [*alone, "ordered_list_close"] or not _is_title(token.content):
        return None
    text = f"{tokens[index - 2].info}. {plain_text(token.content)}"
    start = _start(token)
    return Heading(text=text, level=_ORDINAL, line=start + first_line, weak=lines[start].strip())


def _code(token: Token, lines: Sequence[str], first_line: int) -> Iterator[Block]:
    start, end = _span(token)
    closed = lines[end - 1].strip(" \t>").startswith(token.markup)
    if start + 1 < (end - 1 if closed else end):
        yield from _passages(lines, (start + 1, end - 1 if closed else end), first_line, kind="paragraph")


def _paragraph(
    token: Token, lines: Sequence[str], first_line: int, *, numbers: set[str], after_heading: bool
) -> Iterator[Block]:
    start, end = _span(token)
    if after_heading and _ATTRIBUTES.match(lines[start]):
        yield AttributeLine(text=lines[start].strip(), line=start + first_line)
        start += 1
    if end - start > 1 and "|" in lines[start] and _is_table_rule(lines[start + 1]):
        # Tables whose rule Markdown does not accept, as old editors write them.
        for row in range(start + 2, end):
            yield from _passages(lines, (row, row + 1), first_line, kind="row", table_header=lines[start].strip())
        return
    text_from = start
    for index in range(start, end):
        heading = _line_heading(lines[index], index + first_line, alone=end - start == 1, numbers=numbers)
        if heading is not None:
            yield from _passages(lines, (text_from, index), first_line, kind="paragraph")
            yield heading
            # An article's own line is text too.
            text_from = index if heading.level >= _NUMBERED and not heading.weak else index + 1
    yield from _passages(lines, (text_from, end), first_line, kind="paragraph")


def _is_table_rule(line: str) -> bool:
    return {"-", "|"} <= set(line) <= {"-", "|", ":", " ", "\t"}


def _line_heading(text: str, line: int, *, alone: bool, numbers: set[str]) -> Heading | None:
    """The heading that a line of a paragraph is, or begins with.

    Args:
        text: The line.
        line: Its number.
        alone: Whether it is the whole paragraph.
        numbers: Numbers of paragraphs met so far; a line that does not continue them begins with a mere decimal.
    """
    if article := _ARTICLE_LINE.match(text):
        return Heading(text=article[1], level=_ARTICLE, line=line)
    if (chapter := _CHAPTER_LINE.match(text)) and len(text) <= _MAX_TITLE:
        level = {"章": _CHAPTER, "节": _SECTION}.get(chapter[1], _PART)
        return Heading(text=plain_text(text), level=level, line=line)
    if (bold := _BOLD_LINE.match(text)) and len(text) <= _MAX_HEADING and plain_text(text):
        return Heading(text=plain_text(bold["text"]), level=_BOLD, line=line, weak=text.strip())
    if (glued := _GLUED_LINE.match(text)) and (len(glued["marks"]) > 1 or not glued["text"].isascii()):
        return Heading(text=plain_text(glued["text"]), level=len(glued["marks"]), line=line, weak=text.strip())
    if (numbered := _NUMBERED_LINE.match(text)) and _continues(numbers, numbered["number"]):
        title = alone and _is_title(numbered["text"])
        level = _NUMBERED + numbered["number"].count(".") - 1
        return Heading(
            text=plain_text(text) if title else numbered["number"],
            level=level,
            line=line,
            weak=text.strip() if title else None,
        )
    if alone and (ordinal := _ORDINAL_LINE.match(text)) and _is_title(ordinal["text"]):
        return Heading(text=plain_text(text), level=_ORDINAL, line=line, weak=text.strip())
    return None


def _continues(numbers: set[str], number: str) -> bool:
    outer, _, last = number.rpartition(".")
    if int(last) > 1 and not {f"{outer}.{int(last) - 1}", f"{outer}.{int(last) - 2}"} & numbers:
        return False
    numbers.add(number)
    return True


def _is_title(text: str) -> bool:
    return len(text) <= _MAX_TITLE and not re.search(r"[.;,。；，、]\s*$|[.;]\s|[。；]|\n|\]\(", text)


def _passages(
    lines: Sequence[str],
    span: tuple[int, int],
    first_line: int,
    *,
    kind: PassageKind,
    content: str | None = None,
    table_header: str | None = None,
) -> Iterator[Passage]:
    """The text of the lines `span`, cut where a comment stands in it.

    Args:
        lines: All lines.
        span: Half-open range of line indexes.
        first_line: Line of the document at which `lines` begin.
        kind: What the text is.
        content: How the text begins after list and quote marks, as the parser found it.
        table_header: The header of a row.
    """
    text = "\n".join(lines[span[0] : span[1]])
    position = max(text.find(content.split("\n", 1)[0].strip(" ")), 0) if content else 0
    for piece in _PIECE.finditer(text, position):
        start = span[0] + text.count("\n", 0, piece.start()) + first_line
        if _visible(piece[0]):
            last = start + piece[0].count("\n")
            yield Passage(text=piece[0], kind=kind, lines=(start, last), table_header=table_header)


def _visible(text: str) -> bool:
    return any(character.isalnum() for character in _INVISIBLE_MARKUP.sub("", text))


def plain_text(text: str) -> str:
    """A line of Markdown without its markup, as a heading is shown."""
    text = _INVISIBLE_MARKUP.sub("", _LINK.sub(r"\1", text.replace(_HIDDEN, "")))
    text = re.sub(r"(?<!\\)(\*\*|__|\*|`|(?<!\w)_|_(?!\w))|(?<!\\)[\[\]]", "", text)
    return " ".join(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text).split())


def bare(text: str) -> str:
    """Text as it is compared: without bullets and emphasis, and with no more blanks than part its words."""
    return _HAN_BLANK.sub("", " ".join(_EMPHASIS.sub("", _BULLET.sub("", text)).split()))


def _over_something(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, with each title that stands over nothing turned into text of its own."""
    everything = list(blocks)
    for block, following in zip_longest(everything, everything[1:]):
        empty = following is None or (isinstance(following, Heading) and following.level <= getattr(block, "level", 0))
        if isinstance(block, Heading) and block.weak and empty and block.anchor is None:
            yield Passage(text=block.weak, kind="paragraph", lines=(block.line, block.line))
        else:
            yield block
