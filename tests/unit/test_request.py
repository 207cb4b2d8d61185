from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from policies.facts import FactDeclaration, Facts
from support_agent.domain.question import Principal
from support_agent.domain.tenant import Tenant
from support_agent.errors import InvalidRequestError
from support_agent.request import (
    AskRequest,
    fact_value,
    first_instant,
    read_instant,
    read_request,
    readable_id,
    to_question,
)
from support_agent.tenants.folder import new_tenant_files, read_tenant

NOW = datetime(2026, 11, 30, 11, tzinfo=UTC)
FACTS: Facts = {
    declaration.name: declaration
    for declaration in (
        FactDeclaration(name="x.bool", type="bool", source="orders"),
        FactDeclaration(name="x.string", type="string", source="orders"),
        FactDeclaration(name="x.closed", type="string", source="orders", values=("web", "phone")),
        FactDeclaration(name="x.int", type="int", source="orders"),
        FactDeclaration(name="x.money", type="money", source="orders", currency="x.string"),
        FactDeclaration(name="x.instant", type="instant", source="orders"),
        FactDeclaration(name="x.date", type="date", source="orders"),
        FactDeclaration(name="x.list", type="list", source="orders"),
    )
}
DEFAULTS = AskRequest(question="", tenant="acme")


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = read_tenant(new_tenant_files("acme", time_zone="Asia/Shanghai", authorities=None), revision=0)
    return replace(made, facts=FACTS)


def request(**keys: Any) -> AskRequest:
    return replace(AskRequest(question="refund?", tenant="acme"), **keys)


def test_question_takes_what_the_request_says(tenant: Tenant) -> None:
    asked = request(
        question="  re\u0301fund? ", customer=" C-1 ", verified=False, at="2025-03-05", locale="zh",
        conversation="t-9", facts={"x.int": "7"},
    )  # fmt: skip

    question = to_question(asked, tenant, now=NOW)

    assert question.text == "r\u00e9fund?"
    assert question.principal == Principal(kind="customer", customer_id="C-1", verified=False)
    assert question.asked_at == datetime(2025, 3, 5, 4, tzinfo=UTC)
    assert (question.locale, question.conversation) == ("zh", "t-9")
    assert question.stated_facts == {"x.int": 7}


def test_question_without_an_instant_is_asked_now(tenant: Tenant) -> None:
    assert to_question(request(), tenant, now=NOW).asked_at == NOW


def test_staff_with_a_customer_is_staff(tenant: Tenant) -> None:
    question = to_question(request(staff="S-1", customer="C-1"), tenant, now=NOW)

    assert question.principal == Principal(kind="staff", customer_id="C-1", staff_id="S-1")


def test_line_is_read_over_the_defaults() -> None:
    line = '{"id": "7", "question": "q", "customer": "C-2", "locale": null}'

    assert read_request(line, defaults=replace(DEFAULTS, customer="C-1", locale="zh")) == AskRequest(
        id="7", question="q", tenant="acme", customer="C-2", locale="zh"
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"id": "a", "question": 5}', "a"),
        ('{"id": 7}', 7),
        ('{"id": NaN}', None),
        ('{"id": true}', None),
        ('{"id": 99999999999999999999}', None),
        ('{"id": ["a"]}', None),
        ('{"id": "\\ud800"}', None),
        (f'{{"id": "{"a" * 257}"}}', None),
        ("[1]", None),
        ("{", None),
        ("[" * 100_000, None),
    ],
)
def test_id_of_a_bad_line_is_given_back_where_it_can_be(line: str, found: object) -> None:
    assert readable_id(line) == found


@pytest.mark.parametrize(
    ("raw", "instant"),
    [
        ("2025-03-05", "2025-03-05T04:00Z"),
        ("2025-03-05T14:00+01:00", "2025-03-05T13:00Z"),
        ("2025-03-05T14:00:00.000001Z", "2025-03-05T14:00:00.000001Z"),
        (" 1800-01-01T00:00Z ", "1800-01-01T00:00Z"),
        ("2024-02-29", "2024-02-29T04:00Z"),
    ],
)
def test_instant_is_read_in_the_tenants_zone(raw: str, instant: str, tenant: Tenant) -> None:
    assert read_instant("at", raw, zone=tenant.zone) == datetime.fromisoformat(instant)


@pytest.mark.parametrize(
    ("raw", "instant"),
    [(" 2025-03-05 ", "2025-03-04T16:00Z"), ("2025-03-05T14:00+01:00", "2025-03-05T13:00Z")],
    ids=["date", "instant"],
)
def test_date_from_which_something_counts_is_its_first_instant(raw: str, instant: str, tenant: Tenant) -> None:
    assert first_instant("--from", raw, zone=tenant.zone) == datetime.fromisoformat(instant)


@pytest.mark.parametrize(
    "raw",
    ["2025-03-05T14:00", "05.03.2025", "now", "", "2025-02-29", "1799-12-31", "3000-01-01", "9999-12-31T23:59Z",
     "0001-01-01T00:00+14:00", "infinity", "2025-03-05T25:00Z", "２０２５-03-05T00:00Z x"],
)  # fmt: skip
def test_no_instant_is_refused(raw: str, tenant: Tenant) -> None:
    with pytest.raises(InvalidRequestError, match=r"^at: must be an instant with offset"):
        read_instant("at", raw, zone=tenant.zone)


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("x.bool", True, True),
        ("x.bool", "FALSE", False),
        ("x.string", "a", "a"),
        ("x.closed", "web", "web"),
        ("x.int", "-7", -7),
        ("x.money", 2**63 - 1, 2**63 - 1),
        ("x.instant", "2025-03-05", date(2025, 3, 5)),
        ("x.instant", "2025-03-05T14:00+01:00", datetime(2025, 3, 5, 13, tzinfo=UTC)),
        ("x.date", "2024-02-29", date(2024, 2, 29)),
        ("x.list", "a,b", ("a", "b")),
        ("x.list", ["a"], ("a",)),
    ],
)
def test_fact_is_read_as_declared(name: str, raw: object, value: object) -> None:
    assert fact_value(FACTS[name], raw) == value


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("x.bool", 1), ("x.string", 5), ("x.string", "a\x00"), ("x.closed", "fax"), ("x.int", "1.5"),
        ("x.int", 1.0), ("x.int", True), ("x.int", 2**63), ("x.int", "9" * 5000), ("x.money", None),
        ("x.instant", "2025-03-05T14:00"), ("x.instant", 5), ("x.date", "2025-02-29"), ("x.date", "9999-12-31"),
        ("x.list", 5), ("x.list", [5]),
    ],
)  # fmt: skip
def test_fact_of_another_kind_is_refused_by_name(name: str, raw: object) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        fact_value(FACTS[name], raw)

    assert refused.value.field == f"facts.{name}"
    assert len(str(refused.value)) < 200


def test_tenant_made_by_an_import_takes_what_policies_may_be_limited_to() -> None:
    made = read_tenant(new_tenant_files("acme", time_zone=None, authorities=None), revision=0)
    facts = {"profile.region": "CN", "profile.segment": "consumer", "order.plan": "team"}

    assert set(made.dimensions.values()) == made.facts.keys()
    assert to_question(request(facts=facts), made, now=NOW).stated_facts == facts
