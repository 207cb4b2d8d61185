"""A folder of policies as documents with final periods: one folder a policy, one file a version.

`FOLDER/<policy>/<version>.md`, with `<version>.terms.yaml` beside it where there is one. What front matter and sidecar
do not say, an overlay (`overlay.yaml` or `overlay.json` in the folder, or any file that is named) may, and then the
policy's `meta.json`. The end of a version that gives none is the start of the next; a stated end stays, so that a gap
stays a gap. Nothing outside the folder is read: symbolic links are refused, and no name in a file is used as a path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from policies.document import PolicyDocument, SourceFile, parse_document
from policies.encoding import MAX_BYTES, decode
from policies.errors import Fault
from policies.facts import FactType
from policies.front_matter import Keys, Surroundings, read_withdrawal
from policies.layout import SIDECAR
from policies.marked_yaml import Entry, entry_of, load_marked
from policies.rule_checks import check_rules

#: Keys of `meta.json` that mean what they mean in front matter; the others are provenance.
_META_KEYS: Final = ("policy", "title", "topic", "language", "authority", "rendition_of", "time_zone", "governed_by")
_META_VERSION_KEYS: Final = ("effective_from", "effective_to")
_OVERLAYS: Final = ("overlay.yaml", "overlay.yml", "overlay.json")
#: What an overlay says beside front-matter keys.
_BESIDE_KEYS: Final = frozenset({"versions", "clauses", "withdrawn_from"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFolder:
    """What a folder holds. Publish it only when there are no faults."""

    #: By policy and start; those with faults are left out.
    documents: tuple[PolicyDocument, ...]
    #: In reading order.
    faults: tuple[Fault, ...]


def read_policy_folder(
    folder: Path,
    *,
    around: Surroundings,
    overlay: Path | None = None,
    known: Mapping[str, FactType] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> PolicyFolder:
    """The documents below `folder`, and everything that is wrong with them, with paths relative to it.

    Args:
        folder: Holds one folder a policy.
        around: The tenant's ladder, zone, facts and regions.
        overlay: A file of keys to use instead of the folder's own overlay.
        known: Types of value terms that are published; those that the folder writes itself are as it writes them.
        progress: Told how many documents have been read, after each; what it raises ends the reading.
    """
    reader = _FolderReader(folder, around, progress)
    documents = reader.read(overlay)
    faults = reader.faults
    documents, overlaps = _with_final_periods(documents)
    written = {term.name for document in documents for _, term in document.terms}
    beyond = {name: kind for name, kind in (known or {}).items() if name not in written}
    faults += [*overlaps, *check_rules(documents, facts=around.facts, known=beyond)]
    return PolicyFolder(documents=tuple(documents), faults=tuple(sorted(set(faults), key=lambda fault: fault.place)))


def _with_final_periods(documents: Iterable[PolicyDocument]) -> tuple[list[PolicyDocument], list[Fault]]:
    ordered = sorted(documents, key=lambda document: (document.policy, document.valid.start, document.version))
    final, faults = [], []
    for _, group in groupby(ordered, key=lambda document: document.policy):
        versions = list(group)
        for earlier, later in pairwise(versions):
            ends = (end for end in (earlier.valid.end, earlier.withdrawn_from) if end is not None)
            start, end = later.valid.start, min(ends, default=None)
            if start == earlier.valid.start or (end is not None and end > start):
                message = f"in force together with version {earlier.version}"
                remedy = "change effective_from or effective_to so that they do not overlap"
                faults.append(Fault(path=later.path, line=1, message=message, remedy=remedy))
            final.append(earlier.ending(start) if end is None and start > earlier.valid.start else earlier)
        final.append(versions[-1])
    return final, faults + [fault for document in final for fault in _never_in_force(document)]


def _never_in_force(document: PolicyDocument) -> Iterator[Fault]:
    for clause in document.clauses:
        if clause.valid_in(document.valid) is None:
            message = f"the clause {clause.anchor!r} lies outside its version's period"
            yield Fault(path=document.path, line=clause.lines[0], message=message, remedy="correct its dates")


class _FolderReader:
    """Walks one folder and collects faults."""

    def __init__(self, folder: Path, around: Surroundings, progress: Callable[[int], None]) -> None:
        self.faults: list[Fault] = []
        self._folder, self._around, self._progress = folder, around, progress
        self._n_read = 0

    def read(self, overlay: Path | None) -> list[PolicyDocument]:
        if not self._folder.is_dir():
            self._fault(self._folder.name, "no such folder", "name a folder that holds one folder a policy")
            return []
        policies = [entry for entry in self._entries(self._folder) if entry.is_dir()]
        beyond = dict(self._overlay(overlay))
        for name, keys in beyond.items():
            if name not in {policy.name for policy in policies}:
                self._fault(keys.path, f"no policy is called {name!r}", "correct the overlay's key")
        documents = [document for policy in policies for document in self._policy(policy, beyond.get(policy.name))]
        if not documents and not self.faults:
            self._fault(self._folder.name, "no policy in it", "put each version in <policy>/<version>.md")
        return documents

    def _overlay(self, named: Path | None) -> Iterator[tuple[str, Keys]]:
        paths = [self._folder / name for name in _OVERLAYS] if named is None else [named]
        for path in paths:
            if named is None and not path.exists():
                continue
            said = self._load(path)
            for policy, entry in (said.mapping() or {}).items() if said else ():
                yield policy, Keys(path=self._name(path), entries=entry.mapping() or {})

    def _policy(self, folder: Path, overlay: Keys | None) -> Iterator[PolicyDocument]:
        entries = {entry.name: entry for entry in self._entries(folder)}
        texts = {name: path for name, path in entries.items() if path.suffix == ".md" and path.is_file()}
        meta = _Meta(
            None if "meta.json" not in entries else self._load(entries["meta.json"]), path=f"{folder.name}/meta.json"
        )
        for name in meta.files - texts.keys():
            self._fault(meta.path, f"its file {name!r} is not there", "name a file of this folder, without a path")
        for name in entries:
            if name.endswith(SIDECAR) and f"{name.removesuffix(SIDECAR)}.md" not in texts:
                self._fault(f"{folder.name}/{name}", "terms without a text", "name it as the version's file")
        versions: set[str] = set()
        for name, path in texts.items():
            version = meta.version_of(name)
            layers = [*_overlay_layers(overlay, version, region=meta.region), *meta.layers(name)]
            clauses = _overlay_clauses(overlay, version)
            document = self._document(path, version, entries.get(f"{path.stem}{SIDECAR}"), layers, clauses)
            if version in versions:
                self._fault(self._name(path), f"version {version!r} stands twice", "give each version its own name")
            versions.add(version)
            if document is not None:
                yield self._withdrawn(document, overlay)
        for version in _overlay_versions(overlay).keys() - versions:
            self._fault(
                overlay.path if overlay else "", f"{folder.name}: no version {version!r}", "correct the overlay's key"
            )

    def _withdrawn(self, document: PolicyDocument, overlay: Keys | None) -> PolicyDocument:
        """The document with the withdrawal that an export of the store puts in its overlay."""
        said = _overlay_versions(overlay).get(document.version, {})
        if overlay is None or "withdrawn_from" not in said:
            return document
        zone = ZoneInfo(document.front_matter.time_zone)
        read = read_withdrawal(Keys(path=overlay.path, entries=said), zone=zone, around=self._around)
        if isinstance(read, list):
            self.faults += read
        elif read is not None and read <= document.valid.start:
            self._fault(overlay.path, f"{document.version}: withdrawn_from before its start", "leave the version out")
        return document if isinstance(read, list) else replace(document, withdrawn_from=read)

    def _document(
        self, path: Path, version: str, sidecar: Path | None, layers: Sequence[Keys], clauses: Keys | None
    ) -> PolicyDocument | None:
        source = self._source(path)
        beside = None if sidecar is None else self._source(sidecar)
        if source is None:
            return None
        parsed = parse_document(
            source, around=self._around, version=version, sidecar=beside, defaults=layers, clauses=clauses
        )
        self._n_read += 1
        self._progress(self._n_read)
        if isinstance(parsed, list):
            self.faults += parsed
            return None
        if parsed.policy != path.parent.name:
            message = f"policy {parsed.policy!r} in the folder {path.parent.name!r}"
            self._fault(parsed.path, message, "correct the key policy, or move the file", line=1)
        return parsed

    def _entries(self, folder: Path) -> list[Path]:
        """What the folder holds, by name, without hidden files; links are refused, wherever they lead."""
        found = []
        for entry in sorted(folder.iterdir()):
            if entry.is_symlink():
                self._fault(self._name(entry), "a symbolic link", "put the file itself here")
            elif not entry.name.startswith("."):
                found.append(entry)
        return found

    def _source(self, path: Path) -> SourceFile | None:
        try:
            if path.stat().st_size > MAX_BYTES:
                self._fault(self._name(path), f"more than {MAX_BYTES} bytes", "split the document")
                return None
            return SourceFile(path=self._name(path), content=path.read_bytes())
        except OSError as error:
            self._fault(self._name(path), f"cannot be read ({error.strerror})", "make it readable")
            return None

    def _load(self, path: Path) -> Entry | None:
        # Of a name that no file can have `Path.is_file` raises.
        if os.path.islink(path) or not os.path.isfile(path):  # noqa: PTH113, PTH114
            self._fault(self._name(path), "not a file", "put the file itself here")
            return None
        source = self._source(path)
        text = None if source is None else decode(source.content, path=source.path)
        if not isinstance(text, str):
            self.faults += text or []
            return None
        loaded = (
            _load_json(text, self._name(path)) if path.suffix == ".json" else load_marked(text, path=self._name(path))
        )
        if isinstance(loaded, Fault):
            self.faults.append(loaded)
            return None
        return loaded

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix() if path.is_relative_to(self._folder) else path.name

    def _fault(self, path: str, message: str, remedy: str, *, line: int | None = None) -> None:
        self.faults.append(Fault(path=path, line=line, message=message, remedy=remedy))


class _Meta:
    """What `meta.json` says of a policy and its versions."""

    def __init__(self, entry: Entry | None, *, path: str) -> None:
        said = entry.plain if entry else {}
        self.path = path
        self._said: Mapping[str, Any] = said if isinstance(said, dict) else {}
        versions = self._said.get("versions", [])
        named = [version for version in versions if isinstance(version, dict)] if isinstance(versions, list) else []
        self._versions = {str(version.get("file") or f"{version.get('version')}.md"): version for version in named}

    @property
    def files(self) -> frozenset[str]:
        return frozenset(self._versions)

    @property
    def region(self) -> Any:  # noqa: ANN401 Checked where it is used.
        return self._said.get("region")

    def version_of(self, file: str) -> str:
        return str(self._versions.get(file, {}).get("version") or file.removesuffix(".md"))

    def layers(self, file: str) -> Iterator[Keys]:
        version = self._versions.get(file, {})
        said = {key: version[key] for key in _META_VERSION_KEYS if key in version}
        said |= {key: self._said[key] for key in _META_KEYS if key in self._said}
        if self.region is not None:
            said["applies_to"] = {"regions": self.region}
        yield Keys(path=self.path, entries=_mapping(said))


def _overlay_layers(overlay: Keys | None, version: str, *, region: object) -> Iterator[Keys]:
    """The overlay's keys for one version, then for its policy."""
    if overlay is None:
        return
    for entries in (_overlay_versions(overlay).get(version), overlay.entries):
        if entries:
            said = {key: entry for key, entry in entries.items() if key not in _BESIDE_KEYS}
            yield Keys(path=overlay.path, entries=_still_in(region, said))


def _overlay_clauses(overlay: Keys | None, version: str) -> Keys | None:
    """What the overlay says of one version's clauses, by anchor; anchors and lines are a version's own."""
    said = _overlay_versions(overlay).get(version, {}).get("clauses")
    return Keys(path=overlay.path, entries=said.mapping() or {}) if overlay and said else None


def _overlay_versions(overlay: Keys | None) -> Mapping[str, Mapping[str, Entry]]:
    versions = overlay.entries.get("versions") if overlay else None
    return {name: entry.mapping() or {} for name, entry in ((versions.mapping() or {}) if versions else {}).items()}


def _still_in(region: object, entries: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """The keys, where limits that name no region keep the one that metadata gives."""
    limits = entries["applies_to"].mapping() if "applies_to" in entries else None
    if region is None or limits is None or "regions" in limits:
        return entries
    place = entries["applies_to"]
    merged = {**limits, "regions": entry_of(region, line=place.line, column=place.column)}
    return {**entries, "applies_to": Entry(merged, place.line, place.column)}


def _mapping(plain: Mapping[str, Any]) -> Mapping[str, Entry]:
    return entry_of(plain).mapping() or {}


def _load_json(text: str, path: str) -> Entry | Fault:
    try:
        return entry_of(json.loads(text, object_pairs_hook=_unique))
    except json.JSONDecodeError as error:
        return Fault(path=path, line=error.lineno, column=error.colno, message="not JSON", remedy="correct the syntax")
    except (ValueError, RecursionError) as error:
        return Fault(path=path, line=1, message=f"not usable ({error})", remedy="correct it")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) != len(pairs):
        raise ValueError("a key stands twice")
    return named
