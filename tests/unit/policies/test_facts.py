from __future__ import annotations

import pytest

from policies.facts import FactDeclaration, load_facts

FACTS = """\
facts:
  order.purchased_at: {type: instant, source: orders, label: {en: purchase date, zh: 购买时间}}
  order.plan: {type: string, source: orders, values: [annual, monthly], null: true}
  order.amount_minor: {type: money, source: orders, currency: order.currency}
  order.currency: {type: string, source: orders}
  order.fee_minor: {type: money, source: orders, currency: EUR}
"""


def test_declarations_are_read() -> None:
    facts = load_facts(FACTS.encode(), path="facts.yaml")

    assert isinstance(facts, dict)
    assert list(facts) == [
        "order.purchased_at", "order.plan", "order.amount_minor", "order.currency", "order.fee_minor",
    ]  # fmt: skip
    assert facts["order.purchased_at"] == FactDeclaration(
        name="order.purchased_at", type="instant", source="orders", label={"en": "purchase date", "zh": "购买时间"}
    )
    assert facts["order.plan"] == FactDeclaration(
        name="order.plan", type="string", source="orders", null=True, values=("annual", "monthly")
    )
    assert facts["order.amount_minor"].currency == "order.currency"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("paid: {type: bool, source: orders}", "paid: no name for a fact"),
        ("order.paid: bool", "order.paid: no mapping"),
        ("order.paid: {type: boolean, source: orders}", "order.paid: type is 'boolean'"),
        ("order.paid: {type: bool}", "order.paid: source is missing"),
        ("order.paid: {type: bool, source: orders, null: maybe}", "order.paid: null is neither true nor false"),
        ("order.paid: {type: bool, source: orders, lable: {}}", "order.paid: unknown key 'lable'"),
        ("order.paid: {type: bool, source: orders, label: paid}", "order.paid: label is no mapping of texts"),
        ("order.n: {type: int, source: orders, values: [one]}", "order.n: values of a fact that is no string"),
        ("order.s: {type: string, source: orders, values: [1]}", "order.s: values is no list of texts"),
        ("order.m: {type: money, source: orders}", "order.m: currency is None"),
        ("order.m: {type: money, source: orders, currency: order.c}", "order.m: currency is 'order.c'"),
        ("order.n: {type: int, source: orders, currency: EUR}", "order.n: currency of a fact that is no money"),
    ],
)
def test_faults_name_line_and_remedy(line: str, fault: str) -> None:
    found = load_facts(f"facts:\n  {line}\n".encode(), path="facts.yaml")

    assert isinstance(found, list)
    assert len(found) == 1
    assert str(found[0]).startswith(f"facts.yaml:2: {fault}: ")


def test_all_faults_come_at_once() -> None:
    found = load_facts(b"facts:\n  a: {}\n  b.c: {type: x, source: y}\n", path="facts.yaml")

    assert isinstance(found, list)
    assert {(fault.line, fault.message) for fault in found} == {
        (2, "a: no name for a fact"),
        (2, "a: type is None"),
        (2, "a: source is missing"),
        (3, "b.c: type is 'x'"),
    }


@pytest.mark.parametrize("content", [b"", b"facts: []", b"[]", b"other: {}"])
def test_a_file_without_facts_is_refused(content: bytes) -> None:
    found = load_facts(content, path="facts.yaml")

    assert isinstance(found, list)
    assert found[0].message == "no facts"


def test_values_may_say_how_people_call_them() -> None:
    declared = load_facts(
        "facts: {order.state: {type: string, source: orders, values: {sent: {en: on its way, zh: 运输中}}}}".encode(),
        path="facts.yaml",
    )

    assert not isinstance(declared, list)
    assert declared["order.state"].values == ("sent",)
    assert declared["order.state"].value_labels["sent"]["zh"] == "运输中"
