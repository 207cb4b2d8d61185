"""Each rule that the database holds, broken once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from policies.session import TenantSession
from support_agent.storage.tables import metadata

CHECKS = {str(rule.name) for table in metadata.tables.values() for rule in table.constraints}

DOCUMENT = uuid4()
RUN = uuid4()
TEXT = uuid4()

#: A row that the database accepts, by table, in an order in which each finds what it refers to.
GOOD: dict[str, dict[str, Any]] = {
    "policies": {"topic": "refund", "policy_id": "refund"},
    "policy_documents": {
        "document_id": DOCUMENT, "policy_id": "refund", "version": "v1", "sha256": "0", "text": "", "attributes": "{}"
    },
    "policy_versions": {
        "recording_id": uuid4(), "topic": "refund", "policy_id": "refund", "version": "v1", "document_id": DOCUMENT,
        "audience": "public", "authority": "law", "valid_from": "2025-01-01", "valid_to": "2025-02-01",
        "recorded_from": "2025-01-01", "recorded_to": None, "approval": "a", "recorded_by": "b",
    },
    "policy_clauses": {
        "document_id": DOCUMENT, "position": 0, "anchor": "window", "heading": "Window", "heading_path": "{}",
        "line_start": 1, "line_end": 2, "effect": "mandatory", "audience": "public",
    },
    "passage_texts": {"text_id": TEXT, "text": "words"},
    "policy_passages": {
        "document_id": DOCUMENT, "position": 0, "clause_position": 0, "kind": "item", "text": "words", "line_start": 1,
        "line_end": 1, "text_id": TEXT,
    },
    "passage_postings": {"token": "word", "text_id": TEXT, "tf": 1, "n_tokens": 1},
    "passage_vectors": {"text_id": TEXT, "model": "local", "embedding": str([0.0] * 512)},
    "policy_terms": {
        "document_id": DOCUMENT, "position": 0, "clause_position": 0, "name": "a.b", "value": "1", "rule": None,
        "better": "higher", "quote": "q", "line_start": 1, "line_end": 1,
    },
    "policy_term_changes": {
        "policy_id": "refund", "audience": "public", "term": "a.b", "valid_from": "2025-01-01",
        "previous_from": "2024-01-01",
    },
    "trial_orders": {"order_number": "SO-1", "customer_id": "C-1", "ordered_at": "2025-01-01", "record": "{}"},
    "trial_customers": {"customer_id": "C-1", "record": "{}"},
    "runs": {"run_id": RUN, "asked_at": "2025-01-01", "status": "answered", "revision": 1, "receipt": "{}"},
    "escalations": {"escalation_id": uuid4(), "run_id": RUN, "reason": "conflict", "state": "open"},
    "run_citations": {
        "run_id": RUN, "policy_id": "refund", "version": "v1", "clause": "window", "role": "governing",
        "recording_from": "2025-01-01", "recorded_at": "2025-01-02",
    },
    "glossary_entries": {"says": "sold out", "means": "unavailable", "language": "en", "added_by": "ada"},
    "policy_drafts": {
        "draft_id": uuid4(), "policy_id": "refund", "version": "v2", "kind": "version", "state": "approved",
        "content": "{}", "author": "ada", "reviewer": "bob",
    },
    "policy_events": {"policy_id": "refund", "version": "v1", "action": "published", "person": "ada"},
}  # fmt: skip

#: Constraint -> table and what makes the good row break it.
BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "policies_tenant_id_fkey": ("policies", {"tenant_id": None}),
    "policy_documents_tenant_id_fkey": ("policy_documents", {"tenant_id": None}),
    "policy_versions_policy_id_fkey": (
        "policy_versions", {"topic": "other", "valid_from": "2026-01-01", "valid_to": None}
    ),
    "policy_versions_document_id_fkey": (
        "policy_versions", {"document_id": uuid4(), "valid_from": "2026-01-01", "valid_to": None}
    ),
    "policy_versions_one_in_force_excl": ("policy_versions", {"valid_from": "2025-01-31", "valid_to": None}),
    "policy_versions_valid_check": ("policy_versions", {"valid_from": "2025-02-01"}),
    "policy_versions_recorded_check": ("policy_versions", {"recorded_to": "2025-01-01", "valid_from": "2025-01-02"}),
    "policy_versions_finite_valid_check": (
        "policy_versions", {"valid_from": "9999-01-01", "valid_to": None}
    ),
    "policy_versions_finite_recorded_check": (
        "policy_versions", {"valid_from": "2026-01-01", "valid_to": None, "recorded_to": "infinity"}
    ),
    "policy_versions_audience_check": (
        "policy_versions", {"audience": "all", "valid_from": "2026-01-01", "valid_to": None}
    ),
    "policy_clauses_document_id_fkey": ("policy_clauses", {"document_id": uuid4()}),
    "policy_clauses_anchor_key": ("policy_clauses", {"position": 1}),
    "policy_clauses_lines_check": ("policy_clauses", {"line_start": 3, "position": 1, "anchor": "b"}),
    "policy_clauses_effect_check": ("policy_clauses", {"effect": "must", "position": 1, "anchor": "b"}),
    "policy_clauses_audience_check": ("policy_clauses", {"audience": "all", "position": 1, "anchor": "b"}),
    "passage_texts_tenant_id_fkey": ("passage_texts", {"tenant_id": None}),
    "policy_passages_clause_position_fkey": ("policy_passages", {"clause_position": 9}),
    "policy_passages_text_id_fkey": ("policy_passages", {"text_id": uuid4(), "position": 1}),
    "policy_passages_kind_check": ("policy_passages", {"kind": "word", "position": 1}),
    "policy_passages_lines_check": ("policy_passages", {"line_start": 0, "position": 1}),
    "passage_vectors_text_id_fkey": ("passage_vectors", {"text_id": uuid4()}),
    "policy_terms_clause_position_fkey": ("policy_terms", {"clause_position": 9, "position": 1}),
    "policy_terms_value_or_rule_check": ("policy_terms", {"rule": "true", "position": 1}),
    "policy_terms_better_check": ("policy_terms", {"better": "more", "position": 1}),
    "policy_term_changes_tenant_id_fkey": ("policy_term_changes", {"tenant_id": None}),
    "trial_orders_tenant_id_fkey": ("trial_orders", {"tenant_id": None}),
    "trial_customers_tenant_id_fkey": ("trial_customers", {"tenant_id": None}),
    "runs_tenant_id_fkey": ("runs", {"tenant_id": None}),
    "runs_status_check": ("runs", {"status": "done", "run_id": uuid4()}),
    "escalations_run_id_fkey": ("escalations", {"run_id": uuid4(), "escalation_id": uuid4()}),
    "escalations_state_check": ("escalations", {"state": "shut", "escalation_id": uuid4()}),
    "run_citations_run_id_fkey": ("run_citations", {"run_id": uuid4()}),
    "run_citations_role_check": ("run_citations", {"role": "cited"}),
    "glossary_entries_tenant_id_fkey": ("glossary_entries", {"tenant_id": None}),
    "glossary_entries_language_check": ("glossary_entries", {"language": "fr"}),
    "glossary_entries_said_check": ("glossary_entries", {"means": ""}),
    "glossary_entries_removed_check": ("glossary_entries", {"says": "gone", "removed_by": "bob"}),
    "policy_drafts_tenant_id_fkey": ("policy_drafts", {"tenant_id": None}),
    "policy_drafts_kind_check": ("policy_drafts", {"kind": "idea", "version": "v3", "draft_id": uuid4()}),
    "policy_drafts_state_check": ("policy_drafts", {"state": "done", "version": "v3", "draft_id": uuid4()}),
    "policy_drafts_second_person_check": (
        "policy_drafts", {"reviewer": " ADA", "version": "v3", "draft_id": uuid4()}
    ),
    "policy_events_tenant_id_fkey": ("policy_events", {"tenant_id": None}),
    # A second row with the key of the first.
    **{f"{table}_pkey": (table, {}) for table in GOOD if table not in {"policy_events", "glossary_entries"}},
}  # fmt: skip


async def insert(session: TenantSession, table: str, values: dict[str, Any]) -> None:
    row = {"tenant_id": session.tenant_id, **values}
    columns, places = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    await session.psycopg.execute(f"insert into {table} ({columns}) values ({places})".encode(), row)


async def insert_good_rows(session: TenantSession) -> None:
    for table, row in GOOD.items():
        await insert(session, table, row)


def test_every_constraint_is_broken_once() -> None:
    # The database numbers events and entries itself, so that no two can have one number.
    assert CHECKS - BROKEN.keys() == {"tenants_pkey", "policy_events_pkey", "glossary_entries_pkey"}


@pytest.mark.parametrize("name", [name for name in BROKEN if not name.endswith("tenant_id_fkey")])
async def test_constraint_refuses(session: TenantSession, name: str) -> None:
    await insert_good_rows(session)
    table, change = BROKEN[name]

    with pytest.raises(psycopg.IntegrityError) as refused:
        await insert(session, table, GOOD[table] | change)

    # The version's own key and the one that keeps versions apart refuse the same row; either may be first.
    assert refused.value.diag.constraint_name in {name, "policy_versions_one_in_force_excl"}


@pytest.mark.parametrize("name", [name for name in BROKEN if name.endswith("tenant_id_fkey")])
async def test_row_needs_its_tenant(session: TenantSession, name: str) -> None:
    table, _ = BROKEN[name]
    stranger = uuid4()
    await session.psycopg.execute(f"select set_config('app.tenant', '{stranger}', true)".encode())

    with pytest.raises(psycopg.errors.ForeignKeyViolation) as refused:
        await insert(session, table, GOOD[table] | {"tenant_id": stranger})

    assert refused.value.diag.constraint_name == name


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param("2025-02-01", "2025-01-01", id="inverted"),
        pytest.param("-infinity", None, id="no start"),
        pytest.param("2025-01-01", "infinity", id="infinite end"),
        pytest.param("0001-01-01", "2025-01-01", id="year 1"),
        pytest.param("2025-01-01", "9999-12-31", id="year 9999"),
    ],
)
async def test_impossible_period_is_refused(session: TenantSession, start: str, end: str | None) -> None:
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.DataException)):
        await insert(session, "policy_versions", GOOD["policy_versions"] | {"valid_from": start, "valid_to": end})


async def test_adjacent_periods_are_accepted(session: TenantSession) -> None:
    await insert_good_rows(session)

    await insert(session, "policy_versions", GOOD["policy_versions"] | {"valid_from": "2025-02-01", "valid_to": None})


@pytest.mark.parametrize("table", sorted(GOOD))
async def test_tenant_is_never_null(session: TenantSession, table: str) -> None:
    with pytest.raises((psycopg.errors.NotNullViolation, psycopg.errors.InsufficientPrivilege)):
        await insert(session, table, GOOD[table] | {"tenant_id": None})
