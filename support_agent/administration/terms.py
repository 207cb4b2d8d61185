"""Candidate terms of a text, and the sidecar that makes terms of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies import store
from policies.candidates import CandidateTerm, candidate_terms, name_ending, proposed_name, term_value
from policies.terms import unit_of
from support_agent.administration.documents import SIDECAR, parse_source, read_source, stored_document
from support_agent.bootstrap import Application
from support_agent.errors import InvalidRequestError, NotFoundError

if TYPE_CHECKING:
    from policies.document import PolicyDocument


async def suggest(application: Application, tenant: str, target: str) -> dict[str, Any]:
    """The candidate terms of a version, clause by clause, each with a name that it could have.

    Args:
        application: The application.
        tenant: Its slug.
        target: `policy@version`, or the path of a file that ends in `.md`.

    Raises:
        NotFoundError: There is no such version.
        PolicyParseError: With everything that is wrong with the file.
    """
    async with application.open_tenant(tenant) as (session, settings):
        if target.endswith(".md"):
            source, sidecar = read_source(Path(target))
            document = parse_source(source, settings, known=None, sidecar=sidecar)
        else:
            policy, _, version = target.partition("@")
            found = await stored_document(session, settings, policy, version) if version else None
            if found is None:
                raise NotFoundError("policy version", target, hint="`policy list` shows them")
            document = found
    return {
        "policy": document.policy,
        "version": document.version,
        "candidates": list(_suggestions(document)),
    }


async def accept(
    application: Application,
    tenant: str,
    file: Path,
    clause: str,
    name: str,
    *,
    value: str | None,
    better: str | None,
) -> dict[str, Any]:
    """Write a term into the sidecar beside a file; its text is not touched.

    Args:
        application: The application.
        tenant: Its slug.
        file: The version's file.
        clause: Anchor of the clause.
        name: The term's name, e.g. `refund.window_days`.
        value: As YAML; without it the clause's one candidate of the unit that the name ends in.
        better: `higher` or `lower`, where values can be compared.

    Raises:
        InvalidRequestError: There is no such clause, no single candidate, or the term stands there with another value.
        PolicyParseError: The sidecar would not be valid.
    """
    source, sidecar = read_source(file)
    async with application.open_tenant(tenant) as (session, settings):
        known = await store.term_types(session)
        document = parse_source(source, settings, known=known, sidecar=sidecar)
        said = value if value is not None else _only_value(document, clause, name)
        written = f"{{value: {said}" + (f", better: {better}}}" if better is not None else "}")
        held = next((term for place, term in document.terms if (place.anchor, term.name) == (clause, name)), None)
        if held is not None:
            raise InvalidRequestError("NAME", f"stands in this clause already, line {held.place[1]} of {held.place[0]}")
        text = _with_term("" if sidecar is None else sidecar.content.decode(), clause, name, written)
        from policies.document import SourceFile  # noqa: PLC0415 - loads the Markdown parser, which is slow

        path = file.with_name(f"{file.stem}{SIDECAR}")
        parse_source(source, settings, known=known, sidecar=SourceFile(path=path.name, content=text.encode()))
    _replace(path, text)
    return {"file": str(path), "clause": clause, "name": name, "written": written}


def _suggestions(document: PolicyDocument) -> Iterator[dict[str, Any]]:
    topic = document.front_matter.topic
    for clause in document.clauses:
        held = {term.value for term in clause.terms if not isinstance(term.value, bool)}
        for passage in clause.passages:
            for candidate in candidate_terms(passage.text):
                value = term_value(candidate)
                yield {
                    "clause": clause.anchor,
                    "line": passage.lines[0] + passage.text.count("\n", 0, candidate.start),
                    "text": candidate.text,
                    "span": [candidate.start, candidate.end],
                    "kind": candidate.kind,
                    "value": _number(candidate),
                    "unit": candidate.unit or ("/".join(sorted(candidate.currencies)) or None),
                    "bound": candidate.bound,
                    "name": proposed_name(topic, candidate, heading=clause.heading),
                    "term_value": value.isoformat() if isinstance(value, date) else value,
                    "accepted": value is not None and value in held,
                    "passage": passage.text,
                }


def _number(candidate: CandidateTerm) -> str:
    if candidate.day is not None:
        return "-".join("??" if part is None else f"{part:02}" for part in candidate.day)
    return str(candidate.value) if candidate.upper is None else f"{candidate.value} to {candidate.upper}"


def _only_value(document: PolicyDocument, anchor: str, name: str) -> str:
    clause = next((clause for clause in document.clauses if clause.anchor == anchor), None)
    if clause is None:
        anchors = ", ".join(clause.anchor for clause in document.clauses[:20])
        raise InvalidRequestError("CLAUSE", f"is not in this file; its clauses are {anchors}")
    stated = [candidate for passage in clause.passages for candidate in candidate_terms(passage.text)]
    fitting = [candidate for candidate in stated if _fits(candidate, name)]
    if not fitting and unit_of(name) is None:
        # The name says no unit that a candidate has: whichever is the only one is meant.
        fitting = stated
    values = {value for value in map(term_value, fitting) if value is not None}
    if len(values) != 1:
        found = ", ".join(sorted(map(str, values))) or "none"
        raise InvalidRequestError("--value", f"is needed: the clause's values for such a name are {found}")
    return str(values.pop())


def _fits(candidate: CandidateTerm, name: str) -> bool:
    ending = name_ending(candidate)
    if ending is None:
        return False
    # Days are days, whichever.
    return name.endswith((ending, "_days") if ending == "_business_days" else ending)


def _with_term(sidecar: str, clause: str, name: str, written: str) -> str:
    """The sidecar's text with one line more."""
    line = f"  {name}: {written}\n"
    quoted = clause if re.fullmatch(r"[A-Za-z][\w-]*", clause) else f'"{clause}"'
    key = re.escape(clause)
    found = re.search(rf"^(?:{key}|\"{key}\"|'{key}'):[ ]*(?P<rest>.*)\n?", sidecar, re.MULTILINE)
    if found is None:
        return f"{sidecar.rstrip()}\n{quoted}:\n{line}".lstrip("\n")
    if found["rest"].strip() and not found["rest"].lstrip().startswith("#"):
        raise InvalidRequestError("CLAUSE", "stands in the sidecar on one line; write its terms one a line first")
    head = sidecar[: found.end()]
    return f"{head if head.endswith(chr(10)) else head + chr(10)}{line}{sidecar[found.end() :]}"


def _replace(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8", newline="\n")
    beside.replace(path)
