"""Rows of the agent: trial records, glossary, runs, citations, escalations; metadata is that of `policies.tables`."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB

from policies.tables import metadata

__all__ = ["escalations", "glossary_entries", "metadata", "run_citations", "runs", "trial_customers", "trial_orders"]

_TENANT: Final = ("tenant_id", Uuid)

#: Orders of a trial: what `connection: local` reads.
trial_orders = Table(
    "trial_orders",
    metadata,
    Column(*_TENANT, nullable=False),
    Column("order_number", Text, nullable=False),
    Column("customer_id", Text, nullable=False),
    Column("account_id", Text),
    Column("ordered_at", DateTime(timezone=True), nullable=False),
    Column("record", JSONB, nullable=False),
    PrimaryKeyConstraint("tenant_id", "order_number", name="trial_orders_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="trial_orders_tenant_id_fkey"),
    Index("trial_orders_customer_idx", "tenant_id", "customer_id", "ordered_at"),
    Index("trial_orders_account_idx", "tenant_id", "account_id", "ordered_at"),
)

trial_customers = Table(
    "trial_customers",
    metadata,
    Column(*_TENANT, nullable=False),
    Column("customer_id", Text, nullable=False),
    Column("account_id", Text),
    Column("record", JSONB, nullable=False),
    PrimaryKeyConstraint("tenant_id", "customer_id", name="trial_customers_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="trial_customers_tenant_id_fkey"),
)

#: What customers say for the terms of the documents; what was removed stays, with who did it and when.
glossary_entries = Table(
    "glossary_entries",
    metadata,
    Column(*_TENANT, nullable=False),
    #: In the order in which they were added.
    Column("entry_id", BigInteger, Identity(always=True), nullable=False),
    Column("says", Text, nullable=False),
    Column("means", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("added_by", Text, nullable=False),
    Column("added_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("removed_by", Text),
    Column("removed_at", DateTime(timezone=True)),
    PrimaryKeyConstraint("tenant_id", "entry_id", name="glossary_entries_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="glossary_entries_tenant_id_fkey"),
    CheckConstraint("language in ('en', 'zh', 'both')", name="glossary_entries_language_check"),
    CheckConstraint("says <> '' and means <> ''", name="glossary_entries_said_check"),
    CheckConstraint("(removed_by is null) = (removed_at is null)", name="glossary_entries_removed_check"),
    Index(
        "glossary_entries_open_key",
        "tenant_id",
        "says",
        "means",
        "language",
        unique=True,
        postgresql_where=text("removed_at is null"),
    ),
)

#: One row a question, written once; what a person needs to rule on an escalation is in its receipt.
runs = Table(
    "runs",
    metadata,
    Column(*_TENANT, nullable=False),
    Column("run_id", Uuid, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("recorded_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("status", Text, nullable=False),
    Column("customer_id", Text),
    Column("conversation", Text),
    #: Of the tenant's policies and settings, as the run saw them.
    Column("revision", BigInteger, nullable=False),
    Column("receipt", JSON, nullable=False),
    PrimaryKeyConstraint("tenant_id", "run_id", name="runs_pkey"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], name="runs_tenant_id_fkey"),
    Index("runs_conversation_idx", "tenant_id", "conversation", "recorded_at"),
    CheckConstraint(
        "status in ('answered', 'answered_with_conflict', 'needs_clarification', 'no_answer', 'refused', 'escalated')",
        name="runs_status_check",
    ),
)

#: The clauses that an answer cited; which of a version's recordings it read says whether that was corrected since.
run_citations = Table(
    "run_citations",
    metadata,
    Column(*_TENANT, nullable=False),
    Column("run_id", Uuid, nullable=False),
    Column("policy_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("clause", Text, nullable=False),
    Column("role", Text, nullable=False),
    #: `policy_versions.recorded_from` of the recording.
    Column("recording_from", DateTime(timezone=True), nullable=False),
    #: As in `runs`: the answers that cited a version are listed by it.
    Column("recorded_at", DateTime(timezone=True), nullable=False),
    PrimaryKeyConstraint("tenant_id", "run_id", "policy_id", "version", "clause", "role", name="run_citations_pkey"),
    ForeignKeyConstraint(["tenant_id", "run_id"], ["runs.tenant_id", "runs.run_id"], name="run_citations_run_id_fkey"),
    Index("run_citations_cited_idx", "tenant_id", "policy_id", "version", "recorded_at", "run_id"),
    CheckConstraint("role in ('governing', 'considered')", name="run_citations_role_check"),
)

escalations = Table(
    "escalations",
    metadata,
    Column(*_TENANT, nullable=False),
    Column("escalation_id", Uuid, nullable=False),
    Column("run_id", Uuid, nullable=False),
    Column("reason", Text, nullable=False),
    Column("need", Text),
    Column("state", Text, nullable=False, server_default="open"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    PrimaryKeyConstraint("tenant_id", "escalation_id", name="escalations_pkey"),
    ForeignKeyConstraint(["tenant_id", "run_id"], ["runs.tenant_id", "runs.run_id"], name="escalations_run_id_fkey"),
    Index("escalations_state_idx", "tenant_id", "state", "created_at"),
    CheckConstraint("state in ('open', 'claimed', 'resolved')", name="escalations_state_check"),
)
