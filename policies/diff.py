"""What changed between two versions: front matter, clauses with word marks, and terms.

Clauses are matched by anchor, then by heading, then by how much of their text they share, so that a renumbered clause
is moved and not removed and added. Blanks and emphasis are no change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal, TypeAlias

from policies.clauses import DocumentClause, DocumentTerm
from policies.document import PolicyDocument
from policies.rows import encode_value
from policies.text import HAN, segments
from policies.written_keys import written_keys

Operation: TypeAlias = Literal["equal", "insert", "delete"]
ClauseChangeKind: TypeAlias = Literal["added", "removed", "moved", "changed"]

#: Two clauses that share less of their words are two clauses.
ALIKE: Final = 0.6
#: Pairs of clauses without a common anchor or heading that are compared by text; beyond, they are added and removed.
MAX_COMPARED: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A piece of text that both sides have, or one of them."""

    operation: Operation
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A front-matter key or a clause's attribute: its JSON values on both sides, None where it says nothing."""

    key: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseChange:
    kind: ClauseChangeKind
    #: The anchors on both sides; None where the clause is not there.
    old: str | None
    new: str | None
    heading: str
    #: First and last line on the side that has it; of both, on the new one.
    lines: tuple[int, int]
    #: Whether it also stands elsewhere than before.
    moved: bool = False
    #: Of heading and text; both sides follow from it, but for blanks and emphasis.
    marks: tuple[Mark, ...] = ()
    attributes: tuple[KeyChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TermChange:
    """A term by name and clause; `old` or `new` is None where it is not there."""

    name: str
    clause: str
    old: DocumentTerm | None
    new: DocumentTerm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """All that differs, in the order of the new version; empty when nothing does."""

    keys: tuple[KeyChange, ...]
    clauses: tuple[ClauseChange, ...]
    terms: tuple[TermChange, ...]
    n_unchanged: int

    @property
    def is_empty(self) -> bool:
        return not (self.keys or self.clauses or self.terms)


def diff(old: PolicyDocument, new: PolicyDocument) -> Diff:
    """What differs from `old` to `new`."""
    pairs = _pairs(old.clauses, new.clauses)
    moved = _moved(pairs)
    changes = [change for pair in pairs if (change := _clause_change(*pair, moved=pair in moved)) is not None]
    return Diff(
        keys=tuple(_key_changes(written_keys(old.keys()), written_keys(new.keys()))),
        clauses=tuple(changes),
        terms=tuple(_without_moves([change for pair in pairs for change in _term_changes(*pair)])),
        n_unchanged=len(pairs) - len(changes),
    )


def marks(old: str, new: str) -> tuple[Mark, ...]:
    """Word by word what `new` keeps of `old`, loses and adds."""
    before, after = _pieces(old), _pieces(new)
    found: list[Mark] = []
    deleted = inserted = ""
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for n, (operation, i, j, k, m) in enumerate(opcodes):
        gone, come = "".join(before[i:j]), "".join(after[k:m])
        # A blank between two changed words changes with them, or every word would be marked by itself.
        if operation != "equal" or (gone == " " and 0 < n < len(opcodes) - 1):
            deleted, inserted = deleted + gone, inserted + come
            continue
        found += [*_change(deleted, inserted), Mark(operation="equal", text=gone)]
        deleted = inserted = ""
    return (*found, *_change(deleted, inserted))


def _change(deleted: str, inserted: str) -> Iterator[Mark]:
    if deleted:
        yield Mark(operation="delete", text=deleted)
    if inserted:
        yield Mark(operation="insert", text=inserted)


_Pair: TypeAlias = tuple[DocumentClause | None, DocumentClause | None]
_PIECE: Final = re.compile(rf"[{HAN}]+|[^\W{HAN}]+(?:['’.,][^\W{HAN}]+)*|\s+|.", re.DOTALL)
_EMPHASIS: Final = re.compile(r"(?<!\w)[*_`]+(?=\S)|(?<=\S)[*_`]+(?!\w)")


def _pieces(text: str) -> list[str]:
    return [word for run in _PIECE.findall(text) for word in (segments(run) if re.match(f"[{HAN}]", run) else [run])]


def _pairs(old: Sequence[DocumentClause], new: Sequence[DocumentClause]) -> list[_Pair]:
    """Every clause once, with its counterpart; in the order of `new`, what is gone after its former neighbour."""
    partners = {clause.anchor: clause for clause in old}
    matched = {clause.anchor: partners[clause.anchor] for clause in new if clause.anchor in partners}
    left_old = [clause for clause in old if clause.anchor not in matched]
    left_new = [clause for clause in new if clause.anchor not in matched]
    for counterpart in (_by_heading(left_old, left_new), _by_text(left_old, left_new)):
        for anchor, clause in counterpart:
            if anchor not in matched and all(clause is not taken for taken in matched.values()):
                matched[anchor] = clause
    taken = {clause.anchor for clause in matched.values()}
    pairs: list[_Pair] = [(matched.get(clause.anchor), clause) for clause in new]
    for position, clause in enumerate(old):
        if clause.anchor not in taken:
            before = old[position - 1] if position else None
            place = next((n for n, pair in enumerate(pairs) if before is not None and pair[0] is before), -1)
            pairs.insert(place + 1, (clause, None))
    return pairs


def _by_heading(old: Sequence[DocumentClause], new: Sequence[DocumentClause]) -> Iterator[tuple[str, DocumentClause]]:
    for clause in new:
        same = [other for other in old if _bare(other.heading) == _bare(clause.heading) and other.heading]
        if len(same) == 1:
            yield clause.anchor, same[0]


def _by_text(old: Sequence[DocumentClause], new: Sequence[DocumentClause]) -> Iterator[tuple[str, DocumentClause]]:
    if len(old) * len(new) > MAX_COMPARED:
        return
    likeness = [
        (SequenceMatcher(None, _pieces(_said(one)), _pieces(_said(other)), autojunk=False).ratio(), n, other, one)
        for n, other in enumerate(new)
        for one in old
    ]
    for ratio, _, other, one in sorted(likeness, key=lambda entry: (-entry[0], entry[1])):
        if ratio >= ALIKE:
            yield other.anchor, one


def _moved(pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs whose clause stands elsewhere: under other headings, or out of the order that the others keep."""
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    before = [one.anchor for one, _ in sorted(both, key=lambda pair: pair[0].lines)]
    after = [one.anchor for one, _ in both]
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {before[block.a + n] for block in blocks for n in range(block.size)}
    return [
        (one, other)
        for one, other in both
        if one.anchor not in kept or [_bare(h) for h in one.outer] != [_bare(h) for h in other.outer]
    ]


def _clause_change(old: DocumentClause | None, new: DocumentClause | None, *, moved: bool) -> ClauseChange | None:
    if old is None or new is None:
        there = new or old
        assert there is not None  # noqa: S101 - a pair has at least one side
        return ClauseChange(
            kind="added" if old is None else "removed",
            old=None if old is None else old.anchor,
            new=None if new is None else new.anchor,
            heading=there.heading,
            lines=there.lines,
            marks=(Mark(operation="insert" if old is None else "delete", text=_shown(there)),),
        )
    attributes = tuple(_key_changes(_attributes(old), _attributes(new)))
    reworded = _said(old) != _said(new)
    moved = moved or old.anchor != new.anchor
    if not (reworded or attributes or moved):
        return None
    return ClauseChange(
        kind="changed" if reworded or attributes else "moved",
        old=old.anchor,
        new=new.anchor,
        heading=new.heading,
        lines=new.lines,
        moved=moved,
        marks=marks(_shown(old), _shown(new)) if reworded else (),
        attributes=attributes,
    )


def _shown(clause: DocumentClause) -> str:
    """Heading and passages as a reader sees them, one a line; emphasis left out, for it is no change."""
    lines = (clause.heading, *(passage.text for passage in clause.passages))
    return "\n".join(" ".join(_EMPHASIS.sub("", line).split()) for line in lines)


def _said(clause: DocumentClause) -> str:
    return _bare(_shown(clause))


def _bare(text: str) -> str:
    return " ".join(_EMPHASIS.sub("", text).split())


def _attributes(clause: DocumentClause) -> Mapping[str, Any]:
    return {
        "effective_from": None if clause.starts is None else clause.starts.isoformat(),
        "effective_to": None if clause.ends is None else clause.ends.isoformat(),
        "effect": clause.effect,
        "audience": clause.audience,
        "applies_to": {name: sorted(values) for name, values in clause.applies_to.dimensions().items()},
    }


def _key_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[KeyChange]:
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield KeyChange(key=key, old=old.get(key), new=new.get(key))


def _term_changes(old: DocumentClause | None, new: DocumentClause | None) -> Iterator[TermChange]:
    before = {term.name: term for term in (old.terms if old is not None else ())}
    after = {term.name: term for term in (new.terms if new is not None else ())}
    clause = (new or old).anchor if (new or old) is not None else ""  # type: ignore[union-attr]  # one of them is there
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one is None or other is None or _term(one) != _term(other):
            yield TermChange(name=name, clause=clause, old=one, new=other)


def _without_moves(changes: Sequence[TermChange]) -> Iterator[TermChange]:
    """The changes, where a term that only went to another clause is none, and one that changed on the way is one."""
    for change in changes:
        opposite = [
            other
            for other in changes
            if other.name == change.name
            and (other.old is None) != (change.old is None)
            and None in (other.old, other.new)
        ]
        if None not in (change.old, change.new) or len(opposite) != 1:
            yield change
        elif change.new is not None:
            gone = opposite[0].old
            if gone is None or _term(gone) != _term(change.new):
                yield TermChange(name=change.name, clause=change.clause, old=gone, new=change.new)


def _term(term: DocumentTerm) -> tuple[Any, str | None, str | None]:
    return encode_value(term.value), None if term.rule is None else " ".join(term.rule.split()), term.better
