from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.expressions import ExpressionError
from policies.facts import FactType, FactValue
from policies.rules import Evaluation, RuleValue, compile_rule, infer_type, load_rule
from tests.soak import examples
from tests.unit.policies.written import FACTS

TERMS: Mapping[str, FactType] = {"refund.window_days": "days", "refund.plans": "list", "refund.until": "date"}
BERLIN = ZoneInfo("Europe/Berlin")
MAR_15 = datetime(2025, 3, 15, 12, tzinfo=UTC)
EASTERN_NEW_YEAR = datetime(2025, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
MAR_5 = datetime(2025, 3, 5, 12, tzinfo=UTC)


def evaluate(expression: str, known: Mapping[str, FactValue], *, zone: ZoneInfo = BERLIN) -> Evaluation:
    return load_rule(expression).evaluate(known, asked_at=MAR_15, zone=zone)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("days_since(order.purchased_at) <= refund.window_days && order.quota_used_bp < 1000", "bool"),
        ("order.plan == 'annual' || order.plan in refund.plans", "bool"),
        ('order.plan in ["annual", "monthly"]', "bool"),
        ("order.tags.exists(tag, tag == order.note)", "bool"),
        ("order.tags.size() > 1 && size(order.tags) < 5", "bool"),
        ('order.note.startsWith("VIP") || order.note.matches("^A[0-9]+$")', "bool"),
        ("end_of_day(add_days(order.delivered_on, refund.window_days))", "instant"),
        ('order.purchased_at < timestamp("2025-01-01T00:00:00+01:00")', "bool"),
        ("order.paid ? refund.window_days * 2 : -1", "int"),
        ("asked_at > refund.until", "bool"),
        ("order.note + '!'", "string"),
        ("order.tags.filter(tag, tag != 'x')", "list"),
        ("[1, 2, 3].map(n, n * 2).all(n, n % 2 == 0)", "bool"),
        ("!order.paid // said twice\n && true", "bool"),
    ],
)
def test_type_of_the_result(expression: str, kind: FactType) -> None:
    assert infer_type(expression, facts=FACTS, terms=TERMS) == kind


@pytest.mark.parametrize(
    ("expression", "place", "message"),
    [
        ("order.bought_at < asked_at", 1, "'order.bought_at' is no fact and no term"),
        ("order < 3", 1, "'order' is no fact and no term"),
        ("order.plan.size() == 3", 12, "size of something that is no list"),
        ("today() > asked_at", 1, "the function 'today' is not known"),
        ("days_since(order.plan) < 3", 12, "days_since needs instant, not string"),
        ("days_since() < 3", 1, "days_since takes 1 arguments"),
        ("order.quota_used_bp < 0.1", 23, "0.1 is no whole number"),
        ("order.quota_used_bp < 1e3", 23, "1e3 is no whole number"),
        ("order.quota_used_bp < 10u", 23, "10u: unsigned integers are refused"),
        ("order.quota_used_bp < 9223372036854775808", 23, "9223372036854775808 is too large"),
        ("order.quota_used_bp / 10 < 3", 21, "'/' is refused"),
        ("double(order.quota_used_bp) < 3", 1, "the function 'double' is not known"),
        ("order.note == null", 15, "'null' is refused"),
        ("has(order.note)", 1, "'has' is refused"),
        ("order.tags[0] == 'x'", 11, "an index is refused"),
        ("{'a': 1}.a == 1", 1, "a map is refused"),
        ("order.plan == 3", 12, "'==' between string and int"),
        ("true || order.plan < 3", 20, "'<' between string and int"),
        ("order.paid && order.quota_used_bp", 15, "'&&' needs bool, not int"),
        ("order.paid < true", 12, "'<' between values without order"),
        ("order.plan == 'yearly'", 15, "order.plan is never 'yearly'"),
        ("'yearly' in order.tags && order.plan in ['yearly']", 42, "order.plan is never 'yearly'"),
        ("order.purchased_at - asked_at > 3", 20, "'-' on an instant"),
        ("order.delivered_on > '2025-01-01'", 20, "'>' between instant and string"),
        ("asked_at < timestamp('2025-01-01')", 22, "'2025-01-01' is not understood by timestamp"),
        ("false && asked_at < timestamp('2025-01-01T09:00:00')", 31, "'2025-01-01T09:00:00' is not understood"),
        ("asked_at < timestamp(order.note)", 12, "timestamp of a computed text"),
        ("order.note.matches('[')", 20, "'[' is not understood by matches"),
        ("order.paid ? 1 : 'x'", 12, "'?' between int and string"),
        ("[1, 'a']", 1, "a list of nothing or of several types"),
        ("[order.paid]", 1, "the result is a list of bools"),
        ("order.quota_used_bp <", 22, "the expression is cut short"),
        ("(order.paid", 12, "a ')' is missing"),
        ("order.paid order.paid", 12, "'order' is not expected"),
        ('order.note == "x', 15, "'\"' has no meaning here"),
        ("", 1, "the expression is cut short"),
        ("(" * 60 + "1" + ")" * 60, 41, "nested more than 40 deep"),
        ("a" * 4_001, 4_001, "longer than 4000 characters"),
        ("9223372036854775807 + refund.window_days > 0", 1, "it fails on sample values"),
    ],
)
def test_refused_when_it_is_loaded(expression: str, place: int, message: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        compile_rule(expression, facts=FACTS, terms=TERMS)

    assert refused.value.message.startswith(message)
    assert refused.value.position + 1 == place
    assert refused.value.remedy


def test_references_are_whole_names() -> None:
    rule = load_rule("order.paid && order.tags.exists(t, t == order.note) && asked_at > refund.until")

    assert rule.references == {"order.paid", "order.tags", "order.note", "refund.until"}


@pytest.mark.parametrize(
    ("bought_on", "expected"),
    [(date(2025, 3, 1), True), (date(2025, 2, 28), False), (MAR_5, True), (MAR_5 - timedelta(days=5), False)],
)
def test_a_window_in_calendar_days(bought_on: FactValue, expected: bool) -> None:
    rule = "days_since(order.purchased_at) <= refund.window_days"

    known = {"order.purchased_at": bought_on, "refund.window_days": 14}

    assert evaluate(rule, known) == Evaluation(value=expected)


def test_days_are_those_of_the_policy_zone() -> None:
    # 23:30 in Auckland on 5 March is 10:30 of that day in Lisbon and in UTC.
    late = datetime(2025, 3, 5, 23, 30, tzinfo=ZoneInfo("Pacific/Auckland"))

    known: dict[str, FactValue] = {"order.at": late}

    assert evaluate("days_since(order.at)", known, zone=ZoneInfo("Europe/Lisbon")).value == 10
    assert evaluate("days_since(order.at)", known, zone=ZoneInfo("Pacific/Auckland")).value == 11


@pytest.mark.parametrize(
    ("expression", "known", "expected"),
    [
        ("a.b || a.c", {"a.b": True}, Evaluation(value=True)),
        ("a.c || a.b", {"a.b": True}, Evaluation(value=True)),
        ("a.b && a.c", {"a.b": False}, Evaluation(value=False)),
        ("a.c && a.b", {"a.b": False}, Evaluation(value=False)),
        ("a.b || a.c", {"a.b": False}, Evaluation(missing=frozenset({"a.c"}))),
        ("a.b && a.c", {"a.b": True, "a.c": None}, Evaluation(missing=frozenset({"a.c"}))),
        ("a.b ? a.c : a.d", {"a.b": True, "a.c": True}, Evaluation(value=True)),
        ("a.b ? a.c : a.d", {"a.b": True, "a.d": True}, Evaluation(missing=frozenset({"a.c"}))),
        ("a.b ? true : a.d", {}, Evaluation(missing=frozenset({"a.b"}))),
        ("a.b == a.c", {"a.b": 1}, Evaluation(missing=frozenset({"a.c"}))),
        ("a.b != 1", {"a.b": None}, Evaluation(missing=frozenset({"a.b"}))),
        ("!a.b", {}, Evaluation(missing=frozenset({"a.b"}))),
        ("days_since(a.b) < 3 && a.c", {}, Evaluation(missing=frozenset({"a.b", "a.c"}))),
        ("a.b in a.c", {"a.b": "x"}, Evaluation(missing=frozenset({"a.c"}))),
        ("[a.b, a.c].exists(x, x == 1)", {"a.b": 1}, Evaluation(missing=frozenset({"a.c"}))),
    ],
)
def test_what_is_unknown_is_missing_and_never_false(
    expression: str, known: dict[str, FactValue], expected: Evaluation
) -> None:
    assert evaluate(expression, known) == expected


@pytest.mark.parametrize(
    ("expression", "values", "value"),
    [
        ("order.tags", {"order.tags": ("a", "b")}, ("a", "b")),
        ("order.note + '退款'", {"order.note": "中文"}, "中文退款"),
        ("order.tags.filter(t, t != 'a')", {"order.tags": ("a", "b")}, ("b",)),
        ("order.at", {"order.at": EASTERN_NEW_YEAR}, datetime(2025, 1, 1, tzinfo=UTC)),
        ("order.on", {"order.on": date(2025, 1, 1)}, datetime(2024, 12, 31, 23, tzinfo=UTC)),
        ("asked_at", {}, MAR_15),
        ("-7 % 3", {}, -1),
    ],
)  # fmt: skip
def test_values_come_back_as_facts_have_them(expression: str, values: dict[str, FactValue], value: RuleValue) -> None:
    assert evaluate(expression, values) == Evaluation(value=value)


@pytest.mark.parametrize(
    "expression",
    ["9223372036854775807 + order.n", "order.n % (order.n - 1)", "-order.n - 9223372036854775807 - order.n"],
)
def test_arithmetic_out_of_range_decides_nothing(expression: str, capfd: pytest.CaptureFixture[str]) -> None:
    evaluation = evaluate(expression, {"order.n": 1})

    assert evaluation.value is None
    assert evaluation.failure is not None
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("value", [1.5, datetime(2025, 1, 1), 2**63, b"x", {"a": 1}])  # noqa: DTZ001 - naive on purpose
def test_values_that_no_fact_can_have_are_an_error(value: object) -> None:
    with pytest.raises(TypeError, match="is no value of a fact"):
        load_rule("order.x == order.x").evaluate({"order.x": value}, asked_at=MAR_15, zone=BERLIN)  # type: ignore[dict-item]  # what facts may not be


def test_programs_are_compiled_once() -> None:
    assert load_rule("order.paid && true") is load_rule("order.paid && true")


NAMES = ("a.p", "a.q", "a.r")
BOOLEANS = st.recursive(
    st.sampled_from([*NAMES, "true", "false"]),
    lambda inner: (
        st.builds("({} && {})".format, inner, inner)
        | st.builds("({} || {})".format, inner, inner)
        | st.builds("({} == {})".format, inner, inner)
        | st.builds("!({})".format, inner)
        | st.builds("({} ? {} : {})".format, inner, inner, inner)
        | st.builds("[{}, {}].exists(x, x)".format, inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(default=500, soak=50_000))
@given(BOOLEANS, st.fixed_dictionaries({name: st.sampled_from([True, False, None]) for name in NAMES}))
def test_a_value_without_all_facts_is_the_value_with_any_of_them(
    expression: str, known: dict[str, bool | None]
) -> None:
    rule = load_rule(expression)
    unknown = [name for name in NAMES if known[name] is None]

    evaluation = rule.evaluate(known, asked_at=MAR_15, zone=BERLIN)

    if evaluation.value is None:
        assert evaluation.missing
        assert evaluation.missing <= set(unknown) & rule.references
    else:
        for values in product([True, False], repeat=len(unknown)):
            completed = known | dict(zip(unknown, values, strict=True))
            assert rule.evaluate(completed, asked_at=MAR_15, zone=BERLIN).value == evaluation.value


WORDS = "order.paid order . ( ) && ! - 1 'a' [ ] , ? : in == exists x days_since".split()


@settings(max_examples=examples(default=500, soak=50_000))
@given(st.text(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_any_text_is_a_rule_or_refused(expression: str) -> None:
    with suppress(ExpressionError):
        infer_type(expression, facts=FACTS, terms=TERMS)
