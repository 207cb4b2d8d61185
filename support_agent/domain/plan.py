"""What must be known to answer, and whom to ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from connectors.base import LookupValue

Route: TypeAlias = Literal["playbook", "model", "single"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQuestion:
    """One or more needs addressed to one source."""

    id: str
    source: str
    #: Facts, terms, or `passages`.
    needs: tuple[str, ...]
    #: Typed parameters; what depends on evidence is filled in when that evidence is confirmed.
    parameters: Mapping[str, LookupValue] = field(default_factory=dict)
    #: Ids of the sub-questions whose answers this one takes as input.
    after: tuple[str, ...] = ()
    #: A source that is down for a critical need escalates; for another, the answer says what is uncertain.
    critical: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The sub-questions of one question; their needs are the checklist."""

    route: Route
    playbook: str | None
    sub_questions: tuple[SubQuestion, ...]
    #: The rule term that decides, e.g. `refund.eligible`; None when passages or facts are the answer.
    decide: str | None = None
    topic: str | None = None
    on_conflict: Literal["escalate", "annotate"] = "escalate"

    @property
    def checklist(self) -> tuple[str, ...]:
        """All needs, in plan order, each once."""
        return tuple(dict.fromkeys(need for sub in self.sub_questions for need in sub.needs))
