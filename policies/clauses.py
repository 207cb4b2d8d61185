"""The clauses of a document: headings with their anchors, attributes, passages and terms.

A clause is a heading with its text up to the next heading; text before the first heading is the clause `preamble`. What
a heading's attribute line says holds for the headings inside it too, so that a staff-only section has no public part.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from difflib import get_close_matches
from itertools import zip_longest
from typing import Final
from zoneinfo import ZoneInfo

from policies.applicability import EVERYWHERE, Applicability
from policies.blocks import AttributeLine, Block, Heading, Passage, TermsBlock
from policies.errors import Fault
from policies.facts import FactType, FactValue
from policies.front_matter import (
    CLAUSE_KEYS,
    ClauseAttributes,
    FrontMatter,
    Keys,
    Surroundings,
    read_clause_attributes,
)
from policies.marked_yaml import Entry, load_marked
from policies.terms import Term
from policies.version import Audience, Better, Clause, Effect, Period, PolicyVersion
from policies.written_terms import read_term, stating

MAX_CLAUSES: Final = 10_000
#: Characters of one clause.
MAX_CLAUSE: Final = 200_000

PREAMBLE: Final = "preamble"

#: `4.`, `4.2` or `4.2)`, but not the number of `30 days`.
_NUMBER_IN_FRONT = re.compile(r"\A\s*[0-9]+(?:\.[0-9]+)*(?:[.)]|(?<=\.[0-9])|(?<=\.[0-9][0-9]))\s+(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTerm:
    name: str
    #: None for a rule.
    type: FactType | None
    value: FactValue
    rule: str | None
    better: Better | None
    #: The passage that states it.
    quote: str
    lines: tuple[int, int]
    #: Where it is written: file and line.
    place: tuple[str, int]

    def in_clause(self, clause: Clause) -> Term:
        return Term(
            name=self.name, clause=clause, value=self.value, rule=self.rule, better=self.better, quote=self.quote,
            lines=self.lines,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentClause:
    anchor: str
    heading: str
    #: Headings around it, outermost first, without its own.
    outer: tuple[str, ...]
    #: First and last line, from 1.
    lines: tuple[int, int]
    #: Its own limits in time, UTC; None where the version's hold. Cut them with `valid_in`.
    starts: datetime | None
    ends: datetime | None
    effect: Effect
    audience: Audience
    applies_to: Applicability
    passages: tuple[Passage, ...]
    terms: tuple[DocumentTerm, ...]

    def valid_in(self, version: Period) -> Period | None:
        """When the clause governs, cut to its version's period; None when that leaves nothing."""
        start = version.start if self.starts is None else max(self.starts, version.start)
        if self.ends is not None and self.ends <= start:
            return None
        return Period(start=start, end=self.ends).cut_to(version)

    def in_version(self, version: PolicyVersion) -> Clause | None:
        valid = self.valid_in(version.valid)
        if valid is None:
            return None
        return Clause(
            version=version,
            anchor=self.anchor,
            heading=self.heading,
            lines=self.lines,
            valid=valid,
            effect=self.effect,
            audience=self.audience,
            applies_to=self.applies_to,
        )


@dataclass(slots=True, kw_only=True)
class _Section:
    """A heading and what stands under it."""

    heading: Heading
    passages: list[Passage]
    #: File, name and entry of each term.
    terms: list[tuple[str, str, Entry]]
    attributes: list[Keys]
    anchor: str = ""
    last_line: int = 0
    inside: _Section | None = None


class ClauseBuilder:
    """Builds the clauses of one document and collects what is wrong with them."""

    def __init__(self, path: str, around: Surroundings, *, own: bool, faults: list[Fault]) -> None:
        self._path, self._around, self._own, self._faults = path, around, own, faults

    def build(
        self,
        blocks: Sequence[Block],
        lines: Sequence[str],
        *,
        beside: Sequence[Keys],
        head: FrontMatter | None,
    ) -> tuple[DocumentClause, ...]:
        sections = list(self._sections(blocks))
        self._name(sections)
        self._end(sections, lines)
        for keys in beside:
            refused = self._cut_out(sections, keys)
            known = {anchor: entry for anchor, entry in keys.entries.items() if anchor not in refused}
            self._take_from_sidecar(sections, keys.path, known)
        self._refuse_excess(sections, lines)
        attributes: dict[str, ClauseAttributes] = {}
        clauses = []
        for section in sections:
            outer = ClauseAttributes() if section.inside is None else attributes[section.inside.anchor]
            attributes[section.anchor] = self._attributes(section, outer, ZoneInfo(head.time_zone if head else "UTC"))
            clauses.append(self._clause(section, attributes[section.anchor], head))
        return tuple(clauses)

    def _sections(self, blocks: Sequence[Block]) -> Iterator[_Section]:
        current = _Section(heading=Heading(text="", level=0, line=1), passages=[], terms=[], attributes=[])
        for block in blocks:
            match block:
                case Heading():
                    if current.heading.level or current.passages or current.terms:
                        yield current
                    inside = _inside(current, block.level)
                    current = _Section(heading=block, passages=[], terms=[], attributes=[], inside=inside)
                case Passage():
                    if not current.heading.level and not current.passages:
                        current.heading = replace(current.heading, line=block.lines[0])
                    current.passages.append(block)
                case TermsBlock():
                    current.terms += self._terms_block(block)
                case AttributeLine():
                    self._attribute_line(block, current)
        if current.heading.level or current.passages or current.terms:
            yield current

    def _terms_block(self, block: TermsBlock) -> Iterator[tuple[str, str, Entry]]:
        loaded = load_marked(block.text, path=self._path, first_line=block.line)
        if isinstance(loaded, Fault):
            self._faults.append(loaded)
        elif (terms := loaded.mapping()) is not None:
            yield from ((self._path, name, entry) for name, entry in terms.items())
        elif loaded.value is not None:
            self._fault(block.line, "the terms are no mapping", "write one term a line: refund.window_days: 14")

    def _attribute_line(self, block: AttributeLine, section: _Section) -> None:
        loaded = load_marked(block.text, path=self._path, first_line=block.line)
        entries = None if isinstance(loaded, Fault) else loaded.mapping()
        if entries is not None and (self._own or set(entries) <= set(CLAUSE_KEYS)):
            section.attributes.append(Keys(path=self._path, entries=entries))
        elif self._own:
            remedy = f"write {{key: value, …}} with keys of {', '.join(CLAUSE_KEYS)}"
            self._fault(block.line, "the attribute line is not understood", remedy)
        else:
            section.passages.append(Passage(text=block.text, kind="paragraph", lines=(block.line, block.line)))

    def _name(self, sections: Sequence[_Section]) -> None:
        """Give each section its anchor: its author's, else one of its words, numbered where they repeat."""
        taken: set[str] = set()
        for section in sections:
            anchor = section.heading.anchor
            if anchor is not None and self._own and not re.fullmatch(r"[\w.-]+", anchor):
                self._fault(section.heading.line, f"{anchor!r} is no anchor", "use letters, digits, '-', '_' and '.'")
            elif anchor is not None and anchor in taken and self._own:
                self._fault(section.heading.line, f"the anchor {anchor!r} stands twice", "give each clause its own")
            elif anchor is not None and anchor not in taken and re.fullmatch(r"[\w.-]+", anchor):
                section.anchor = anchor
                taken.add(anchor)
        numbers: dict[str, int] = {}
        for section in sections:
            if not section.anchor:
                base = derived_anchor(section.heading.text) if section.heading.level else PREAMBLE
                section.anchor = _free(base, taken, numbers)
                taken.add(section.anchor)

    def _cut_out(self, sections: list[_Section], beside: Keys) -> set[str]:
        """Make clauses of the lines that the sidecar names, for a text has exceptions under no heading of their own.

        Returns:
            The anchors that were refused.
        """
        refused: set[str] = set()
        for anchor, entry in beside.entries.items():
            named = (entry.mapping() or {}).get("lines")
            if named is None:
                continue
            match named.plain:
                case [int(first), int(last)] if first <= last:
                    problem = self._cut(sections, anchor, first, last)
                case _:
                    problem = "no lines"
            if problem is not None:
                refused.add(anchor)
                remedy = "write lines: [12, 14] of whole passages under one heading, and a new anchor"
                self._fault(named.line, f"{anchor}: {problem}", remedy, path=beside.path)
        return refused

    def _cut(self, sections: list[_Section], anchor: str, first: int, last: int) -> str | None:
        """Make one clause of some lines; what is wrong when that cannot be done."""
        if any(section.anchor == anchor for section in sections):
            return "the anchor stands twice"
        around = next((s for s in sections if any(_stands_in(p, first, last) for p in s.passages)), None)
        if around is None:
            return "no passage in these lines"
        cut = _Section(
            heading=Heading(text=around.heading.text, level=around.heading.level + 1, line=first),
            passages=[passage for passage in around.passages if _stands_in(passage, first, last)],
            terms=[],
            attributes=[],
            anchor=anchor,
            inside=around,
            last_line=last,
        )
        around.passages = [passage for passage in around.passages if not _stands_in(passage, first, last)]
        sections.insert(sections.index(around) + 1, cut)
        return None

    def _take_from_sidecar(self, sections: Sequence[_Section], path: str, beside: Mapping[str, Entry]) -> None:
        by_anchor = {section.anchor: section for section in sections}
        for anchor, entry in beside.items():
            section, said = by_anchor.get(anchor), entry.mapping()
            if section is None:
                near = get_close_matches(anchor, by_anchor, n=1, cutoff=0.4)
                remedy = f"did you mean {near[0]!r}?" if near else "give the clause this anchor, or correct it"
                self._fault(entry.line, f"no clause has the anchor {anchor!r}", remedy, path=path)
            elif said is None:
                self._fault(entry.line, f"{anchor}: no mapping", "write terms: {refund.window_days: 14}", path=path)
            else:
                keys = {key: value for key, value in said.items() if "." not in key and key != "lines"}
                if keys:
                    section.attributes.append(Keys(path=path, entries=keys))
                section.terms += ((path, key, value) for key, value in said.items() if "." in key)

    def _end(self, sections: Sequence[_Section], lines: Sequence[str]) -> None:
        for section, following in zip_longest(sections, sections[1:]):
            last = len(lines) if following is None else following.heading.line - 1
            while last > section.heading.line and not lines[last - 1].strip():
                last -= 1
            section.last_line = last

    def _refuse_excess(self, sections: Sequence[_Section], lines: Sequence[str]) -> None:
        if len(sections) > MAX_CLAUSES:
            line = sections[MAX_CLAUSES].heading.line
            self._fault(line, f"{len(sections)} clauses, more than {MAX_CLAUSES}", "split the document")
        for section in sections:
            size = sum(len(line) + 1 for line in lines[section.heading.line - 1 : section.last_line])
            if size > MAX_CLAUSE:
                message = f"a clause of {size} characters, more than {MAX_CLAUSE}"
                self._fault(section.heading.line, message, "divide it by headings")

    def _attributes(self, section: _Section, outer: ClauseAttributes, zone: ZoneInfo) -> ClauseAttributes:
        for keys in section.attributes:
            own = read_clause_attributes(keys, zone=zone, around=self._around)
            if isinstance(own, list):
                self._faults += own
            else:
                said = {field.name: getattr(own, field.name) for field in fields(own)}
                outer = replace(outer, **{name: value for name, value in said.items() if value is not None})
        return outer

    def _clause(self, section: _Section, own: ClauseAttributes, head: FrontMatter | None) -> DocumentClause:
        around, outer = section.inside, list[str]()
        while around is not None:
            outer.insert(0, around.heading.text)
            around = around.inside
        return DocumentClause(
            anchor=section.anchor,
            heading=section.heading.text or (head.title if head else ""),
            outer=tuple(outer),
            lines=(section.heading.line, section.last_line),
            starts=own.starts,
            ends=own.ends,
            effect=own.effect or (head.effect if head else "mandatory"),
            audience=own.audience or (head.audience if head else "public"),
            applies_to=own.applies_to or (head.applies_to if head else EVERYWHERE),
            passages=tuple(section.passages),
            terms=tuple(self._terms(section)),
        )

    def _terms(self, section: _Section) -> Iterator[DocumentTerm]:
        names: set[str] = set()
        for path, name, entry in section.terms:
            written = read_term(name, entry)
            if isinstance(written, tuple):
                self._fault(entry.line, *written, path=path)
                continue
            if name in names:
                self._fault(entry.line, f"{name} stands twice in one clause", "keep one of them", path=path)
            if name in self._around.facts:
                self._fault(entry.line, f"{name} is a fact of facts.yaml", "give the term another name", path=path)
            names.add(name)
            passage = stating(written, tuple(section.passages))
            if passage is None:
                message = f"{name}: no passage of the clause {section.anchor!r} states it"
                remedy = "write the sentence that states the term" if written.quote is None else "correct its quote"
                self._fault(entry.line, message, remedy, path=path)
                continue
            yield DocumentTerm(
                name=name, type=written.type, value=written.value, rule=written.rule, better=written.better,
                quote=passage.text, lines=passage.lines, place=(path, entry.line),
            )  # fmt: skip

    def _fault(self, line: int, message: str, remedy: str, *, path: str | None = None) -> None:
        self._faults.append(Fault(path=path or self._path, line=line, message=message, remedy=remedy))


def _stands_in(passage: Passage, first: int, last: int) -> bool:
    return first <= passage.lines[0] and passage.lines[1] <= last


def _inside(before: _Section, level: int) -> _Section | None:
    """The section around a heading of `level` that follows `before`."""
    around: _Section | None = before
    while around is not None and around.heading.level >= level:
        around = around.inside
    return around if around is not None and around.heading.level else None


def _free(base: str, taken: set[str], numbers: dict[str, int]) -> str:
    """`base`, or the first of `base-2`, `base-3`… that no clause has."""
    anchor = base
    while anchor in taken:
        numbers[base] = numbers.get(base, 1) + 1
        anchor = f"{base}-{numbers[base]}"
    return anchor


def derived_anchor(heading: str) -> str:
    """The anchor of a heading that its author gave none: its words, in any script, without a number in front.

    The number is left out so that a clause keeps its anchor when clauses before it come or go.
    """
    folded = unicodedata.normalize("NFKC", heading).casefold()
    words = re.sub(r"[^\w]+", "-", _NUMBER_IN_FRONT.sub("", folded, count=1)).strip("-_")
    return words[:60].strip("-_") or "clause"
