"""`tenant.yaml` to the domain's `Tenant`: checked once when it is loaded, rebuilt from what is stored afterwards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal, Self, cast
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from policies.applicability import Membership
from policies.authority import Ladder
from policies.facts import Facts
from support_agent.domain.playbook import Playbook
from support_agent.domain.tenant import DIMENSION_FACTS, Budget, Tenant, tenant_id

#: Beyond them a date is a placeholder, and its midnight may leave the calendar.
_YEARS = range(1800, 3000)
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def _slug(value: str) -> str:
    if not _SLUG.fullmatch(value):
        raise ValueError("use lower-case letters, digits and hyphens, no hyphen first, 63 at most")
    return value


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ValueError, OSError, KeyError) as error:
        # A name that leads out of the zone folder, a folder, or no zone (`ZoneInfoNotFoundError` is a KeyError).
        raise ValueError("use an IANA time zone such as Europe/Berlin") from error
    return value


def _pattern(value: str) -> str:
    try:
        pattern = re.compile(value)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if pattern.fullmatch(""):
        raise ValueError("must not match an empty text")
    return value


def _rungs(value: tuple[str | tuple[str, ...], ...]) -> tuple[str | tuple[str, ...], ...]:
    Ladder.of(value)
    return value


def _year(value: date | None) -> date | None:
    if value is not None and value.year not in _YEARS:
        raise ValueError("give the day it really is; leave it out where there is none")
    return value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Bilingual(_Strict):
    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)


class Words(_Strict):
    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()


class Member(_Strict):
    region: str
    since: Annotated[date | None, AfterValidator(_year)] = Field(None, alias="from")
    until: Annotated[date | None, AfterValidator(_year)] = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since >= self.until:
            raise ValueError("`until` must come after `from`")
        return self


class BudgetSettings(_Strict):
    max_rounds: int = Field(3, ge=2, le=5)
    time_s: float = Field(10.0, gt=0, le=300)
    max_lookups: int = Field(12, ge=1, le=100)
    max_tokens: int = Field(20_000, ge=1)


class TenantSettings(_Strict):
    """What `tenant.yaml` may hold."""

    tenant: Annotated[str, AfterValidator(_slug)]
    name: Bilingual
    time_zone: Annotated[str, AfterValidator(_zone)]
    locale: Literal["en", "zh"] = "en"
    date_order: Literal["DMY", "MDY", "YMD"] | None = None
    ladder: Annotated[tuple[str | tuple[str, ...], ...], Field(min_length=1), AfterValidator(_rungs)] = (
        "law",
        "contract",
        "corporate",
        "department",
        "faq",
    )
    region_groups: dict[str, tuple[Member, ...]] = Field(default_factory=dict)
    allow_list: tuple[str, ...] = ()
    risk_words: Words = Words()
    order_number: Annotated[str, AfterValidator(_pattern)] = r"[A-Z]{2,4}-\d{3,8}"
    item_kinds: dict[str, Words] = Field(default_factory=dict)
    topics: dict[str, Words] = Field(default_factory=dict)
    contact: Bilingual
    four_eyes: bool = False
    connectors: dict[str, dict[str, Any]] = Field(default_factory=dict)
    dimensions: dict[str, str] = Field(default_factory=dict)
    budget: BudgetSettings = Field(default_factory=lambda: BudgetSettings.model_validate({}))


def build_tenant(settings: TenantSettings, *, facts: Facts, playbooks: tuple[Playbook, ...], revision: int) -> Tenant:
    """The domain's tenant from checked settings."""
    zone = ZoneInfo(settings.time_zone)
    return Tenant(
        id=tenant_id(settings.tenant),
        slug=settings.tenant,
        name={"en": settings.name.en, "zh": settings.name.zh},
        time_zone=settings.time_zone,
        locale=settings.locale,
        date_order=settings.date_order,
        ladder=Ladder.of(settings.ladder),
        region_groups={
            group: tuple(
                Membership(region=member.region, start=_midnight(member.since, zone), end=_midnight(member.until, zone))
                for member in members
            )
            for group, members in settings.region_groups.items()
        },
        facts=facts,
        playbooks=playbooks,
        allow_list=frozenset(settings.allow_list),
        risk_words=_words(settings.risk_words),
        order_number=settings.order_number,
        item_kinds={kind: _words(words) for kind, words in settings.item_kinds.items()},
        topics={topic: _words(words) for topic, words in settings.topics.items()},
        contact={"en": settings.contact.en, "zh": settings.contact.zh},
        four_eyes=settings.four_eyes,
        connectors=settings.connectors,
        dimensions={**DIMENSION_FACTS, **settings.dimensions},
        budget=Budget(**settings.budget.model_dump()),
        revision=revision,
    )


def _words(words: Words) -> Mapping[Literal["en", "zh"], tuple[str, ...]]:
    return cast("Mapping[Literal['en', 'zh'], tuple[str, ...]]", words.model_dump())


def _midnight(day: date | None, zone: ZoneInfo) -> datetime | None:
    return None if day is None else datetime.combine(day, time.min, zone).astimezone(UTC)
