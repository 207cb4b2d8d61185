"""The glossary of a tenant: what customers say for the terms of the documents, and who entered it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from policies.passage_words import searched_texts, texts_in_force
from policies.session import TenantSession
from policies.text import fold, normalise, question_tokens
from support_agent.administration.glossary_lint import lint
from support_agent.bootstrap import Application
from support_agent.domain.glossary import GlossaryEntry, Languages
from support_agent.errors import GlossaryRefusedError, InvalidRequestError, NotFoundError
from support_agent.language.glossary import phrase_key
from support_agent.language.slots import stems_of
from support_agent.request import read_instant
from support_agent.storage import glossary
from support_agent.storage.glossary import RecordedEntry

MAX_PHRASE: Final = 100
#: Passages that are read to see whether the words of a phrase stand in a row there.
MAX_READ: Final = 200


async def listed(application: Application, tenant: str, *, removed: bool) -> list[dict[str, Any]]:
    """The entries in the order in which they were added; on demand with those that were removed.

    Raises:
        NotFoundError: There is no such tenant.
    """
    async with application.open_tenant(tenant) as (session, _):
        return [_json(one) for one in await glossary.entries(session, removed=removed)]


async def add(
    application: Application, tenant: str, says: str, means: str, *, language: Languages, by: str, at: str | None
) -> dict[str, Any]:
    """Add an entry; what is to be said of it that does not keep it out comes back as `findings`.

    Args:
        at: When a document must be in force to have the term; None: now.

    Raises:
        InvalidRequestError: A phrase is empty or too long.
        NotFoundError: There is no such tenant.
        GlossaryRefusedError: It would mislead; with every reason.
    """
    entry = GlossaryEntry(says=_phrase("SAYS", says), means=_phrase("MEANS", means), language=language)
    async with application.open_tenant(tenant) as (session, held):
        on = read_instant("--at", at, zone=held.zone) or datetime.now(UTC)
        await glossary.hold(session)
        entries = [one.entry for one in await glossary.entries(session)]
        standing = await in_force(session, (entry.says, entry.means), on=on)
        # What is wrong with those that are there already says nothing of this one.
        found = [finding for finding in lint([*entries, entry], in_force=standing) if finding.entry is entry]
        if errors := [finding for finding in found if finding.severity == "error"]:
            raise GlossaryRefusedError(entry.says, [f"{error.message} ({error.remedy})" for error in errors])
        await glossary.add(session, entry, by=by)
    return {**_entry(entry), "added_by": by, "findings": [finding.json() for finding in found]}


async def remove(
    application: Application, tenant: str, says: str, *, means: str | None, by: str
) -> list[dict[str, Any]]:
    """Remove the entries of a phrase, or the one with a term; they stay in the record with who removed them.

    Raises:
        NotFoundError: There is no such tenant or entry.
    """
    async with application.open_tenant(tenant) as (session, _):
        await glossary.hold(session)
        found = [
            one.entry
            for one in await glossary.entries(session)
            if phrase_key(one.entry.says) == phrase_key(says)
            and (means is None or phrase_key(one.entry.means) == phrase_key(means))
        ]
        if not found:
            name = says if means is None else f"{says} → {means}"
            raise NotFoundError("entry", name[:MAX_PHRASE], hint="`support-agent glossary list` shows them")
        for entry in found:
            await glossary.remove(session, entry, by=by)
    return [{**_entry(entry), "removed_by": by} for entry in found]


async def linted(application: Application, tenant: str, *, at: str | None) -> list[dict[str, Any]]:
    """Everything to be said of the entries.

    Args:
        at: When a document must be in force to have a term; None: now.

    Raises:
        NotFoundError: There is no such tenant.
    """
    async with application.open_tenant(tenant) as (session, held):
        on = read_instant("--at", at, zone=held.zone) or datetime.now(UTC)
        phrases = [phrase for entry in held.glossary for phrase in (entry.says, entry.means)]
        standing = await in_force(session, phrases, on=on)
    return [finding.json() for finding in lint(held.glossary, in_force=standing)]


async def in_force(session: TenantSession, phrases: Iterable[str], *, on: datetime) -> frozenset[str]:
    """Those of `phrases` that stand in a passage in force `on` or in a heading above it, word for word."""
    tokens = {phrase: _indexed(phrase) for phrase in phrases}
    texts = await texts_in_force(session, {token for listed in tokens.values() for token in listed}, on=on)
    having = {
        phrase: sorted(frozenset.intersection(*(texts.get(token, frozenset()) for token in listed)))[:MAX_READ]
        for phrase, listed in tokens.items()
        if listed
    }
    read = await searched_texts(session, {text_id for ids in having.values() for text_id in ids})
    return frozenset(phrase for phrase, ids in having.items() if any(_stands_in(phrase, read[one]) for one in ids))


def _indexed(phrase: str) -> list[str]:
    """The tokens that a text which has the phrase is sure to have: longer Chinese words are cut by what is around."""
    return [token for token in question_tokens(phrase) if token.isascii() or len(token) <= 2]  # noqa: PLR2004 - characters and pairs


def _stands_in(phrase: str, text: str) -> bool:
    key, folded = phrase_key(phrase), fold(normalise(text))
    if isinstance(key, str):
        return key in "".join(folded.split())
    stems = stems_of(folded)
    return any(stems[start : start + len(key)] == key for start in range(len(stems)))


def _phrase(field: str, text: str) -> str:
    phrase = " ".join(normalise(text).split())
    if not phrase_key(phrase) or len(phrase) > MAX_PHRASE:
        raise InvalidRequestError(field, f"must be words in English or Chinese, {MAX_PHRASE} characters at most")
    return phrase


def _entry(entry: GlossaryEntry) -> dict[str, Any]:
    return {"says": entry.says, "means": entry.means, "language": entry.language}


def _json(one: RecordedEntry) -> dict[str, Any]:
    return {
        **_entry(one.entry),
        "added_by": one.added_by,
        "added_at": one.added_at.isoformat(),
        "removed_by": one.removed_by,
        "removed_at": one.removed_at.isoformat() if one.removed_at else None,
    }
