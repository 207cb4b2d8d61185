"""What changed between two versions: front matter, clauses with word marks, and terms.

Clauses are matched by anchor, by text, then by how many words they share and by heading, so that a renumbered clause is
moved and not removed and added. Blanks and emphasis are no change.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final, Literal, TypeAlias

from policies.blocks import bare
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
#: Pairs of words that are all compared; beyond, words that occur often no longer begin a common piece.
MAX_EXACT: Final = 4_000_000


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
    moved = _moved(pairs, {clause.anchor: place for place, clause in enumerate(old.clauses)})
    changes = [
        change
        for old_clause, new_clause in pairs
        if (change := _clause_change(old_clause, new_clause, moved=moved)) is not None
    ]
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
    long = len(before) * len(after) > MAX_EXACT
    opcodes = SequenceMatcher(None, before, after, autojunk=long).get_opcodes()
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
#: Anchors that only count: they name another clause as soon as one comes or goes before it.
_COUNTED: Final = re.compile(r"(?:.*[-_.])?\d+|第.+条.*|clause")


def _pieces(text: str) -> list[str]:
    return [word for run in _PIECE.findall(text) for word in (segments(run) if re.match(f"[{HAN}]", run) else [run])]


def _pairs(old: Sequence[DocumentClause], new: Sequence[DocumentClause]) -> list[_Pair]:
    """Every clause once, with its counterpart; in the order of `new`, what is gone after its former neighbour."""
    partner = _partners(old, new)
    before = {anchor: counterpart for counterpart, anchor in partner.items()}
    by_anchor = {clause.anchor: clause for clause in old}
    gone: dict[str | None, list[DocumentClause]] = {}
    neighbour: str | None = None
    for clause in old:
        if clause.anchor in partner:
            neighbour = clause.anchor
        else:
            gone.setdefault(neighbour, []).append(clause)
    pairs: list[_Pair] = [(clause, None) for clause in gone.get(None, ())]
    for clause in new:
        counterpart = before.get(clause.anchor)
        pairs.append((None if counterpart is None else by_anchor[counterpart], clause))
        pairs += [(left, None) for left in gone.get(counterpart, ()) if counterpart is not None]
    return pairs


def _partners(old: Sequence[DocumentClause], new: Sequence[DocumentClause]) -> dict[str, str]:
    """Old anchor -> new anchor of the clauses that are one clause on both sides; the same in both directions.

    An author's own anchor decides; one that only counts does so where the text agrees, or nothing better is left.
    """
    found: dict[str, str] = {}
    said = {id(clause): _text(clause) for clause in (*old, *new)}

    def take(key: Callable[[DocumentClause], str | None]) -> None:
        taken = set(found.values())
        one = _unique(old, key, without=found)
        other = _unique(new, key, without=taken)
        found.update({one[value].anchor: other[value].anchor for value in one.keys() & other.keys()})

    take(lambda clause: None if _COUNTED.fullmatch(clause.anchor) else clause.anchor)
    take(lambda clause: f"{clause.anchor}\n{said[id(clause)]}")
    take(lambda clause: said[id(clause)] or None)
    taken = set(found.values())
    left = [clause for clause in old if clause.anchor not in found]
    right = [clause for clause in new if clause.anchor not in taken]
    for one, other in _alike(left, right, said):
        if one not in found and other not in taken:
            found[one] = other
            taken.add(other)
    take(lambda clause: bare(clause.heading) or None)
    take(lambda clause: clause.anchor)
    return found


def _unique(
    clauses: Sequence[DocumentClause], key: Callable[[DocumentClause], str | None], *, without: Container[str]
) -> dict[str, DocumentClause]:
    """The clauses that are left and that no other has the key of, by their key."""
    keys = [(key(clause), clause) for clause in clauses if clause.anchor not in without]
    count = Counter(value for value, _ in keys)
    return {value: clause for value, clause in keys if value is not None and count[value] == 1}


def _alike(
    old: Sequence[DocumentClause], new: Sequence[DocumentClause], said: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Pairs of anchors whose clauses share most of their words, the most alike first."""
    if len(old) * len(new) > MAX_COMPARED:
        return
    words = {id(clause): Counter(filter(str.isalnum, _pieces(said[id(clause)]))) for clause in (*old, *new)}
    pairs = [(_likeness(words[id(one)], words[id(other)]), one.anchor, other.anchor) for one in old for other in new]
    # Where two pairs are equally alike, both directions have to choose the same.
    for likeness, one, other in sorted(pairs, key=lambda pair: (-pair[0], sorted(pair[1:]))):
        if likeness >= ALIKE:
            yield one, other


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _moved(pairs: Sequence[_Pair], order: Mapping[str, int]) -> set[str]:
    """The new anchors of what stands elsewhere: under other headings, or out of the order that the others keep.

    Args:
        pairs: In the order of the new version.
        order: Old anchor -> its place in the old version.
    """
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    old_order = sorted(range(len(both)), key=lambda n: order[both[n][0].anchor])
    before = [(both[n][0].anchor, _text(both[n][0])) for n in old_order]
    after = [(other.anchor, _text(other)) for _, other in both]
    # Of two that have changed places either may be the one that moved: both directions have to name the same.
    if before <= after:
        rank = {n: place for place, n in enumerate(old_order)}
        kept = {old_order[place] for place in _rising([rank[n] for n in range(len(both))])}
    else:
        kept = _rising(old_order)
    return {
        other.anchor
        for n, (one, other) in enumerate(both)
        if n not in kept or [bare(h) for h in one.outer] != [bare(h) for h in other.outer]
    }


def _rising(places: Sequence[int]) -> set[int]:
    """The most of `places`, all different, that stand in rising order: what is left has moved."""
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for place in places:
        position = bisect_left(ends, place)
        before[place] = ends[position - 1] if position else None
        ends[position : position + 1] = [place]
    kept, last = set[int](), ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept


def _clause_change(
    old: DocumentClause | None, new: DocumentClause | None, *, moved: Container[str]
) -> ClauseChange | None:
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
    reworded = _shown(old) != _shown(new)
    elsewhere = new.anchor in moved or old.anchor != new.anchor
    if not (reworded or attributes or elsewhere):
        return None
    return ClauseChange(
        kind="changed" if reworded or attributes else "moved",
        old=old.anchor,
        new=new.anchor,
        heading=new.heading,
        lines=new.lines,
        moved=elsewhere,
        marks=marks(_shown(old), _shown(new)) if reworded else (),
        attributes=attributes,
    )


def _shown(clause: DocumentClause) -> str:
    """Heading and passages as a reader sees them, one a line."""
    return "\n".join(filter(None, (bare(clause.heading), _text(clause))))


def _text(clause: DocumentClause) -> str:
    return "\n".join(bare(passage.text) for passage in clause.passages)


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
    before, after = ({term.name: term for term in (side.terms if side is not None else ())} for side in (old, new))
    clause = next(side.anchor for side in (new, old) if side is not None)
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
