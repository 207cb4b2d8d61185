from __future__ import annotations

import pytest

from connectors.query import parameters_of, query_problems

ALLOWED = ("customer", "order_number", "account")


def problems(query: str) -> list[str]:
    return query_problems(query, allowed=ALLOWED, required=("customer",))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM o WHERE c = :customer",
        "select a::text, b from o where c = :customer;",
        "with mine as (select * from o where c = :customer) select * from mine -- mine; not yours's",
        "SELECT 'it''s; DELETE', \"update\", `into` FROM o /* INSERT */ WHERE c=:customer OR a=:account",
        "SELECT $q$ drop; $q$ FROM o WHERE c = :customer AND at > '12:30:00'",
    ],
)
def test_one_select_of_the_customer_is_fine(query: str) -> None:
    assert problems(query) == []


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", "one SELECT"),
        ("DELETE FROM o WHERE c = :customer", "one SELECT"),
        ("EXPLAIN SELECT :customer", "one SELECT"),
        ("WITH x AS (DELETE FROM o RETURNING *) SELECT * FROM x WHERE c = :customer", "not DELETE"),
        ("SELECT * INTO copy FROM o WHERE c = :customer", "not INTO"),
        ("SELECT * FROM o WHERE c = :customer FOR UPDATE", "not UPDATE"),
        ("SELECT 1; SELECT * FROM o WHERE c = :customer", "one statement"),
        ("SELECT * FROM o", "does not use `:customer`"),
        ("SELECT * FROM o -- :customer", "quotes or a comment"),
        ("SELECT * FROM o WHERE c = ':customer'", "does not use `:customer`"),
        ("SELECT * FROM o WHERE c = ' :customer'", "quotes or a comment"),
        ("SELECT * FROM o WHERE c = :customer AND x = :secret", "unknown parameter `:secret`"),
        ("SELECT * FROM o WHERE c = :customer AND x = 'open", "not closed"),
        ("SELECT * FROM o WHERE c = :customer /* open", "not closed"),
        (r"SELECT * FROM o WHERE c = :customer AND x = '\' OR 1=1", "backslash"),
        ("SELECT * FROM o WHERE c = :customer /*! OR 1=1 */", "would run"),
    ],
)
def test_other_queries_are_refused(query: str, problem: str) -> None:
    assert any(problem in found for found in problems(query)), problems(query)


def test_parameters_have_no_colon() -> None:
    assert parameters_of("SELECT a::int FROM o WHERE c = :customer") == {"customer"}
