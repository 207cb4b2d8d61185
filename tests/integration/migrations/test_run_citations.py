"""Runs from before citations had a table of their own: what they cited is read out of their receipts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg

from support_agent.storage import schema
from tests.integration.conftest import Database

BEFORE = "20261201_0500"
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
TENANTS = (uuid4(), uuid4())


def citation(clause: str, *, version: str | None = "v1", role: str = "governing") -> dict[str, Any]:
    return {"marker": 1, "source": "policy", "document": "refund", "version": version, "clause": clause, "role": role}


def add_run(connection: psycopg.Connection[Any], tenant: object, receipt: object, recorded_at: datetime) -> object:
    run = uuid4()
    connection.execute(
        "insert into runs (tenant_id, run_id, asked_at, recorded_at, status, revision, receipt)"
        " values (%s, %s, %s, %s, 'answered', 1, %s)",
        [tenant, run, recorded_at, recorded_at, json.dumps(receipt)],
    )
    return run


def add_recordings(connection: psycopg.Connection[Any], tenant: object) -> None:
    """Version `v1` of `refund`, recorded in May and corrected on 1 June."""
    document = uuid4()
    connection.execute("insert into tenants (tenant_id, slug) values (%s, %s)", [tenant, str(tenant)])
    connection.execute("insert into policies values (%s, 'refund', 'refund')", [tenant])
    connection.execute(
        "insert into policy_documents (tenant_id, document_id, policy_id, version, sha256, text, attributes)"
        " values (%s, %s, 'refund', 'v1', '0', '', '{}')",
        [tenant, document],
    )
    for start, end in ((JUNE - timedelta(days=31), JUNE), (JUNE, None)):
        connection.execute(
            "insert into policy_versions (tenant_id, recording_id, topic, policy_id, version, document_id, audience,"
            " authority, valid_from, recorded_from, recorded_to, approval, recorded_by)"
            " values (%s, %s, 'refund', 'refund', 'v1', %s, 'public', 'law', '2025-01-01', %s, %s, 'a', 'b')",
            [tenant, uuid4(), document, start, end],
        )


def test_citations_of_older_runs_are_carried_over(own_database: Database) -> None:
    schema.downgrade(own_database.owner_url, to=BEFORE)
    earlier, later = JUNE - timedelta(days=1), JUNE + timedelta(days=1)
    cited = {
        "outcome": {
            "citations": [
                citation("window"),
                # Another passage of the same clause.
                citation("window"),
                citation("amount", role="considered"),
                # A record, which is no clause.
                citation("purchased_at", version=None),
            ]
        }
    }
    with psycopg.connect(own_database.admin_url) as connection:
        for tenant in TENANTS:
            add_recordings(connection, tenant)
        runs = [
            (tenant, add_run(connection, tenant, cited, at), recorded, at)
            for tenant in TENANTS
            for at, recorded in ((earlier, JUNE - timedelta(days=31)), (later, JUNE))
        ]
        add_run(connection, TENANTS[0], {"outcome": {"citations": []}}, later)
        add_run(connection, TENANTS[0], {}, later)

    schema.upgrade(own_database.owner_url)

    with psycopg.connect(own_database.admin_url) as connection:
        rows = connection.execute(
            "select tenant_id, run_id, recording_from, recorded_at, clause, role from run_citations"
        ).fetchall()
        forced = connection.execute(
            "select relname from pg_class where relkind = 'r' and relforcerowsecurity"
            " and relname in ('runs', 'policy_versions', 'run_citations') order by 1"
        ).fetchall()
    assert set(rows) == {
        (*run, clause, role) for run in runs for clause, role in (("window", "governing"), ("amount", "considered"))
    }
    assert len(rows) == 2 * len(runs)
    assert forced == [("policy_versions",), ("run_citations",), ("runs",)]
