"""All phrases that a tenant and its playbooks list, compiled into one table: a question is compared with them once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from support_agent.domain.question import Language
from support_agent.domain.reading import Reading, VocabularyMatch
from support_agent.domain.tenant import Tenant
from support_agent.language.slots import Phrases

Listed = Mapping[Language, tuple[str, ...]]


class Vocabulary:
    """Phrases by kind and name: `risk`, `topic`, `item`, `fact F`, and a playbook's `trigger`, `requires`, `unless`."""

    def __init__(self, tenant: Tenant) -> None:
        # Both languages at once: people mix them.
        phrases: dict[str, list[str]] = {}
        for kind, name, words in _listed(tenant):
            phrases.setdefault(f"{kind}\n{name}", []).extend(phrase for texts in words.values() for phrase in texts)
        self._phrases = Phrases(phrases)

    def find(self, reading: Reading) -> tuple[VocabularyMatch, ...]:
        """Every listed phrase in the question, the heaviest first; one inside another of the same name counts once."""
        matches = []
        for match in self._phrases.find(reading):
            kind, _, name = match.name.partition("\n")
            matches.append(VocabularyMatch(kind=kind, name=name, phrase=match.phrase, weight=match.weight))
        return tuple(_outermost(matches))


def _outermost(matches: Iterable[VocabularyMatch]) -> Iterator[VocabularyMatch]:
    kept: list[VocabularyMatch] = []
    for match in matches:
        if not any(
            (other.kind, other.name) == (match.kind, match.name) and match.phrase in other.phrase for other in kept
        ):
            kept.append(match)
            yield match


def _listed(tenant: Tenant) -> Iterator[tuple[str, str, Listed]]:
    yield "risk", "risk", tenant.risk_words
    for topic, words in tenant.topics.items():
        yield "topic", topic, words
    for kind, words in tenant.item_kinds.items():
        yield "item", kind, words
    for playbook in tenant.playbooks:
        yield "trigger", playbook.id, playbook.triggers
        yield "requires", playbook.id, playbook.requires
        yield "unless", playbook.id, playbook.unless
        for slot in playbook.asserted:
            for value, words in slot.values.items():
                yield f"fact {slot.fact}", value, words
