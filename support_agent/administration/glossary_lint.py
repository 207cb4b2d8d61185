"""What is wrong with a glossary: entries that cannot help, mislead, or lead nowhere.

An error keeps an entry from being added. A warning does not: policies that a term stands in may come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Literal

from support_agent.domain.glossary import GlossaryEntry
from support_agent.language.glossary import Key, phrase_key
from support_agent.pipeline.planning import MAX_TERMS
from support_agent.pipeline.subject import subject_tokens

#: Weight in a question below which a phrase says nothing: words of asking and of measure, a single character.
SAYS_SOMETHING: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is to be said of one entry."""

    entry: GlossaryEntry
    rule: str
    severity: Literal["error", "warning"]
    message: str
    remedy: str

    def json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        entry = {"says": self.entry.says, "means": self.entry.means, "language": self.entry.language}
        said = {"rule": self.rule, "severity": self.severity, "message": self.message, "remedy": self.remedy}
        return entry | said


def lint(entries: Sequence[GlossaryEntry], *, in_force: AbstractSet[str]) -> list[Finding]:
    """Everything to be said of `entries`, in their order.

    Args:
        entries: In the order in which they were added: of two that are alike the later one is named.
        in_force: Their phrases and terms that stand in a document in force.
    """
    earlier: dict[tuple[Key, Key], list[GlossaryEntry]] = {}
    n_terms: dict[Key, int] = {}
    led = _leads(entries)
    found: list[Finding] = []
    for entry in entries:
        says, means = phrase_key(entry.says), phrase_key(entry.means)
        found += _of_one(entry, in_force)
        if says != means and says in _reached(means, led):
            message = f"what {entry.means!r} means leads back to {entry.says!r}"
            found.append(_error(entry, "cycle", message, "remove one of them: a term is what the documents say"))
        alike = earlier.setdefault((says, means), [])
        if (other := next((one for one in alike if _meet(one, entry)), None)) is not None:
            message = f"{other.says!r} for {other.means!r} is there already"
            found.append(_error(entry, "duplicate", message, "remove one of them"))
        else:
            n_terms[says] = n_terms.get(says, 0) + 1
            if n_terms[says] == MAX_TERMS + 1:
                message = f"{entry.says!r} has more than {MAX_TERMS} terms, of which no more are read"
                found.append(_warning(entry, "too-many-terms", message, "remove the terms that help least"))
        alike.append(entry)
    return found


def _of_one(entry: GlossaryEntry, in_force: AbstractSet[str]) -> Iterator[Finding]:
    if phrase_key(entry.says) == phrase_key(entry.means):
        yield _error(entry, "itself", f"{entry.says!r} is mapped to itself", "name the documents' term for it")
        return
    for phrase, told in ((entry.says, "say what customers say"), (entry.means, "name the documents' term")):
        if max(subject_tokens(phrase).values(), default=0.0) < SAYS_SOMETHING:
            message = f"{phrase!r} is too general: it stands in questions of any kind"
            yield _error(entry, "too-general", message, f"{told} in a longer phrase")
    if entry.says in in_force:
        message = f"{entry.says!r} is a term of a document in force itself"
        yield _warning(entry, "own-term", message, "remove it, unless it means something else there")
    if entry.means not in in_force:
        message = f"{entry.means!r} stands in no document in force"
        yield _warning(entry, "no-term", message, "write the term as a document in force does")


def _leads(entries: Iterable[GlossaryEntry]) -> Mapping[Key, set[Key]]:
    led: dict[Key, set[Key]] = {}
    for entry in entries:
        led.setdefault(phrase_key(entry.says), set()).add(phrase_key(entry.means))
    return led


def _reached(key: Key, led: Mapping[Key, set[Key]]) -> set[Key]:
    """Everything that `key` leads to, over whatever stands between."""
    reached: set[Key] = set()
    ahead = [key]
    while ahead:
        new = led.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached


def _meet(one: GlossaryEntry, other: GlossaryEntry) -> bool:
    """Whether there are questions in which both are read."""
    return one.language == other.language or "both" in {one.language, other.language}


def _error(entry: GlossaryEntry, rule: str, message: str, remedy: str) -> Finding:
    return Finding(entry=entry, rule=rule, severity="error", message=message, remedy=remedy)


def _warning(entry: GlossaryEntry, rule: str, message: str, remedy: str) -> Finding:
    return Finding(entry=entry, rule=rule, severity="warning", message=message, remedy=remedy)
