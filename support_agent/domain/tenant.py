"""What a tenant has set: zone, ladder, regions, vocabulary, playbooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import NAMESPACE_URL, UUID, uuid5
from zoneinfo import ZoneInfo

from policies.applicability import RegionGroups
from policies.authority import Ladder
from policies.facts import Facts
from support_agent.domain.glossary import GlossaryEntry
from support_agent.domain.playbook import Playbook, Wording
from support_agent.domain.question import Language


def tenant_id(slug: str) -> UUID:
    """The id of the tenant called `slug`: derived, so that no table must be read before the tenant is set."""
    return uuid5(NAMESPACE_URL, f"support-agent:tenant:{slug}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one question may cost; at a limit the best answer so far is given with its uncertainty."""

    #: 2 to 5.
    max_rounds: int = 3
    time_s: float = 10.0
    max_lookups: int = 12
    #: Of language models; without one nothing is spent.
    max_tokens: int = 20_000


#: Applicability dimension -> the fact that says where a customer or order stands in it.
DIMENSION_FACTS: Mapping[str, str] = {
    "regions": "profile.region",
    "plans": "order.plan",
    "plan_versions": "order.plan_version",
    "channels": "order.channel",
    "segments": "profile.segment",
    "accounts": "profile.account",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    id: UUID
    slug: str
    name: Wording
    time_zone: str
    locale: Language
    #: Order of 03/04/2025; None: such dates are asked back.
    date_order: Literal["DMY", "MDY", "YMD"] | None
    ladder: Ladder
    region_groups: RegionGroups
    facts: Facts
    playbooks: tuple[Playbook, ...]
    #: Hosts that a link in an answer may lead to.
    allow_list: frozenset[str]
    #: Words that hand a question to a person at once.
    risk_words: Mapping[Language, tuple[str, ...]]
    #: Regular expression of an order number.
    order_number: str
    #: Item kind -> language -> words.
    item_kinds: Mapping[str, Mapping[Language, tuple[str, ...]]]
    #: Policy topic -> language -> words that name it.
    topics: Mapping[str, Mapping[Language, tuple[str, ...]]]
    #: How to reach a person, for answers that end without one.
    contact: Wording
    #: Source name -> its settings, checked by the connector that reads them.
    connectors: Mapping[str, Mapping[str, Any]]
    dimensions: Mapping[str, str] = field(default_factory=lambda: DIMENSION_FACTS)
    budget: Budget = field(default_factory=Budget)
    #: Whether every change of a policy needs a second person, so that none comes in bulk.
    four_eyes: bool = False
    #: What customers say for terms of the documents, in the order in which it was entered.
    glossary: tuple[GlossaryEntry, ...] = ()
    #: Raised by every publish and every change of settings.
    revision: int = 0

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)
