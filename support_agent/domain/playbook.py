"""A declarative recipe for a known kind of question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from support_agent.domain.question import Language

Wording: TypeAlias = Mapping[Language, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookNeed:
    """Needs addressed to one source: one sub-question."""

    id: str
    source: str
    gives: tuple[str, ...]
    #: Policy topic; `$topic` takes it from the topic slot.
    topic: str | None = None
    after: tuple[str, ...] = ()
    critical: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWording:
    """One sentence of the answer, a Jinja2 text a language, and the needs whose evidence it cites."""

    text: Wording
    cites: tuple[str, ...]
    #: CEL over facts and terms; the sentence is said when it holds. None: always.
    when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """What to do next, a Jinja2 text a language; the first whose `when` holds is said."""

    text: Wording
    when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertedSlot:
    """A fact that only the customer can state, read from the question by its words."""

    fact: str
    #: Value -> language -> phrases that say it.
    values: Mapping[str, Mapping[Language, tuple[str, ...]]]
    #: What is asked when no phrase is found, by language.
    ask: Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    id: str
    examples: Mapping[Language, tuple[str, ...]]
    triggers: Mapping[Language, tuple[str, ...]]
    #: A trigger only counts when one of these stands in the question too; empty: no such condition.
    requires: Mapping[Language, tuple[str, ...]] = field(default_factory=dict)
    #: Words that say it is another kind of question.
    unless: Mapping[Language, tuple[str, ...]] = field(default_factory=dict)
    #: Whether one order must be found, and how it may be named.
    order_slot: tuple[Literal["order_number", "time_range", "item_words"], ...] = ()
    topic_slot: bool = False
    asserted: tuple[AssertedSlot, ...] = ()
    needs: tuple[PlaybookNeed, ...]
    #: What the answer is made of: a decision, facts of a record, passages, or two sides compared.
    form: Literal["decision", "facts", "passages", "comparison"]
    decide: str | None = None
    on_conflict: Literal["escalate", "annotate"] = "escalate"
    #: Named calculations (CEL) for wordings and deadlines, in order; later ones may use earlier ones.
    calculations: Mapping[str, str] = field(default_factory=dict)
    wording: tuple[ClaimWording, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
    mode: Literal["off", "shadow", "draft", "send"] = "draft"
