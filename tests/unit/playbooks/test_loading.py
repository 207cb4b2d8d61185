from __future__ import annotations

from pathlib import Path

import pytest

from policies.errors import Fault
from policies.facts import FactDeclaration, Facts
from support_agent.domain.playbook import Playbook
from support_agent.playbooks import loading
from support_agent.playbooks.loading import parse_playbooks

PACKAGED = Path(loading.__file__).parent
FACTS: Facts = {
    declaration.name: declaration
    for declaration in (
        FactDeclaration(name="order.purchased_at", type="instant", source="orders"),
        FactDeclaration(name="order.status", type="string", source="orders", values=("open", "refunded")),
        FactDeclaration(name="order.paid_minor", type="money", currency="EUR", source="orders"),
        FactDeclaration(name="claim.reason", type="string", source="customer", values=("illness", "other")),
    )
}
GOOD = """\
id: refund
examples: {en: [can I get a refund?], zh: [还能退吗？]}
triggers: {en: [refund], zh: [退款]}
slots:
  order: {kind: order, from: [order_number, item_words]}
  topic: true
  claim.reason:
    values: {illness: {en: [ill], zh: [生病]}, other: {en: [other], zh: [其他]}}
    ask: {en: "Why?", zh: "原因？"}
needs:
  - {id: order, source: orders, gives: [order.purchased_at, order.status, order.paid_minor]}
  - {id: policy, source: policy, topic: r, after: [order], gives: [refund.eligible, refund.window_days, refund.kind]}
form: decision
decide: refund.eligible
calculations:
  refund.deadline: add_days(order.purchased_at, refund.window_days)
wording:
  - when: refund.eligible && refund.kind == "plan"
    en: "Until {{ refund.deadline | day }}, {{ order.paid_minor | money('EUR') }}."
    zh: "到{{ refund.deadline | day }}，{{ order.paid_minor | money('EUR') }}。"
    cites: [refund.eligible, refund.window_days]
next_step:
  - {when: "days_since(order.purchased_at) < 3", en: "Hurry.", zh: "请尽快。"}
  - {en: "Write to us.", zh: "请联系我们。"}
"""


def faults(text: str) -> list[str]:
    parsed = parse_playbooks({"playbooks/refund.yaml": text}, facts=FACTS)
    assert isinstance(parsed, list), "the playbook was accepted"
    return [str(fault) for fault in parsed]


def accepted(texts: dict[str, str]) -> tuple[Playbook, ...]:
    parsed = parse_playbooks(texts, facts=FACTS)
    assert not isinstance(parsed, list), "\n".join(map(str, parsed))
    return parsed


def test_a_playbook_is_read_whole() -> None:
    (playbook,) = accepted({"playbooks/refund.yaml": GOOD})

    assert (playbook.id, playbook.form, playbook.decide) == ("refund", "decision", "refund.eligible")
    assert (playbook.order_slot, playbook.topic_slot) == (("order_number", "item_words"), True)
    assert playbook.triggers == {"en": ("refund",), "zh": ("退款",)}
    assert playbook.asserted[0].values["illness"]["zh"] == ("生病",)
    assert [(need.id, need.topic, need.after, need.critical) for need in playbook.needs] == [
        ("order", None, (), True),
        ("policy", "r", ("order",), True),
    ]
    assert playbook.calculations == {"refund.deadline": "add_days(order.purchased_at, refund.window_days)"}
    assert playbook.wording[0].cites == ("refund.eligible", "refund.window_days")
    assert [step.when for step in playbook.next_steps] == ["days_since(order.purchased_at) < 3", None]
    assert (playbook.on_conflict, playbook.mode) == ("escalate", "draft")


def test_a_later_playbook_replaces_one_of_the_same_id() -> None:
    other = GOOD.replace("mode:", "").replace("form: decision", "form: decision\nmode: off\non_conflict: annotate")

    (playbook,) = accepted({"playbooks/a.yaml": GOOD, "playbooks/b.yaml": other})

    assert (playbook.mode, playbook.on_conflict) == ("off", "annotate")


@pytest.mark.parametrize(
    ("good", "bad", "line", "message"),
    [
        ("id: refund\n", "id: refund\ncolour: red\n", 2, "unknown key 'colour'"),
        ("id: refund\n", "", 1, "'id' is missing"),
        ("zh: [退款]", "xx: [退款]", 3, "'zh' is missing"),
        ("triggers: {en: [refund], zh: [退款]}\n", "", 1, "'triggers' is missing"),
        ("form: decision", "form: opinion", 13, "form is 'opinion'"),
        ("decide: refund.eligible\n", "", 13, "decide and form do not fit"),
        ("decide: refund.eligible", "decide: refund.allowed", 14, "no need gives 'refund.allowed'"),
        ("after: [order]", "after: [profile]", 12, "'policy' comes after 'profile', which is no earlier need"),
        ("id: policy", "id: order", 12, "the need 'order' stands twice"),
        ("gives: [order.purchased_at", "gives: [order.colour, order.purchased_at", 11, "'order.colour' is no fact"),
        ("source: orders", "source: profile", 11, "is no fact of 'profile'"),
        ("from: [order_number,", "from: [smell,", 5, "an order cannot be found by 'smell'"),
        ("topic: true", "topic: maybe", 6, "topic is not true or false"),
        ("claim.reason:\n", "claim.colour:\n", 7, "the slot 'claim.colour' is no declared fact"),
        ("values: {illness:", "values: {boredom:", 8, "claim.reason is never 'boredom'"),
        ("add_days(order", "add_dyas(order", 16, "'add_dyas' is not known"),
        ("refund.window_days)", "refund.window_weeks)", 16, "'refund.window_weeks' is no fact and no term"),
        ("refund.deadline: add", "deadline: add", 16, "'deadline' is no calculation's name"),
        ("when: refund.eligible &&", 'when: order.status == "lost" &&', 18, "order.status is never 'lost'"),
        ('when: refund.eligible && refund.kind == "plan"', "when: refund.window_days", 18, "not true or false"),
        ("< 3", "< 3.5", 23, "3.5"),
        ("cites: [refund.eligible,", "cites: [refund.colour,", 21, "cites 'refund.colour', which no need gives"),
        ("    cites: [refund.eligible, refund.window_days]\n", "", 18, "'cites' is missing"),
        ("Until {{ refund.deadline", "Until {{ refund.dead", 19, "prints 'refund.dead', which nothing gives"),
        ("Until {{ refund.deadline | day", "Until {{ refund.deadline | dya", 19, "no filter is called 'dya'"),
        ("Until {{ refund", "Until {{ { refund", 19, "no template"),
        ("Until {{ refund.deadline | day }}", "Until {{ order.paid_minor | day }}", 19, "cannot be said"),
        ("Until ", "{% include 'x' %}Until ", 19, "a wording that loads another"),
        ("到{{ refund.deadline", "到{{ order", 20, "prints 'order', which nothing gives"),
        ('zh: "请联系我们。"', "zh: 3", 24, "not text"),
        ("id: refund\n", "id: refund\n\tx: 1\n", 2, "a tab in YAML"),
    ],
)
def test_a_fault_is_shown_with_its_line(good: str, bad: str, line: int, message: str) -> None:
    assert good in GOOD

    found = faults(GOOD.replace(good, bad, 1))

    assert any(fault.startswith(f"playbooks/refund.yaml:{line}") and message in fault for fault in found), found


def test_all_faults_come_at_once_in_reading_order() -> None:
    text = GOOD.replace("form: decision", "form: opinion").replace("topic: true", "topic: maybe").replace("add_d", "d")

    found = parse_playbooks({"b.yaml": text, "a.yaml": "id: 3"}, facts=FACTS)

    assert isinstance(found, list)
    assert all(isinstance(fault, Fault) for fault in found)
    assert [fault.path for fault in found] == sorted(fault.path for fault in found)
    assert {fault.line for fault in found if fault.path == "b.yaml"} >= {6, 13, 16}


def test_packaged_playbooks_for_other_facts_are_left_out() -> None:
    texts = {f"playbooks/{path.name}": path.read_text(encoding="utf-8") for path in PACKAGED.glob("*.yaml")}

    playbooks = accepted({**texts, "playbooks/refund.yaml": GOOD})

    assert [playbook.id for playbook in playbooks] == ["policy-changes", "policy-says", "refund"]


def test_a_packaged_playbook_does_without_facts_that_are_not_critical() -> None:
    texts = {f"playbooks/{path.name}": path.read_text(encoding="utf-8") for path in PACKAGED.glob("policy-*.yaml")}

    changes, says = accepted(texts)

    for playbook in (changes, says):
        assert {need.source for need in playbook.needs} <= {"policy", "faq"}
        assert all(need.after == () for need in playbook.needs)


def test_what_was_tried_once_need_not_be_tried_again() -> None:
    wrong_type = GOOD.replace("{{ refund.deadline | day }}, ", "{{ order.paid_minor | day }}, ")

    assert isinstance(parse_playbooks({"p": wrong_type}, facts=FACTS), list)
    assert not isinstance(parse_playbooks({"p": wrong_type}, facts=FACTS, trial=False), list)
