"""What a question's words say before anything is looked up: times, durations, order numbers.

Spans are half-open character ranges of `Reading.text`, and of `Reading.folded`, which has the same length.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from policies.version import Period
from support_agent.domain.glossary import GlossaryEntry
from support_agent.domain.question import Language

Span: TypeAlias = tuple[int, int]
Precision: TypeAlias = Literal["instant", "day", "week", "month", "quarter", "season", "year", "range"]
Role: TypeAlias = Literal["purchase", "delivery", "travel", "renewal", "request", "as_of", "other"]
Signal: TypeAlias = Literal[
    "risk", "person", "other_person", "internal", "small_talk", "general", "continues", "refers"
]
DurationUnit: TypeAlias = Literal["minute", "hour", "day", "working_day", "week", "month", "quarter", "year"]

#: Where a period starts that has no beginning ("before 2025"): earlier than any record.
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeExpression:
    """Words that mean a time, and the period they mean in the tenant's zone.

    "last year" is the calendar year before the one the question was asked in; "three weeks ago" the whole week that
    holds the day three weeks back.
    """

    span: Span
    #: As written.
    text: str
    #: None when it cannot be decided which of `alternatives` is meant.
    period: Period | None
    #: What 03/04/2025 may mean for a tenant without a date order; empty when `period` is known.
    alternatives: tuple[Period, ...] = ()
    precision: Precision
    #: What happened then, by the words nearby: `other` is nothing that dates an order. None when they say nothing.
    role: Role | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """A length of time ("within 14 days", 七天无理由): never a date. Halves are counted in the next smaller unit."""

    span: Span
    text: str
    amount: int
    unit: DurationUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderNumber:
    """An order number as stated.

    Width and case are folded. Letters that only look like Latin ones stay as they are, so such a number equals no
    order: the customer is told that there is none, and never gets another one than they wrote.
    """

    span: Span
    text: str
    number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyMatch:
    """A phrase of the tenant's or a playbook's vocabulary that the question contains."""

    #: What it is listed as: `topic`, `item`, `trigger`, …
    kind: str
    #: What it is listed under: a topic, an item kind, a playbook.
    name: str
    phrase: str
    #: How much of the question it is: words, or Chinese characters.
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gloss:
    """A phrase of the tenant's glossary in the question, with its entries in the order in which they were added."""

    span: Span
    entries: tuple[GlossaryEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The question's text and what stands in it."""

    #: Without control and invisible characters.
    text: str
    #: What the answer is written in.
    language: Language
    #: For comparing: no case, no width, simplified characters; as long as `text`.
    folded: str
    #: Stems of the words in Latin letters and the numbers, in order. Chinese is compared on `folded`.
    tokens: tuple[str, ...]
    #: In order, never overlapping each other, a duration or an order number.
    time_expressions: tuple[TimeExpression, ...]
    durations: tuple[Duration, ...]
    order_numbers: tuple[OrderNumber, ...]
    #: What the tenant's vocabulary finds in it, the heaviest first.
    vocabulary: tuple[VocabularyMatch, ...] = ()
    #: What the tenant's glossary explains in it, in order, never overlapping.
    glosses: tuple[Gloss, ...] = ()
    #: What the question is besides its subject; decided from its words alone.
    signals: frozenset[Signal] = frozenset()
