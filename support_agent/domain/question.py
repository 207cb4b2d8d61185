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
    #: What the customer asserts, by fact name.
    stated_facts: Mapping[str, FactValue] = field(default_factory=dict)
