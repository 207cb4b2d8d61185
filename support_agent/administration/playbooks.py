"""The playbooks of a tenant: which there are, whose questions they recognise, and what is wrong with them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from policies import store
from policies.errors import PolicyParseError
from policies.facts import Facts
from policies.marked_yaml import Entry, load_marked
from support_agent.bootstrap import Application, Likeness, Rehearsal, reader_of
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Principal, Question
from support_agent.domain.reading import Reading
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.pipeline.planning import Recognition, recognise
from support_agent.playbooks.loading import PlaybookFile, read_playbook
from support_agent.storage import tenants
from support_agent.tenants.folder import BUILT_IN, playbook_texts, read_folder

#: Kinds of vocabulary that say which playbook is meant, or not.
_SAYING: Final = ("trigger", "unless", "requires")
#: Undeclared facts that a reason names.
MAX_NAMED: Final = 4
_NO_FACT: Final = re.compile(r"'([\w.]+)' is no fact")


async def catalogue(application: Application, tenant: str) -> list[dict[str, Any]]:
    """Every playbook by id, where it comes from, and why it is not used where it is not.

    Raises:
        NotFoundError: There is no such tenant.
    """
    async with application.rehearse(tenant) as rehearsal:
        files = await _files(rehearsal)
    used = {playbook.id for playbook in rehearsal.tenant.playbooks}
    return [_summary(name, own, used=name in used) for name, own in sorted(_by_id(files).items())]


async def shown(application: Application, tenant: str, playbook: str) -> dict[str, Any]:
    """One playbook with its text.

    Raises:
        NotFoundError: There is no such tenant or playbook.
    """
    async with application.rehearse(tenant) as rehearsal:
        files = await _files(rehearsal)
    own = _by_id(files).get(playbook)
    if own is None:
        raise NotFoundError("playbook", playbook, hint="`support-agent playbooks list` shows them")
    used = any(one.id == playbook for one in rehearsal.tenant.playbooks)
    return {**_summary(playbook, own, used=used), "yaml": own.text}


async def trial(application: Application, tenant: str, playbook: str | None) -> list[dict[str, Any]]:
    """Which playbook each example reaches; of one playbook or of all.

    Raises:
        NotFoundError: There is no such tenant or playbook.
    """
    async with application.rehearse(tenant) as rehearsal:
        playbooks = [one for one in rehearsal.tenant.playbooks if playbook in {None, one.id}]
        if not playbooks:
            hint = "`support-agent playbooks list` shows them, and which are not used"
            raise NotFoundError("playbook in use", playbook or "any", hint=hint)
        return [
            {"playbook": one.id, "language": language, "example": example, **_reached(one, found)}
            for one in playbooks
            for language, examples in one.examples.items()
            for example in examples
            for _, found in [await _recognise(rehearsal, example)]
        ]


async def recognised(application: Application, tenant: str, question: str) -> dict[str, Any]:
    """Which playbook a question reaches, and what speaks for and against each.

    Raises:
        NotFoundError: There is no such tenant.
    """
    async with application.rehearse(tenant) as rehearsal:
        reading, found = await _recognise(rehearsal, question)
    said = [match for match in reading.vocabulary if match.kind in _SAYING]
    names = dict.fromkeys([*(match.name for match in said), *sorted(found.likeness, key=lambda n: -found.likeness[n])])
    return {
        "playbook": found.playbook.id if found.playbook else None,
        "by": _by(found),
        "language": reading.language,
        "topics": [match.name for match in reading.vocabulary if match.kind == "topic"],
        "candidates": [
            {
                "playbook": name,
                **{kind: [m.phrase for m in said if (m.name, m.kind) == (name, kind)] for kind in _SAYING},
                "likeness": round(found.likeness[name], 3) if name in found.likeness else None,
            }
            for name in names
        ],
    }


async def lint(application: Application, tenant: str, folder: Path | None) -> list[dict[str, Any]]:
    """Everything to be said of the playbooks of a tenant, as it is loaded or as `folder` has them; by path and line.

    Raises:
        NotFoundError: There is no such tenant.
        InvalidRequestError: There is no such folder.
    """
    async with application.rehearse(tenant) as rehearsal:
        terms = await store.term_names(rehearsal.session)
        topics = {topic for _, topic in await store.topics(rehearsal.session)}
        tried, files = rehearsal, await _files(rehearsal)
        if folder is not None:
            try:
                read = await asyncio.to_thread(read_folder, folder)
            except PolicyParseError as error:
                return [_finding(f.path, f.line or 1, "not-read", "error", f.message, f.remedy) for f in error.faults]
            if read.tenant.slug != rehearsal.tenant.slug:
                raise InvalidRequestError("FOLDER", f"is of tenant {read.tenant.slug!r}")
            tried, files = _in_place(application, rehearsal, read.tenant), _read(read.files, read.tenant.facts)
        used = {playbook.id: playbook for playbook in tried.tenant.playbooks}
        held = _by_id(files)
        pairs = [(held[name], playbook) for name, playbook in used.items()]
        found = [*_unused(held, used), *_undeclared(pairs, terms, topics), *_shared(pairs)]
        for file, playbook in pairs:
            found += await _missed(tried, file, playbook)
    return sorted(found, key=lambda finding: (finding["path"], finding["line"], finding["rule"], finding["message"]))


async def _files(rehearsal: Rehearsal) -> list[PlaybookFile]:
    stored = await tenants.load(rehearsal.session)
    return _read(stored.settings if stored else {}, rehearsal.tenant.facts)


def _read(files: Mapping[str, str], facts: Facts) -> list[PlaybookFile]:
    return [read_playbook(path, text, facts=facts, trial=False) for path, text in playbook_texts(files).items()]


def _by_id(files: Iterable[PlaybookFile]) -> dict[str, PlaybookFile]:
    """The files by the id that they give; the last of several is the one that counts."""
    return {file.playbook.id if file.playbook is not None else Path(file.path).stem: file for file in files}


def _in_place(application: Application, rehearsal: Rehearsal, tenant: Tenant) -> Rehearsal:
    """The rehearsal with settings that are not loaded yet."""
    likeness = Likeness(application.vectors, tenant.playbooks) if application.vectors else None
    return replace(
        rehearsal, tenant=tenant, parts=replace(rehearsal.parts, read=reader_of(tenant), similarity=likeness)
    )


def _summary(name: str, file: PlaybookFile, *, used: bool) -> dict[str, Any]:
    playbook = file.playbook
    replaces = any(path.stem == name for path in BUILT_IN.glob("*.yaml"))
    return {
        "id": name,
        "origin": "packaged" if file.packaged else "replaces a packaged one" if replaces else "tenant",
        "path": file.path,
        "used": used,
        "why_not": None if used else _why_not(file),
        "mode": playbook.mode if playbook else None,
        "form": playbook.form if playbook else None,
        "decides": playbook.decide if playbook else None,
        "sources": list(dict.fromkeys(need.source for need in playbook.needs)) if playbook else [],
        "examples": {language: len(texts) for language, texts in playbook.examples.items()} if playbook else {},
    }


def _why_not(file: PlaybookFile) -> str:
    undeclared = dict.fromkeys(name for fault in file.faults for name in _NO_FACT.findall(fault.message))
    if undeclared:
        named, more = list(undeclared)[:MAX_NAMED], len(undeclared) - MAX_NAMED
        return f"facts.yaml does not declare {', '.join(named)}{f' and {more} more' if more > 0 else ''}"
    if file.faults:
        return f"{file.faults[0].message}: {file.faults[0].remedy}"
    return "the tenant has not connected a source that it cannot do without"


async def _recognise(rehearsal: Rehearsal, text: str) -> tuple[Reading, Recognition]:
    question = Question(
        text=text, tenant=rehearsal.tenant.slug, principal=Principal(kind="customer"), asked_at=datetime.now(UTC)
    )
    reading = rehearsal.parts.read(question)
    found = await recognise(reading, rehearsal.tenant.playbooks, similarity=rehearsal.parts.similarity)
    return reading, found


def _by(found: Recognition) -> str | None:
    """What decided: `words`, `likeness`, or nothing."""
    return None if found.playbook is None else "likeness" if found.likeness else "words"


def _reached(wanted: Playbook, found: Recognition) -> dict[str, Any]:
    name = found.playbook.id if found.playbook else None
    return {"reached": name, "by": _by(found), "ok": name == wanted.id or wanted.mode == "off"}


def _unused(held: Mapping[str, PlaybookFile], used: Mapping[str, Playbook]) -> Iterator[dict[str, Any]]:
    for name, file in held.items():
        if name not in used:
            message = f"{name!r} is not used: {_why_not(file)}"
            yield _finding(file.path, 1, "not-used", "warning", message, "provide what it needs, or leave it")


def _undeclared(
    pairs: Iterable[tuple[PlaybookFile, Playbook]], terms: frozenset[str], topics: set[str]
) -> Iterator[dict[str, Any]]:
    """What a playbook asks of the policies and none of them states: it can never decide."""
    for file, playbook in pairs:
        asked = [need for need in playbook.needs if need.source in {"policy", "faq"}]
        for need in asked:
            if need.topic is not None and need.topic != "$topic" and need.topic not in topics:
                message = f"no policy is on the topic {need.topic!r}"
                yield _finding(
                    file.path, _line(file, "needs"), "no-topic", "warning", message, "publish one, or correct the topic"
                )
        for name in sorted({name for need in asked for name in need.gives} - terms - {"passages", "terms"}):
            message = f"no published policy states {name!r}"
            remedy = "state it as a term of the clause that says it, or correct the name"
            yield _finding(file.path, _line(file, "needs"), "no-term", "warning", message, remedy)


def _shared(pairs: Sequence[tuple[PlaybookFile, Playbook]]) -> Iterator[dict[str, Any]]:
    """Triggers that two playbooks have: which one is meant then rests on the rest of the question."""
    first: dict[tuple[str, str], str] = {}
    for file, playbook in pairs:
        for language, phrases in playbook.triggers.items():
            for phrase in phrases:
                other = first.setdefault((language, phrase.casefold()), playbook.id)
                if other != playbook.id:
                    message = f"{other!r} has the trigger {phrase!r}, too"
                    remedy = "make one of them longer, or name the other's words under unless"
                    yield _finding(file.path, _line(file, "triggers"), "shared-trigger", "warning", message, remedy)


async def _missed(rehearsal: Rehearsal, file: PlaybookFile, playbook: Playbook) -> list[dict[str, Any]]:
    """Examples that reach another playbook, or none."""
    found = []
    for examples in playbook.examples.values():
        for example in examples:
            _, found_by = await _recognise(rehearsal, example)
            reached = _reached(playbook, found_by)
            if not reached["ok"]:
                message = f"its example {example!r} reaches {reached['reached'] or 'no playbook'}"
                remedy = "add a trigger, or a word of the example to the other's unless"
                severity = "error" if reached["reached"] else "warning"
                line = _line(file, "examples", example)
                found.append(_finding(file.path, line, "example-missed", severity, message, remedy))
    return found


def _line(file: PlaybookFile, key: str, text: str | None = None) -> int:
    """The line of a key, or of the text that stands under it."""
    marked = load_marked(file.text, path=file.path)
    entry = (marked.mapping() or {}).get(key) if isinstance(marked, Entry) else None
    if entry is None:
        return 1
    places = (item for under in (entry.mapping() or {}).values() for item in under.items() if item.value == text)
    return next((item.line for item in places), entry.line) if text is not None else entry.line


def _finding(path: str, line: int, rule: str, severity: str, message: str, remedy: str) -> dict[str, Any]:
    return {"path": path, "line": line, "rule": rule, "severity": severity, "message": message, "remedy": remedy}
