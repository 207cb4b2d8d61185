"""Plan: from what the question says to what must be known, and whom to ask.

Rules first: words decide, vectors only where words do not. What can be refused or handed over is decided from the
request alone, before anything is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from connectors.base import LookupValue
from policies.facts import FactValue
from policies.version import Period
from support_agent.domain.outcome import EscalationReason
from support_agent.domain.plan import Plan, SubQuestion
from support_agent.domain.playbook import Playbook, PlaybookNeed
from support_agent.domain.question import Principal, Question
from support_agent.domain.reading import EARLIEST, Reading, Span, TimeExpression
from support_agent.domain.tenant import Tenant
from support_agent.pipeline.ports import Similarity

#: Name of the fixed text that ends a question without a lookup.
EndingText: TypeAlias = Literal["risk", "person_requested", "other_person", "internal", "verify", "small_talk"]

#: Cosine similarity to a playbook's example above which it is recognised without its words.
#: Chosen high, not calibrated: golden questions of another kind that come this far reach 0.54 at most, but none that a
#: playbook should answer needs likeness, so how low it may go is not known.
VECTOR_THRESHOLD = 0.72
MAX_ORDERS = 5
#: Terms of one phrase that are tried.
MAX_TERMS = 3

#: The date fact that an event named in the question states.
ROLE_FACTS: Mapping[str, str] = {
    "purchase": "order.purchased_at",
    "delivery": "order.delivered_at",
    "renewal": "order.renews_at",
    "travel": "order.travel_on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A question that ends before anything is looked up."""

    status: Literal["escalated", "refused", "no_answer"]
    text: EndingText
    reason: EscalationReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """What the question itself states, typed."""

    order_numbers: tuple[str, ...]
    period: Period | None
    item_kind: str | None
    topic: str | None
    #: The date the question asks as of, and dates of events it names, as periods by fact.
    as_of: Period | None
    event_dates: Mapping[str, Period]
    #: Facts that only the customer can state, read from the words.
    asserted: Mapping[str, FactValue]
    #: A date that can be read two ways.
    ambiguous: TimeExpression | None
    #: The question without its dates and order numbers: what passages are compared with.
    subject: str
    #: The same with the tenant's own name: a sentence's vector misses it, though its words tell nothing.
    searched: str
    #: The subject with the documents' terms in place of what the tenant's glossary explains; empty where it has none.
    glossed: tuple[str, ...] = ()
    #: The first time that lies ahead of the question: when the customer means to act, not when they bought.
    ahead: Period | None = None


def triage(reading: Reading, *, principal: Principal) -> Ending | None:
    """End a question that must not, or need not, be looked into; None lets it pass."""
    if "risk" in reading.signals or _weights(reading, "risk"):
        return Ending(status="escalated", text="risk", reason="risk")
    if "person" in reading.signals:
        return Ending(status="escalated", text="person_requested", reason="person_requested")
    about_another = "other_person" in reading.signals or _names_another_customer(reading, principal)
    if about_another and principal.kind == "customer":
        return Ending(status="refused", text="other_person")
    if "internal" in reading.signals and principal.kind == "customer":
        return Ending(status="refused", text="internal")
    if "small_talk" in reading.signals:
        return Ending(status="no_answer", text="small_talk")
    return None


def _names_another_customer(reading: Reading, principal: Principal) -> bool:
    """Whether an id of the form of the customer's own stands in the question, and is not theirs."""
    own = principal.customer_id
    # An id of digits alone has the form of a year or an amount.
    if principal.kind == "staff" or own is None or not re.search(r"\d", own) or not re.search(r"[^\W\d_]", own):
        return False
    shape = re.sub(r"\d+", lambda digits: rf"\d{{{len(digits[0])}}}", re.escape(own))
    found = re.findall(rf"(?<![A-Za-z0-9_-]){shape}(?![A-Za-z0-9_])", reading.text, re.IGNORECASE)
    orders = {order.text.casefold() for order in reading.order_numbers}
    return any(name.casefold() not in {own.casefold(), *orders} for name in found)


def gate(question: Question, slots: Slots, *, playbook: Playbook | None) -> Ending | None:
    """Refuse personal data to a caller whom nobody vouches for; what they state themselves may still be judged."""
    principal = question.principal
    personal = bool(slots.order_numbers) or bool(playbook and playbook.order_slot)
    if not personal or (principal.verified and principal.customer_id is not None) or principal.kind == "staff":
        return None
    stated = any(name.startswith("order.") for name in question.stated_facts)
    return None if stated and not slots.order_numbers else Ending(status="refused", text="verify")


def by_words(reading: Reading, playbooks: Sequence[Playbook]) -> tuple[Playbook | None, tuple[Playbook, ...]]:
    """The playbook that the question's words decide for; without one, those between which likeness may decide."""
    open_ones = [playbook for playbook in playbooks if playbook.mode != "off" and not _excluded(reading, playbook)]
    weights = _weights(reading, "trigger")
    best = max((weights.get(playbook.id, 0) for playbook in open_ones), default=0)
    named = [playbook for playbook in open_ones if best and weights.get(playbook.id) == best]
    return (named[0], ()) if len(named) == 1 else (None, tuple(named or open_ones))


def by_likeness(reading: Reading, playbooks: Sequence[Playbook], likeness: Mapping[str, float]) -> Playbook | None:
    """The playbook whose examples are most like the question; among those that words named, the threshold is lower."""
    top = max(playbooks, key=lambda playbook: (likeness.get(playbook.id, 0.0), playbook.id), default=None)
    if top is None:
        return None
    named = top.id in _weights(reading, "trigger")
    return top if named or likeness.get(top.id, 0.0) >= VECTOR_THRESHOLD else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """Which playbook a question reaches, and how like it is to the examples of those it was compared with."""

    playbook: Playbook | None
    #: Empty where words decided, or nothing was compared.
    likeness: Mapping[str, float] = field(default_factory=dict)


async def recognise(reading: Reading, playbooks: Sequence[Playbook], *, similarity: Similarity | None) -> Recognition:
    """The playbook that the question's words decide for, else the one whose examples it is most like."""
    decided, undecided = by_words(reading, playbooks)
    if decided is not None or similarity is None or not undecided:
        return Recognition(playbook=decided)
    likeness = await similarity(reading.text, undecided)
    return Recognition(playbook=by_likeness(reading, undecided, likeness), likeness=likeness)


def with_terms_of(plan: Plan, topic: str) -> Plan:
    """The plan with a further sub-question: what all sources on `topic` say, beside the passages already found."""
    plan = _with(plan, needs=("terms",), parameters={"topic": topic})
    return replace(plan, topic=plan.topic or topic)


def with_wider_search(plan: Plan) -> Plan:
    """The plan with a further sub-question: the passages of all topics."""
    return _with(plan, needs=("passages",), parameters={})


def with_search_of_topic(plan: Plan, topic: str) -> Plan:
    """The plan with a further sub-question: the passages of one topic."""
    return _with(plan, needs=("passages",), parameters={"topic": topic})


def with_passages_instead(plan: Plan) -> Plan:
    """What the text says on the topic, in place of a decision for which no rule applies to this case."""
    topic, of_the_rules = plan.topic, {sub.id for sub in plan.sub_questions if sub.source == "policy"}
    plan = with_wider_search(plan) if topic is None else with_search_of_topic(with_terms_of(plan, topic), topic)
    kept = tuple(sub for sub in plan.sub_questions if sub.id not in of_the_rules)
    return replace(plan, route="single", playbook=None, decide=None, on_conflict="annotate", sub_questions=kept)


def with_search_for_others(plan: Plan) -> Plan:
    """The plan with a further sub-question: the passages that hold for whichever customers."""
    found = next(sub for sub in plan.sub_questions if "passages" in sub.needs)
    return _with(plan, needs=("passages",), parameters={**found.parameters, "known": {}})


def _with(plan: Plan, *, needs: tuple[str, ...], parameters: Mapping[str, LookupValue]) -> Plan:
    number = 1 + _last_number(plan)
    further = SubQuestion(id=f"q{number}", source="policy", needs=needs, parameters=parameters, after=_asked(plan))
    return replace(plan, sub_questions=(*plan.sub_questions, further))


def _asked(plan: Plan) -> tuple[str, ...]:
    """The sub-questions of the plan as it was first made; what is added to it waits for these, not for each other."""
    return tuple(sub.id for sub in plan.sub_questions if "terms" not in sub.needs)


def read_slots(
    reading: Reading, *, tenant: Tenant, playbook: Playbook | None, asked_at: datetime | None = None
) -> Slots:
    """Turn the question's words into typed slots.

    Args:
        asked_at: Tells times ahead from those that have been; None takes all as past.
    """
    dates = [expression for expression in reading.time_expressions if expression.role != "request"]
    ahead = [e.period for e in dates if e.period is not None and asked_at is not None and e.period.start > asked_at]
    events = {
        fact: expression.period
        for expression in dates
        if expression.period is not None
        and (fact := ROLE_FACTS.get(expression.role or "")) is not None
        and fact in tenant.facts
    }
    # "All through June, last on 20 June 2025": what names its year says of the others which one is meant.
    dated = [e for e in dates if _names_its_year(e)] or dates
    as_of = next((e.period for e in dated if e.role == "as_of" and e.period is not None), None)
    untied = next((e.period for e in dated if e.role is None and e.period is not None), None)
    # A question about the policy that names an event is about the version in force then.
    tied = next((e.period for e in dated if e.role in ROLE_FACTS and e.period is not None), None)
    other = next((e.period for e in dated if e.role == "other" and e.period is not None), None)
    return Slots(
        order_numbers=tuple(dict.fromkeys(found.number for found in reading.order_numbers)),
        period=_hull([e.period for e in dates if e.role in {"purchase", None} and e.period and e.period not in ahead]),
        item_kind=_only(_weights(reading, "item")),
        topic=_heaviest(_weights(reading, "topic")),
        as_of=_at_its_end(as_of or (tied or untied or other if playbook is None or not playbook.order_slot else None)),
        event_dates=events,
        asserted={
            slot.fact: value
            for slot in (playbook.asserted if playbook else ())
            if (value := _only(_weights(reading, f"fact {slot.fact}")))
        },
        ambiguous=next((e for e in dates if e.period is None), None),
        subject=_without_name(_subject(reading), tenant),
        searched=_subject(reading),
        glossed=tuple(_without_name(text, tenant) for text in _glossed(reading)),
        ahead=ahead[0] if ahead else None,
    )


def _at_its_end(period: Period | None) -> Period | None:
    """What held up to a day is asked of that day, where nothing says from when on."""
    if period is None or period.end is None or period.start > EARLIEST:
        return period
    return Period(start=period.end - timedelta(days=1), end=period.end)


def _hull(periods: Sequence[Period]) -> Period | None:
    """From the first to the last of several times: "September or November?" is about the orders of both."""
    if not periods:
        return None
    ends = [period.end for period in periods if period.end is not None]
    return Period(start=min(period.start for period in periods), end=max(ends) if len(ends) == len(periods) else None)


def _names_its_year(expression: TimeExpression) -> bool:
    return re.search(r"[0-9]{4}", expression.text) is not None


def _glossed(reading: Reading) -> Iterator[str]:
    """The subject in the documents' terms: of each phrase the n-th text takes the n-th term, or else the last."""
    n_terms = max((len(gloss.entries) for gloss in reading.glosses), default=0)
    for n in range(min(n_terms, MAX_TERMS)):
        yield _subject(reading, {gloss.span: gloss.entries[: n + 1][-1].means for gloss in reading.glosses})


def _subject(reading: Reading, terms: Mapping[Span, str] | None = None) -> str:
    """The text without what says when, or which order; all of it when nothing else stands in it.

    Args:
        terms: What is put in the place of its phrases.

    Beside a full date the name of a day is what the question is about: "on 10 April 2024, is Christmas a holiday?"
    """
    is_dated = any(map(_names_its_year, reading.time_expressions))
    times = [time for time in reading.time_expressions if not is_dated or re.search("[0-9]", time.text)]
    spans: dict[Span, str | None] = dict.fromkeys([*(t.span for t in times), *(o.span for o in reading.order_numbers)])
    spans |= terms or {}
    pieces, position = [], 0
    for (start, end), term in sorted(spans.items()):
        pieces.append(reading.text[position:start])
        if term is not None:
            pieces.append(term)
        position = max(position, end)
    rest = " ".join([*pieces, reading.text[position:]])
    return rest if any(character.isalnum() for character in rest) else reading.text


def _without_name(subject: str, tenant: Tenant) -> str:
    """The subject without the tenant's own name: every question is about them."""
    names = {tenant.slug.replace("-", " "), *(name for name in (tenant.name["en"], tenant.name["zh"]) if name)}
    written = "|".join(re.escape(name).replace(r"\ ", r"[\s-]?") for name in sorted(names, key=len, reverse=True))
    rest = re.sub(rf"(?<![^\W_])(?:{written})(?:['’]s)?(?![^\W_])", " ", subject, flags=re.IGNORECASE)
    return rest if any(character.isalnum() for character in rest) else subject


def plan_playbook(playbook: Playbook, slots: Slots) -> Plan:
    """The playbook's needs as sub-questions, its slots filled from the question."""
    expanded = [(need, parameters) for need in playbook.needs for parameters in _parameters(need, playbook, slots)]
    ids: dict[str, list[str]] = {}
    for number, (need, _) in enumerate(expanded, start=1):
        ids.setdefault(need.id, []).append(f"q{number}")
    subs = tuple(
        SubQuestion(
            id=f"q{number}",
            source=need.source,
            needs=need.gives,
            parameters=parameters,
            after=tuple(q for dependency in need.after for q in ids.get(dependency, ())),
            critical=need.critical,
        )
        for number, (need, parameters) in enumerate(expanded, start=1)
    )
    named = () if any(sub.source == "orders" for sub in subs) else _named_orders(slots, first=len(subs) + 1)
    return Plan(
        route="playbook",
        playbook=playbook.id,
        sub_questions=(*subs, *named),
        decide=playbook.decide,
        topic=_need_topic(playbook, slots),
        on_conflict=playbook.on_conflict,
    )


def searched(slots: Slots) -> dict[str, LookupValue]:
    """What a search for passages is given of the question."""
    return {"text": slots.searched} if not slots.glossed else {"text": slots.searched, "glossed": slots.glossed}


def plan_single(slots: Slots) -> Plan:
    """One scoped retrieval for a question that no playbook knows."""
    parameters: dict[str, LookupValue] = {**searched(slots)}
    if slots.topic is not None:
        parameters["topic"] = slots.topic
    search = SubQuestion(id="q1", source="policy", needs=("passages",), parameters=parameters)
    return Plan(
        route="single",
        playbook=None,
        sub_questions=(search, *_named_orders(slots, first=2)),
        topic=slots.topic,
        on_conflict="annotate",
    )


def numbered_after(plan: Plan, before: Plan) -> Plan:
    """The plan with its sub-questions numbered on after those of another, so that a run of both tells them apart."""
    last = _last_number(before)
    ids = {sub.id: f"q{last + number}" for number, sub in enumerate(plan.sub_questions, start=1)}
    subs = (replace(sub, id=ids[sub.id], after=tuple(ids[q] for q in sub.after)) for sub in plan.sub_questions)
    return replace(plan, sub_questions=tuple(subs))


def _last_number(plan: Plan) -> int:
    return max((int(sub.id.removeprefix("q")) for sub in plan.sub_questions), default=0)


def _named_orders(slots: Slots, *, first: int) -> tuple[SubQuestion, ...]:
    """A sub-question for each order that is named: it must be the customer's, whatever is asked about it."""
    return tuple(
        SubQuestion(id=f"q{place}", source="orders", needs=(), parameters={"order_number": number})
        for place, number in enumerate(slots.order_numbers[:MAX_ORDERS], start=first)
    )


def _excluded(reading: Reading, playbook: Playbook) -> bool:
    # "How long is the warranty?" asks for the rule; no order of the customer's answers it.
    if playbook.order_slot and "general" in reading.signals and not reading.order_numbers:
        return True
    if playbook.id in _weights(reading, "unless"):
        return True
    return any(playbook.requires.values()) and playbook.id not in _weights(reading, "requires")


def _parameters(need: PlaybookNeed, playbook: Playbook, slots: Slots) -> list[dict[str, LookupValue]]:
    """The parameters of each sub-question that a need becomes; an order number each makes one."""
    topic = _topic_of(need, slots)
    if need.source == "orders":
        if "order_number" in playbook.order_slot and slots.order_numbers:
            return [{"order_number": number} for number in slots.order_numbers[:MAX_ORDERS]]
        found: dict[str, LookupValue] = {}
        if "time_range" in playbook.order_slot and slots.period is not None:
            found["period"] = slots.period
        if "item_words" in playbook.order_slot and slots.item_kind is not None:
            found["item_kind"] = slots.item_kind
        return [found]
    return [{} if topic is None else {"topic": topic}]


def _need_topic(playbook: Playbook, slots: Slots) -> str | None:
    return next((topic for need in playbook.needs if (topic := _topic_of(need, slots)) is not None), slots.topic)


def _topic_of(need: PlaybookNeed, slots: Slots) -> str | None:
    return slots.topic if need.topic == "$topic" else need.topic


def _weights(reading: Reading, kind: str) -> dict[str, int]:
    """How much of the question speaks for each name of one kind of vocabulary (`trigger`, `topic`, `item`, …)."""
    weights: dict[str, int] = {}
    for match in reading.vocabulary:
        if match.kind == kind:
            weights[match.name] = weights.get(match.name, 0) + match.weight
    return weights


def _heaviest(weights: Mapping[str, int]) -> str | None:
    """The name that most of the question speaks for; nothing when two weigh the same."""
    best = max(weights.values(), default=0)
    return _only(name for name, weight in weights.items() if weight == best)


def _only(values: Iterable[str]) -> str | None:
    """The single value, or nothing where there are none or several."""
    found = list(values)
    return found[0] if len(found) == 1 else None
