from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pytest

from policies.version import Period
from support_agent.domain.glossary import GlossaryEntry
from support_agent.domain.playbook import AssertedSlot, Playbook, PlaybookNeed
from support_agent.domain.question import Principal, Question
from support_agent.domain.reading import Gloss, Precision, Reading, Role, Signal, TimeExpression, VocabularyMatch
from support_agent.domain.tenant import Tenant
from support_agent.language.reading import read
from support_agent.pipeline.planning import (
    MAX_ORDERS,
    VECTOR_THRESHOLD,
    Ending,
    by_likeness,
    by_words,
    gate,
    plan_playbook,
    plan_single,
    read_slots,
    triage,
    with_search_for_others,
    with_terms_of,
)
from support_agent.tenants.folder import new_tenant_files, read_tenant
from tests.factories import at, days
from tests.unit.pipeline.refund import FACTS

ZONE = ZoneInfo("Europe/Berlin")
ASKED_AT = at("2026-11-30T12:00:00+01:00")
CUSTOMER = Principal(kind="customer", customer_id="C-2001")
STAFF = Principal(kind="staff", staff_id="S-01")
LAST_YEAR, MAY = days("2025-01-01", "2026-01-01"), days("2026-05-01", "2026-06-01")
OrderSlot = Literal["order_number", "time_range", "item_words"]
ANY_ORDER: tuple[OrderSlot, ...] = ("order_number", "time_range", "item_words")


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = read_tenant(new_tenant_files("acme", time_zone="Europe/Berlin", authorities=None), revision=0)
    return Tenant(**{**{name: getattr(made, name) for name in made.__slots__}, "facts": FACTS})


def reading(
    text: str = "refund?", *, signals: tuple[Signal, ...] = (), says: Mapping[str, str] | None = None, **rest: Any
) -> Reading:
    """A reading of `text`; `says` maps the names found in it to their kind of vocabulary."""
    plain = read(text, asked_at=ASKED_AT, zone=ZONE, date_order="DMY")
    vocabulary = tuple(
        VocabularyMatch(kind=kind, name=name, phrase=name, weight=1) for name, kind in (says or {}).items()
    )
    values = {name: getattr(plain, name) for name in plain.__slots__}
    return Reading(**{**values, "vocabulary": vocabulary, "signals": frozenset(signals), **rest})


def time(period: Period | None, role: Role | None = None, precision: Precision = "year") -> TimeExpression:
    return TimeExpression(span=(0, 1), text="x", period=period, precision=precision, role=role)


def playbook(id_: str = "refund", **values: Any) -> Playbook:
    said: dict[str, Any] = {
        "examples": {}, "triggers": {}, "form": "decision", "decide": "refund.eligible", "order_slot": ANY_ORDER,
        "needs": (
            PlaybookNeed(id="order", source="orders", gives=("order.purchased_at",)),
            PlaybookNeed(id="policy", source="policy", topic="refund", gives=("refund.eligible",), after=("order",)),
        ),
    }  # fmt: skip
    return Playbook(id=id_, **{**said, **values})


# What ends before a lookup


@pytest.mark.parametrize(
    ("signals", "says", "principal", "ending"),
    [
        (("risk", "person"), {}, CUSTOMER, Ending(status="escalated", text="risk", reason="risk")),
        ((), {"lawyer": "risk"}, STAFF, Ending(status="escalated", text="risk", reason="risk")),
        (("person",), {}, CUSTOMER, Ending(status="escalated", text="person_requested", reason="person_requested")),
        (("other_person",), {}, CUSTOMER, Ending(status="refused", text="other_person")),
        (("internal",), {}, CUSTOMER, Ending(status="refused", text="internal")),
        (("internal",), {}, STAFF, None),
        (("small_talk",), {}, CUSTOMER, Ending(status="no_answer", text="small_talk")),
        (("general",), {}, CUSTOMER, None),
    ],
)
def test_question_that_must_not_be_looked_into_ends(
    signals: tuple[Signal, ...], says: Mapping[str, str], principal: Principal, ending: Ending | None
) -> None:
    assert triage(reading(signals=signals, says=says), principal=principal) == ending


@pytest.mark.parametrize(
    ("text", "customer", "refused"),
    [
        ("Show me the orders of C-2005", "C-2001", True),
        ("Show me the orders of c-2005", "C-2001", True),
        ("I am C-2001, where is my order?", "C-2001", False),
        ("Where is XC-20051?", "C-2001", False),
        ("Where is SO-1182?", "SO-7777", False),
        ("Can I return the plan I bought in 2025?", "1234", False),
        ("Where is it?", None, False),
    ],
)
def test_another_customers_id_is_refused(text: str, customer: str | None, refused: bool) -> None:
    ending = triage(reading(text), principal=Principal(kind="customer", customer_id=customer))

    assert ending == (Ending(status="refused", text="other_person") if refused else None)


@pytest.mark.parametrize(
    ("principal", "text", "stated", "open_"),
    [
        (CUSTOMER, "SO-1182?", {}, True),
        (STAFF, "SO-1182?", {}, True),
        (Principal(kind="customer"), "refund?", {}, False),
        (Principal(kind="customer", customer_id="C-1", verified=False), "refund?", {}, False),
        (Principal(kind="customer"), "refund?", {"order.purchased_at": ASKED_AT}, True),
        (Principal(kind="customer"), "SO-1182?", {"order.purchased_at": ASKED_AT}, False),
    ],
)
def test_personal_data_is_for_callers_somebody_vouches_for(
    principal: Principal, text: str, stated: Mapping[str, Any], open_: bool, tenant: Tenant
) -> None:
    question = Question(text=text, tenant="acme", principal=principal, asked_at=ASKED_AT, stated_facts=stated)
    slots = read_slots(reading(text), tenant=tenant, playbook=playbook())

    found = gate(question, slots, playbook=playbook())

    assert found == (None if open_ else Ending(status="refused", text="verify"))


def test_policy_question_needs_nobody_to_vouch(tenant: Tenant) -> None:
    question = Question(text="q", tenant="acme", principal=Principal(kind="customer"), asked_at=ASKED_AT)
    slots = read_slots(reading(), tenant=tenant, playbook=None)

    assert gate(question, slots, playbook=None) is None
    assert gate(question, slots, playbook=playbook(order_slot=())) is None


# Which playbook


REFUND, STATUS = playbook("refund"), playbook("status")
SAYS = playbook("says", order_slot=(), form="passages", decide=None)


def test_words_decide_for_one_playbook() -> None:
    assert by_words(reading(says={"status": "trigger"}), [REFUND, STATUS, SAYS]) == (STATUS, ())


def test_words_for_two_leave_it_to_likeness_between_them() -> None:
    said = reading(says={"status": "trigger", "refund": "trigger"})

    assert by_words(said, [REFUND, STATUS, SAYS]) == (None, (REFUND, STATUS))


def test_words_for_none_leave_it_to_likeness_between_all() -> None:
    assert by_words(reading(), [REFUND, STATUS]) == (None, (REFUND, STATUS))


def test_playbook_that_is_off_is_never_chosen() -> None:
    assert by_words(reading(says={"status": "trigger"}), [playbook("status", mode="off")]) == (None, ())


def test_words_of_another_kind_of_question_exclude_a_playbook() -> None:
    said = reading(says={"status": "trigger"}, vocabulary=(
        VocabularyMatch(kind="trigger", name="status", phrase="a", weight=1),
        VocabularyMatch(kind="unless", name="status", phrase="b", weight=1),
    ))  # fmt: skip

    assert by_words(said, [STATUS]) == (None, ())


def test_required_words_must_stand_in_the_question_too() -> None:
    needing = playbook("status", requires={"en": ("order",)})

    assert by_words(reading(says={"status": "trigger"}), [needing]) == (None, ())


@pytest.mark.parametrize(("text", "chosen"), [("How long?", SAYS), ("How long for SO-1182?", REFUND)])
def test_question_about_the_rule_itself_asks_for_no_order(text: str, chosen: Playbook) -> None:
    said = reading(text, signals=("general",), vocabulary=(
        VocabularyMatch(kind="trigger", name="refund", phrase="refund", weight=2),
        VocabularyMatch(kind="trigger", name="says", phrase="a", weight=1),
    ))  # fmt: skip

    assert by_words(said, [REFUND, SAYS]) == (chosen, ())


@pytest.mark.parametrize(
    ("likeness", "said", "chosen"),
    [
        ({"refund": VECTOR_THRESHOLD, "status": 0.1}, {}, REFUND),
        ({"refund": VECTOR_THRESHOLD - 0.01, "status": 0.1}, {}, None),
        ({"refund": 0.3, "status": 0.2}, {"refund": "trigger", "status": "trigger"}, REFUND),
        ({}, {}, None),
    ],
)
def test_likeness_decides_above_the_threshold(
    likeness: Mapping[str, float], said: Mapping[str, str], chosen: Playbook | None
) -> None:
    assert by_likeness(reading(says=said), [REFUND, STATUS], likeness) == chosen


# Slots and plans


def test_slots_are_what_the_question_states(tenant: Tenant) -> None:
    said = reading("SO-1182 and SO-1183 and SO-1182", says={"goods": "item", "refund": "topic"})

    slots = read_slots(said, tenant=tenant, playbook=REFUND)

    assert slots.order_numbers == ("SO-1182", "SO-1183")
    assert (slots.item_kind, slots.topic) == ("goods", "refund")
    assert (slots.period, slots.as_of, slots.event_dates) == (None, None, {})


def test_two_topics_of_one_weight_name_none(tenant: Tenant) -> None:
    said = reading(says={"refund": "topic", "warranty": "topic"})

    assert read_slots(said, tenant=tenant, playbook=None).topic is None


@pytest.mark.parametrize(
    ("role", "book", "period", "as_of"),
    [
        ("purchase", REFUND, LAST_YEAR, None),
        (None, REFUND, LAST_YEAR, None),
        ("as_of", REFUND, None, LAST_YEAR),
        ("delivery", REFUND, None, None),
        ("request", REFUND, None, None),
        ("purchase", SAYS, LAST_YEAR, LAST_YEAR),
        (None, None, LAST_YEAR, LAST_YEAR),
        ("request", None, None, None),
    ],
)
def test_date_finds_the_order_or_the_version(
    role: Role | None, book: Playbook | None, period: Period | None, as_of: Period | None, tenant: Tenant
) -> None:
    slots = read_slots(reading(time_expressions=(time(LAST_YEAR, role),)), tenant=tenant, playbook=book)

    assert (slots.period, slots.as_of) == (period, as_of)


def test_event_that_the_tenant_declares_is_a_fact(tenant: Tenant) -> None:
    said = reading(time_expressions=(time(MAY, "purchase"), time(LAST_YEAR, "travel")))

    assert read_slots(said, tenant=tenant, playbook=REFUND).event_dates == {"order.purchased_at": MAY}


def test_date_with_two_readings_is_kept_to_be_asked(tenant: Tenant) -> None:
    unclear = time(None, "purchase", "day")

    assert read_slots(reading(time_expressions=(unclear,)), tenant=tenant, playbook=REFUND).ambiguous == unclear


def test_fact_only_the_customer_knows_is_read_from_one_word_only(tenant: Tenant) -> None:
    book = playbook(asserted=(AssertedSlot(fact="claim.reason", values={}, ask={}),))
    one = reading(says={"health": "fact claim.reason"})
    two = reading(says={"health": "fact claim.reason", "weather": "fact claim.reason"})

    assert read_slots(one, tenant=tenant, playbook=book).asserted == {"claim.reason": "health"}
    assert read_slots(two, tenant=tenant, playbook=book).asserted == {}


def test_plan_asks_each_order_named_and_the_policy_after_all(tenant: Tenant) -> None:
    slots = read_slots(reading("SO-1182 and SO-1183"), tenant=tenant, playbook=REFUND)

    plan = plan_playbook(REFUND, slots)

    assert [(sub.id, sub.source, sub.parameters, sub.after) for sub in plan.sub_questions] == [
        ("q1", "orders", {"order_number": "SO-1182"}, ()),
        ("q2", "orders", {"order_number": "SO-1183"}, ()),
        ("q3", "policy", {"topic": "refund"}, ("q1", "q2")),
    ]
    assert (plan.route, plan.decide, plan.topic) == ("playbook", "refund.eligible", "refund")
    assert plan.checklist == ("order.purchased_at", "refund.eligible")


def test_plan_asks_at_most_as_many_orders_as_are_compared(tenant: Tenant) -> None:
    named = " ".join(f"SO-{number}" for number in range(1000, 1000 + MAX_ORDERS + 3))

    plan = plan_playbook(REFUND, read_slots(reading(named), tenant=tenant, playbook=REFUND))

    assert sum(sub.source == "orders" for sub in plan.sub_questions) == MAX_ORDERS


def test_plan_narrows_orders_by_time_and_kind(tenant: Tenant) -> None:
    said = reading(says={"goods": "item"}, time_expressions=(time(LAST_YEAR, "purchase"),))

    plan = plan_playbook(REFUND, read_slots(said, tenant=tenant, playbook=REFUND))

    assert plan.sub_questions[0].parameters == {"period": LAST_YEAR, "item_kind": "goods"}


def test_topic_slot_is_filled_from_the_question(tenant: Tenant) -> None:
    book = playbook(order_slot=(), needs=(PlaybookNeed(id="p", source="policy", topic="$topic", gives=("passages",)),))
    slots = read_slots(reading(says={"warranty": "topic"}), tenant=tenant, playbook=book)

    assert plan_playbook(book, slots).sub_questions[0].parameters == {"topic": "warranty"}
    assert plan_playbook(book, slots).topic == "warranty"


def test_unknown_question_is_one_retrieval_and_then_the_terms_of_what_it_found(tenant: Tenant) -> None:
    plan = plan_single(read_slots(reading("parking?"), tenant=tenant, playbook=None))

    further = with_terms_of(plan, "parking")

    assert (plan.route, plan.playbook, plan.on_conflict) == ("single", None, "annotate")
    assert [sub.needs for sub in further.sub_questions] == [("passages",), ("terms",)]
    assert further.sub_questions[1].after == (plan.sub_questions[0].id,)
    assert further.topic == "parking"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What does the policy say as of 5 March 2025?", "2025-03-05"),
        ("截至2025年3月5日，政策怎么规定？", "2025-03-05"),
        ("到2025年3月5日为止的规定是什么？", "2025-03-05"),
        ("What did the policy say before 5 March 2025?", "2025-03-04"),
        # What happened on a day asks for what held then.
        ("我在2025年3月5日取消了服务，多少天后删除数据？", "2025-03-05"),
        ("I cancelled on 5 March 2025. When is my data deleted?", "2025-03-05"),
    ],
)
def test_question_about_the_policy_is_read_on_the_day_it_names(tenant: Tenant, text: str, day: str) -> None:
    as_of = read_slots(reading(text), tenant=tenant, playbook=None).as_of

    assert as_of is not None
    assert as_of.start.astimezone(ZONE).date().isoformat() == day
    assert as_of.end is not None
    assert as_of.end - as_of.start == timedelta(days=1)


def test_search_for_others_asks_the_same_of_whichever_customers(tenant: Tenant) -> None:
    slots = read_slots(reading("return goods"), tenant=tenant, playbook=None)
    plan = with_search_for_others(plan_single(slots))

    assert [dict(sub.parameters) for sub in plan.sub_questions] == [
        {"text": "return goods"}, {"text": "return goods", "known": {}}
    ]  # fmt: skip
    assert plan.sub_questions[1].after == ("q1",)


def test_date_that_names_its_year_says_which_one_is_meant(tenant: Tenant) -> None:
    guessed, named = time(LAST_YEAR), replace(time(MAY, precision="day"), text="20 May 2025")

    assert read_slots(reading(time_expressions=(guessed, named)), tenant=tenant, playbook=None).as_of == MAY


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("How long does Acme's export take?", "How long does   export take?"),
        ("Does ACME export data?", "Does   export data?"),
        ("Acmeville export", "Acmeville export"),
        ("Acme?", "Acme?"),
    ],
)
def test_tenant_s_own_name_is_no_subject(text: str, subject: str, tenant: Tenant) -> None:
    assert read_slots(reading(text), tenant=tenant, playbook=None).subject == subject


def test_vectors_are_compared_with_the_tenant_s_name(tenant: Tenant) -> None:
    slots = read_slots(reading("When does Acme answer an e-mail?"), tenant=tenant, playbook=None)

    assert plan_single(slots).sub_questions[0].parameters["text"] == "When does Acme answer an e-mail?"
    assert "Acme" not in slots.subject


def test_name_of_a_day_is_the_subject_beside_a_full_date(tenant: Tenant) -> None:
    text = "On 10 April 2024: is Christmas a holiday?"
    day = replace(time(LAST_YEAR), span=(3, 16), text="10 April 2024")
    christmas = replace(time(MAY), span=(21, 30), text="Christmas")

    assert (
        "Christmas"
        in read_slots(reading(text, time_expressions=(day, christmas)), tenant=tenant, playbook=None).subject
    )
    assert (
        "Christmas"
        not in read_slots(reading(text, time_expressions=(christmas,)), tenant=tenant, playbook=None).subject
    )


def test_subject_is_read_in_terms_of_the_documents(tenant: Tenant) -> None:
    terms = [GlossaryEntry(says="cash back", means=means) for means in ("refund", "退款")]
    text = "Any cash back for SO-1182 with a chit?"
    chit = GlossaryEntry(says="chit", means="invoice")
    read_so = reading(
        text,
        glosses=(
            Gloss(span=(4, 13), entries=tuple(terms)),
            Gloss(span=(text.index("chit"), text.index("chit") + 4), entries=(chit,)),
        ),
    )
    slots = read_slots(read_so, tenant=tenant, playbook=None)

    words = [" ".join(one.split()) for one in slots.glossed]
    assert words == ["Any refund for with a invoice ?", "Any 退款 for with a invoice ?"]
    assert " ".join(slots.searched.split()) == "Any cash back for with a chit?"
    assert plan_single(slots).sub_questions[0].parameters["glossed"] == slots.glossed


def test_question_that_the_glossary_does_not_explain_is_looked_up_as_ever(tenant: Tenant) -> None:
    slots = read_slots(reading("Any cash back?"), tenant=tenant, playbook=None)

    assert slots.glossed == ()
    assert plan_single(slots).sub_questions[0].parameters == {"text": "Any cash back?"}
