"""Drafts that a second person approves, and the append-only log of what was done to policies."""

from __future__ import annotations

from alembic import op

revision = "20261201_0430"
down_revision = "20261130_2300"
branch_labels = None
depends_on = None

GRANTS = {
    "policy_drafts": "select, insert, update (state, content, author, reviewer, changed_at)",
    "policy_events": "select, insert",
}

TABLES = """
-- The code now running writes no withdrawals.
alter table policy_versions add column withdrawn boolean not null default false;
alter table policy_documents add column sidecar text;

create table policy_drafts (
    tenant_id uuid not null,
    draft_id uuid not null,
    policy_id text not null,
    version text not null,
    kind text not null,
    state text not null,
    content jsonb not null,
    author text not null,
    reviewer text,
    created_at timestamptz not null default clock_timestamp(),
    changed_at timestamptz not null default clock_timestamp(),
    constraint policy_drafts_pkey primary key (tenant_id, draft_id),
    constraint policy_drafts_tenant_id_fkey foreign key (tenant_id) references tenants,
    constraint policy_drafts_kind_check check (kind in ('version', 'correction', 'rollback', 'withdrawal')),
    constraint policy_drafts_state_check check (
        state in ('draft', 'in_review', 'approved', 'published', 'discarded')
    ),
    -- Nothing is approved by the one who wrote it, whatever the code above believes.
    constraint policy_drafts_second_person_check check (
        state not in ('approved', 'published') or (
            reviewer is not null and lower(normalize(btrim(reviewer), NFKC)) <> lower(normalize(btrim(author), NFKC))
        )
    )
);
-- One open draft a version: two people who change it meet here.
create unique index policy_drafts_open_key on policy_drafts (tenant_id, policy_id, version)
    where state in ('draft', 'in_review', 'approved');

create table policy_events (
    tenant_id uuid not null,
    -- In the order in which they were written, which two events of one instant keep.
    event_id bigint generated always as identity,
    policy_id text not null,
    version text not null,
    action text not null,
    person text not null,
    why text,
    details jsonb not null default '{}'::jsonb,
    at timestamptz not null default clock_timestamp(),
    constraint policy_events_pkey primary key (tenant_id, policy_id, event_id),
    constraint policy_events_tenant_id_fkey foreign key (tenant_id) references tenants
);
"""

# Grants keep the application role from it; this keeps everybody else from doing it by accident.
APPEND_ONLY = """
create function policy_events_append_only() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'restrict_violation', constraint = 'policy_events_append_only',
        message = 'the log of policies is append-only',
        hint = 'what was wrong is put right by a step of its own, which the log then tells';
end $$;

create trigger policy_events_append_only before update or delete or truncate on policy_events
    for each statement execute function policy_events_append_only();
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(TABLES)
    op.execute(APPEND_ONLY)
    for table, grant in GRANTS.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY {table}_tenant ON {table}"
            " USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
            " WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
        )
        op.execute(f"GRANT {grant} ON {table} TO support_agent_app")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in reversed(GRANTS):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION policy_events_append_only()")
    op.execute("ALTER TABLE policy_documents DROP COLUMN sidecar")
    op.execute("ALTER TABLE policy_versions DROP COLUMN withdrawn")
