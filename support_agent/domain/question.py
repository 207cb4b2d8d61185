"""The question as it was asked, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from policies.facts import FactValue

Language: TypeAlias = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, from the authenticated call; never read out of the question."""

    kind: Literal["customer", "staff", "service"]
    customer_id: str | None = None
    staff_id: str | None = None
    verified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What was asked last in the same conversation by the same caller."""

    #: As it was understood: with what it took over from the question before it.
    text: str
    #: UTC.
    asked_at: datetime
    #: Of its outcome.
    status: str
    #: Numbers of the orders that its answer was about.
    orders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question by one principal to one tenant."""

    text: str
    #: Slug of the tenant.
    tenant: str
    principal: Principal
    #: Instant the question was asked, UTC.
    asked_at: datetime
    #: None: found in the text.
    locale: Language | None = None
    conversation: str | None = None
    #: None: the first of its conversation, or one that can be understood alone.
    earlier: Earlier | None = None
    #: What the customer asserts, by fact name.
    stated_facts: Mapping[str, FactValue] = field(default_factory=dict)
