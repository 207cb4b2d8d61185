"""What the stages need from outside: each is a protocol, and `bootstrap` hands in what keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from connectors.base import Connector
from policies.facts import FactValue
from policies.session import TenantSession
from support_agent.domain.playbook import Playbook, Wording
from support_agent.domain.question import Earlier, Language, Question
from support_agent.domain.reading import Reading


class Voice(Protocol):
    """One language, with dates in one zone. What it says is inert: no foreign link, no image, no marker but ours."""

    @property
    def language(self) -> Language: ...

    @property
    def zone(self) -> ZoneInfo: ...

    def tenant(self, wording: Wording, values: Mapping[str, FactValue]) -> str | None:
        """The tenant's own text over `values` by dotted name; None when it names a value that is unknown or null."""
        ...

    def own(self, name: str, /, **values: object) -> str:
        """The package's text `name`."""
        ...

    def label(self, name: str) -> str:
        """How people call the fact or term `name`."""
        ...


class Words(Protocol):
    """The tenant's and the package's texts in every language."""

    def voice(self, language: Language, zone: ZoneInfo) -> Voice: ...


class Conversation(Protocol):
    """What was asked before."""

    async def __call__(self, session: TenantSession, question: Question) -> Earlier | None:
        """The last question of the conversation by the same caller, before this one; None where it is the first."""
        ...


class Similarity(Protocol):
    """How like a question is to a playbook's examples."""

    async def __call__(self, text: str, playbooks: Sequence[Playbook]) -> Mapping[str, float]:
        """Highest cosine of the text to any example, by playbook id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the stages are handed from outside."""

    connectors: Mapping[str, Connector]
    words: Words
    read: Callable[[Question], Reading]
    conversation: Conversation
    #: None: no vectors; words alone recognise a question.
    similarity: Similarity | None
    #: Monotonic seconds.
    clock: Callable[[], float]
    new_id: Callable[[], UUID]
