"""Playbooks that are still missing: recorded questions that none recognised, grouped, and a draft for each group.

Without a model: two questions are alike by the words of their subject that they share, in either language by what a
dictionary says those mean. A draft is a start for an admin, never a playbook in use: its mode is off.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from policies.text import chinese_words
from support_agent.bootstrap import Application, Progress
from support_agent.domain.question import Language, Principal, Question
from support_agent.domain.reading import Reading
from support_agent.errors import InvalidRequestError
from support_agent.pipeline import planning
from support_agent.pipeline.subject import WORD, subject_meanings
from support_agent.request import read_instant
from support_agent.storage import runs
from support_agent.storage.runs import UnrecognisedQuestion

#: Share of their words that two questions of one group have in common at least.
ALIKE: Final = 0.5
#: Share of a group's questions that have each word of its trigger.
SHARED: Final = 0.5
MAX_TRIGGERS: Final = 3
MAX_EXAMPLES: Final = 6
MAX_ID_WORDS: Final = 3
#: E-mail addresses and longer numbers: what may say who asked.
_PERSONAL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<!\w)\+?\d[\d \-()]{4,}\d")
_MASK: Final = "…"

Meanings = Mapping[str, tuple[float, frozenset[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Questions that ask for the same, as far as words tell; the one asked most often first."""

    questions: tuple[UnrecognisedQuestion, ...]
    #: Text without what may say who asked -> how many runs asked it.
    texts: Mapping[str, int]

    @property
    def n_runs(self) -> int:
        return sum(self.texts.values())


async def suggest(
    application: Application, tenant: str, *, since: str | None, limit: int, at_least: int, progress: Progress
) -> list[dict[str, Any]]:
    """A draft for each group of at least so many different questions, the one most often asked first.

    Raises:
        NotFoundError: There is no such tenant.
        InvalidRequestError: `since` is no instant.
    """
    async with application.rehearse(tenant) as rehearsal:
        start = read_instant("--since", since, zone=rehearsal.tenant.zone)
        asked = await runs.unrecognised(rehearsal.session, since=start, limit=limit)
    taken = {playbook.id for playbook in rehearsal.tenant.playbooks}

    def read(text: str) -> Reading:
        principal = Principal(kind="customer")
        return rehearsal.parts.read(Question(text=text, tenant=tenant, principal=principal, asked_at=datetime.now(UTC)))

    def subject(text: str) -> str:
        return planning.read_slots(read(text), tenant=rehearsal.tenant, playbook=None).subject

    found = [group for group in grouped(asked, read=read, subject=subject) if len(group.texts) >= at_least]
    progress(f"{tenant}: {len(asked)} questions that no playbook recognised, {len(found)} groups")
    drafts = []
    for group in found:
        draft = drafted(group, taken=taken)
        taken.add(draft["id"])
        drafts.append(draft)
    return drafts


def write(drafts: Iterable[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write each draft to a file of its own.

    Raises:
        InvalidRequestError: One of the files is there already, and nothing was written.
    """
    files = {folder / f"{draft['id']}.yaml": str(draft["yaml"]) for draft in drafts}
    if there := [file.name for file in files if file.exists()]:
        raise InvalidRequestError("--out", f"has {', '.join(there)} already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        file.write_text(text, encoding="utf-8", newline="\n")
    return list(files)


def grouped(
    asked: Sequence[UnrecognisedQuestion], *, read: Callable[[str], Reading], subject: Callable[[str], str]
) -> list[Group]:
    """The questions in groups, the largest first; the order in which they were asked changes nothing.

    Args:
        subject: What of a text says what it is about.
    """
    texts: Counter[str] = Counter()
    known: dict[str, UnrecognisedQuestion] = {}
    for question in sorted(asked, key=lambda question: (question.text, question.status, question.topic or "")):
        masked = _masked(read(question.text))
        texts[masked] += 1
        known.setdefault(masked, question)
    groups: list[dict[str, int]] = []
    leaders: list[Meanings] = []
    for text, n in sorted(texts.items(), key=lambda pair: (-pair[1], pair[0])):
        meanings = subject_meanings(subject(text))
        likeness = [(_alike(meanings, leader), -at) for at, leader in enumerate(leaders)]
        best, at = max(likeness, default=(0.0, 0))
        if best >= ALIKE:
            groups[-at][text] = n
        elif meanings:
            groups.append({text: n})
            leaders.append(meanings)
    found = [Group(questions=tuple(known[text] for text in group), texts=group) for group in groups]
    return sorted(found, key=lambda group: (-group.n_runs, next(iter(group.texts))))


def _alike(one: Meanings, other: Meanings) -> float:
    """The weight of the words that two questions share, as a share of all their words' weight."""
    total = sum(weight for weight, _ in one.values()) + sum(weight for weight, _ in other.values())
    shared = sum(
        weight + max((w for w, theirs in other.values() if not theirs.isdisjoint(tokens)), default=0.0)
        for weight, tokens in one.values()
        if any(not theirs.isdisjoint(tokens) for _, theirs in other.values())
    )
    return shared / total if total else 0.0


def _masked(reading: Reading) -> str:
    text = reading.text
    for order in reading.order_numbers:
        text = text.replace(order.text, _MASK)
    return " ".join(_PERSONAL.sub(_MASK, text).split())


def drafted(group: Group, *, taken: Iterable[str]) -> dict[str, Any]:
    """One group as a playbook that quotes what the policies say on its topic."""
    by_language: dict[Language, list[str]] = {"en": [], "zh": []}
    for text, question in zip(group.texts, group.questions, strict=True):
        by_language[question.language].append(text)
    words = {language: _shared_words(texts, language) for language, texts in by_language.items()}
    topics = Counter(question.topic for question in group.questions if question.topic is not None)
    topic = min(topics, key=lambda name: (-topics[name], name), default=None)
    name = _free("-".join(words["en"][:MAX_ID_WORDS]) or f"{topic or 'question'}-zh", taken)
    return {
        "id": name,
        "n_questions": len(group.texts),
        "n_runs": group.n_runs,
        "statuses": dict(sorted(Counter(question.status for question in group.questions).items())),
        "examples": {language: texts[:MAX_EXAMPLES] for language, texts in by_language.items()},
        "yaml": _yaml(name, group, by_language, words, topic),
    }


def _shared_words(texts: Sequence[str], language: Language) -> list[str]:
    """The words of the subject that most of the texts have, as they are written, in the order of the first text."""
    found: Counter[str] = Counter()
    for text in texts:
        heavy = {word for word, (weight, _) in subject_meanings(text).items() if weight >= WORD}
        # Of an English word its stem is known, and the draft needs the word.
        written = chinese_words(text) if language == "zh" else re.findall(r"[a-z][a-z'-]+", text.lower())
        found.update({word for word in written if not heavy.isdisjoint({word, *subject_meanings(word)})})
    often = {word for word, n in found.items() if n >= max(1, SHARED * len(texts))}
    first = texts[0].lower() if texts else ""
    return sorted(often, key=lambda word: (first.find(word) if word in first else len(first), word))


def _free(name: str, taken: Iterable[str]) -> str:
    held = set(taken)
    return next(free for n in range(1, len(held) + 2) if (free := name if n == 1 else f"{name}-{n}") not in held)


def _yaml(
    name: str,
    group: Group,
    examples: Mapping[Language, Sequence[str]],
    words: Mapping[Language, Sequence[str]],
    topic: str | None,
) -> str:
    """The draft's text; every string in quotes, for questions hold whatever people write."""
    said = [language for language, texts in examples.items() if not texts]
    lines = [f"# A draft of {len(group.texts)} questions, asked {group.n_runs} times, that no playbook recognised."]
    lines += [f"# Nobody asked it in {language}: write examples and triggers before it is used." for language in said]
    lines += [f"id: {name}", "examples:"]
    for language, texts in examples.items():
        lines.append(f"  {language}:" if texts else f"  {language}: []")
        lines += [f"    - {_quoted(text)}" for text in texts[:MAX_EXAMPLES]]
    lines.append("triggers:")
    for language, found in words.items():
        # English words stand in a phrase with gaps; a Chinese word is a phrase of its own.
        phrases = [" … ".join(found[:MAX_TRIGGERS])] if language == "en" and found else list(found[:MAX_TRIGGERS])
        lines.append(f"  {language}: [{', '.join(map(_quoted, phrases))}]")
    about = f", topic: {_quoted(topic)}" if topic is not None else ""
    lines += [
        "needs:",
        f"  - {{id: policy, source: policy{about}, gives: [passages]}}",
        "form: passages",
        "# draft or send, once somebody has looked at it.",
        'mode: "off"',
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
