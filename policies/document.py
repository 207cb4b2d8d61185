"""A policy document: front matter, clauses with their passages, and terms; parsed, or refused with all its faults.

Markdown with YAML front matter. A text that must not be touched has none of ours: then a sidecar `<version>.terms.yaml`
and the importer say the same things. A front matter without the key `policy` is somebody else's: it stays part of the
text, so that line numbers hold, and is no passage.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any

import yaml

from policies.blocks import bare, read_blocks
from policies.clauses import ClauseBuilder, DocumentClause, DocumentTerm
from policies.encoding import decode, tabs
from policies.errors import Fault
from policies.front_matter import FrontMatter, Keys, Surroundings, read_front_matter
from policies.layout import head_of, own_head_of
from policies.lists import with_lists
from policies.marked_yaml import Entry, load_marked
from policies.rows import encode_value
from policies.version import Period

_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    #: As faults name it, relative to the folder that is read; its stem is the version's name.
    path: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDocument:
    """One version of a policy as its author wrote it."""

    path: str
    version: str
    front_matter: FrontMatter
    #: The whole file, line ends as line feeds; lines and quotes refer to it.
    text: str
    #: The sidecar as it is written, if there is one, with what an overlay says of clauses.
    sidecar: str | None
    clauses: tuple[DocumentClause, ...]
    #: UTC; from when it no longer governs whatever it says. No part of what it says: an import of an export has it.
    withdrawn_from: datetime | None = None

    @property
    def policy(self) -> str:
        return self.front_matter.policy

    @property
    def name(self) -> str:
        return f"{self.policy}@{self.version}"

    @property
    def valid(self) -> Period:
        """When it governs; the end is open until `ending` or the store closes it at the next version's start."""
        return Period(start=self.front_matter.starts, end=self.front_matter.ends)

    @property
    def terms(self) -> Iterator[tuple[DocumentClause, DocumentTerm]]:
        return ((clause, term) for clause in self.clauses for term in clause.terms)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that it says, in hex; equal for what would be published as the same.

        Blanks, line ends, bullets and emphasis say nothing. Every letter and digit does, wherever it stands.
        """
        # Not of its path or of the layer that a key came from; an end that the next version gave is no part of it.
        own = own_head_of(self.text)
        said = {
            "version": self.version,
            "front_matter": self.keys(),
            "clauses": [_clause_said(clause) for clause in self.clauses],
            # Of what is no clause too: link targets, comments, list numbers, somebody else's front matter.
            "letters": "".join(_LETTERS.findall(self.text[own.end() if own else 0 :])),
        }
        return hashlib.sha256(json.dumps(said, default=_jsonable, sort_keys=True).encode()).hexdigest()

    def keys(self) -> dict[str, Any]:
        """The front matter as JSON values, defaults filled in."""
        values = asdict(self.front_matter)
        del values["transition_places"]
        loaded: dict[str, Any] = json.loads(json.dumps(values, default=_jsonable, sort_keys=True))
        return loaded

    def ending(self, end: datetime | None) -> PolicyDocument:
        """The same document with its period ending at `end`."""
        return replace(self, front_matter=replace(self.front_matter, ends=end))


def parse_document(
    source: SourceFile,
    *,
    around: Surroundings,
    version: str | None = None,
    sidecar: SourceFile | None = None,
    defaults: Sequence[Keys] = (),
    clauses: Keys | None = None,
) -> PolicyDocument | list[Fault]:
    """The document in `source`, or everything that is wrong with it, in reading order.

    Rules are not compiled here, for they may name terms of other documents: `policies.rule_checks.check_rules` does
    that for a set of documents.

    Args:
        source: The Markdown file.
        around: The tenant's ladder, zone, facts and regions.
        version: The version's name; default: the file's stem.
        sidecar: Terms and attributes by clause anchor, and front matter keys under `front_matter`; an anchor of its own
            with `lines: [first, last]` makes a clause of the passages in them.
        defaults: What speaks where front matter and sidecar do not: overlay, then metadata.
        clauses: What an overlay says by clause anchor, as a sidecar would.
    """
    faults: list[Fault] = []
    text = decode(source.content, path=source.path)
    if isinstance(text, list):
        _read_sidecar(sidecar, faults)
        return sorted([*text, *faults], key=lambda fault: fault.place)
    head, body_line = _read_head(text, source.path, faults)
    readable = not faults
    sidecar_text, beside = _read_sidecar(sidecar, faults)
    beyond = None if sidecar is None else _front_matter_beside(beside, sidecar.path, faults)
    layers = [keys for keys in (head, beyond, *defaults) if keys is not None]
    # What a front matter that cannot be read leaves out is not missing.
    front_matter = read_front_matter(layers, path=source.path, around=around) if readable else []
    if isinstance(front_matter, list):
        faults += front_matter
    lines = text.split("\n")
    if head is not None:
        start = 0 if readable else sum(len(line) + 1 for line in lines[: body_line - 1])
        faults += tabs(text, path=source.path, start=start)
    builder = ClauseBuilder(source.path, around, own=head is not None, faults=faults)
    own = [] if sidecar is None else [Keys(path=sidecar.path, entries=beside)]
    body = lines[body_line - 1 :]
    built = builder.build(
        with_lists(read_blocks("\n".join(body), first_line=body_line), body, first_line=body_line),
        lines,
        beside=[*own, *([clauses] if clauses else [])],
        head=front_matter if isinstance(front_matter, FrontMatter) else None,
    )
    name = _version_name(version or PurePosixPath(source.path).stem, source.path, faults)
    if faults or isinstance(front_matter, list):
        return sorted(set(faults), key=lambda fault: fault.place)
    return PolicyDocument(
        path=source.path,
        version=name,
        front_matter=front_matter,
        text=text,
        sidecar=sidecar_text if clauses is None else _with_clauses(sidecar_text, clauses),
        clauses=built,
    )


def _version_name(name: str, path: str, faults: list[Fault]) -> str:
    if not re.fullmatch(r"[^\W_][\w.-]{0,99}", name):
        message, remedy = f"{name!r} is no version name", "name the file by its date, e.g. 2025-02-01.md"
        faults.append(Fault(path=path, message=message, remedy=remedy))
    return name


def _read_head(text: str, path: str, faults: list[Fault]) -> tuple[Keys | None, int]:
    """Our front matter, if the text has one, and the line on which the body begins."""
    head = head_of(text)
    if head is None:
        if re.match(r"---[ ]*\n(?:[^\n]+\n)*?policy\s*:", text):
            message, remedy = "the front matter has no end", "close it with a line ---"
            faults.append(Fault(path=path, line=1, message=message, remedy=remedy))
        return None, 1
    body_line = head[0].count("\n") + 1
    if own_head_of(text) is None:
        return None, body_line
    loaded = load_marked(head["yaml"], path=path, first_line=2)
    if isinstance(loaded, Fault):
        faults.append(loaded)
        return Keys(path=path, entries={}), body_line
    entries = loaded.mapping()
    if entries is None:
        faults.append(Fault(path=path, line=2, message="the front matter is no mapping", remedy="write key: value"))
    return Keys(path=path, entries=entries or {}), body_line


def _read_sidecar(sidecar: SourceFile | None, faults: list[Fault]) -> tuple[str | None, dict[str, Entry]]:
    """The sidecar's text and what it says, by clause anchor or `front_matter`."""
    if sidecar is None:
        return None, {}
    text = decode(sidecar.content, path=sidecar.path)
    loaded = text if isinstance(text, list) else load_marked(text, path=sidecar.path)
    match loaded:
        case list():
            faults += loaded
        case Fault():
            faults.append(loaded)
        case Entry(value=dict(said)):
            return str(text), said
        case Entry(value=value, line=line) if value is not None:
            remedy = "write terms by clause anchor: window: {refund.window_days: 14}"
            faults.append(Fault(path=sidecar.path, line=line, message="the sidecar is no mapping", remedy=remedy))
    return None, {}


def _front_matter_beside(beside: dict[str, Entry], path: str, faults: list[Fault]) -> Keys | None:
    entry = beside.pop("front_matter", None)
    if entry is None:
        return None
    entries = entry.mapping()
    if entries is None:
        faults.append(
            Fault(path=path, line=entry.line, message="front_matter is no mapping", remedy="write key: value")
        )
    return Keys(path=path, entries=entries or {})


def _with_clauses(sidecar: str | None, clauses: Keys) -> str:
    """A sidecar that says what both say, so that the document can be read again without the overlay."""
    own = load_marked(sidecar or "", path="")
    said: dict[str, Any] = own.plain or {} if isinstance(own, Entry) else {}
    for anchor, entry in clauses.entries.items():
        said[anchor] = {**(said.get(anchor) or {}), **entry.plain}
    return yaml.safe_dump(said, allow_unicode=True, sort_keys=False, width=120)


def _clause_said(clause: DocumentClause) -> tuple[Any, ...]:
    """What a clause says, without its place in the text."""
    return (
        clause.anchor, bare(clause.heading), [bare(heading) for heading in clause.outer], clause.starts, clause.ends,
        clause.effect, clause.audience, clause.applies_to.dimensions(),
        [(passage.kind, bare(passage.text), bare(passage.table_header or "")) for passage in clause.passages],
        [
            (term.name, term.type, encode_value(term.value), " ".join((term.rule or "").split()), term.better,
             bare(term.quote))
            for term in clause.terms
        ],
    )  # fmt: skip


def _jsonable(value: date | frozenset[str]) -> str | list[str]:
    return sorted(value) if isinstance(value, frozenset) else value.isoformat()
