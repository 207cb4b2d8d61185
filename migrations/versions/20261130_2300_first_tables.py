"""Tenants, the policy store, trial records, runs and escalations, each row behind its tenant."""

from __future__ import annotations

from alembic import op

revision = "20261130_2300"
down_revision = None
branch_labels = None
depends_on = None

#: Table -> what the application role may do; nowhere TRUNCATE, which asks no policy.
GRANTS = {
    "tenants": "select, insert, update (settings, settings_sha256, revision)",
    "policies": "select, insert",
    "policy_documents": "select, insert",
    "policy_versions": "select, insert, update (recorded_to)",
    "policy_clauses": "select, insert",
    "passage_texts": "select, insert",
    "policy_passages": "select, insert",
    "passage_postings": "select, insert",
    "passage_vectors": "select, insert",
    "policy_terms": "select, insert",
    "policy_term_changes": "select, insert, delete",
    "trial_orders": "select, insert, update, delete",
    "trial_customers": "select, insert, update, delete",
    "runs": "select, insert",
    "escalations": "select, insert, update (state)",
}

TABLES = """
create table tenants (
    tenant_id uuid not null,
    slug text not null,
    settings jsonb not null default '{}'::jsonb,
    settings_sha256 text not null default '',
    revision bigint not null default 0,
    constraint tenants_pkey primary key (tenant_id)
);

create table policies (
    tenant_id uuid not null,
    topic text not null,
    policy_id text not null,
    constraint policies_pkey primary key (tenant_id, topic, policy_id),
    constraint policies_tenant_id_fkey foreign key (tenant_id) references tenants
);

create table policy_documents (
    tenant_id uuid not null,
    document_id uuid not null,
    policy_id text not null,
    version text not null,
    sha256 text not null,
    text text not null,
    attributes jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    constraint policy_documents_pkey primary key (tenant_id, document_id),
    constraint policy_documents_tenant_id_fkey foreign key (tenant_id) references tenants
);

create table policy_versions (
    tenant_id uuid not null,
    recording_id uuid not null,
    topic text not null,
    policy_id text not null,
    version text not null,
    document_id uuid not null,
    audience text not null,
    authority text not null,
    valid_from timestamptz not null,
    valid_to timestamptz,
    recorded_from timestamptz not null,
    recorded_to timestamptz,
    approval text not null,
    recorded_by text not null,
    valid tstzrange not null generated always as (tstzrange(valid_from, valid_to)) stored,
    recorded tstzrange not null generated always as (tstzrange(recorded_from, recorded_to)) stored,
    constraint policy_versions_pkey primary key (tenant_id, policy_id, valid_from, recorded_from),
    constraint policy_versions_policy_id_fkey foreign key (tenant_id, topic, policy_id) references policies,
    constraint policy_versions_document_id_fkey foreign key (tenant_id, document_id) references policy_documents,
    -- At any moment of record, one policy has one version in force. Written so that no query matches its index: with
    -- one index to choose from, no plan made while the table was small reads a policy's whole history later.
    constraint policy_versions_one_in_force_excl exclude using gist (
        (tenant_id::text) with =, policy_id collate "C" with =, valid with &&, recorded with &&
    ),
    constraint policy_versions_valid_check check (not isempty(valid)),
    constraint policy_versions_recorded_check check (not isempty(recorded)),
    -- An open end is null: infinity and far years are slips of a pen.
    constraint policy_versions_finite_valid_check check (
        valid_from >= '1800-01-01 00:00:00+00' and valid_from < '3000-01-01 00:00:00+00'
        and (valid_to is null or valid_to <= '3000-01-01 00:00:00+00')
    ),
    constraint policy_versions_finite_recorded_check check (
        isfinite(recorded_from) and (recorded_to is null or isfinite(recorded_to))
    ),
    constraint policy_versions_audience_check check (audience in ('public', 'staff'))
);

create table policy_clauses (
    tenant_id uuid not null,
    document_id uuid not null,
    position integer not null,
    anchor text not null,
    heading text not null,
    heading_path text[] not null,
    line_start integer not null,
    line_end integer not null,
    valid_from timestamptz,
    valid_to timestamptz,
    effect text not null,
    audience text not null,
    regions text[],
    plans text[],
    plan_versions text[],
    channels text[],
    segments text[],
    accounts text[],
    constraint policy_clauses_pkey primary key (tenant_id, document_id, position),
    constraint policy_clauses_anchor_key unique (tenant_id, document_id, anchor),
    constraint policy_clauses_document_id_fkey foreign key (tenant_id, document_id) references policy_documents,
    constraint policy_clauses_lines_check check (line_start between 1 and line_end),
    constraint policy_clauses_effect_check check (effect in ('minimum', 'maximum', 'mandatory', 'default')),
    constraint policy_clauses_audience_check check (audience in ('public', 'staff'))
);

create table passage_texts (
    tenant_id uuid not null,
    text_id uuid not null,
    text text not null,
    constraint passage_texts_pkey primary key (tenant_id, text_id),
    constraint passage_texts_tenant_id_fkey foreign key (tenant_id) references tenants
);

create table policy_passages (
    tenant_id uuid not null,
    document_id uuid not null,
    position integer not null,
    clause_position integer not null,
    kind text not null,
    text text not null,
    table_header text,
    line_start integer not null,
    line_end integer not null,
    text_id uuid not null,
    constraint policy_passages_pkey primary key (tenant_id, document_id, clause_position, position),
    constraint policy_passages_clause_position_fkey
        foreign key (tenant_id, document_id, clause_position) references policy_clauses,
    constraint policy_passages_text_id_fkey foreign key (tenant_id, text_id) references passage_texts,
    constraint policy_passages_kind_check check (kind in ('paragraph', 'item', 'row')),
    constraint policy_passages_lines_check check (line_start between 1 and line_end)
);

create table passage_postings (
    tenant_id uuid not null,
    token text not null,
    text_id uuid not null,
    tf smallint not null,
    n_tokens smallint not null,
    constraint passage_postings_pkey primary key (tenant_id, token, text_id) include (tf, n_tokens)
);

create table passage_vectors (
    tenant_id uuid not null,
    text_id uuid not null,
    embedding halfvec(512) not null,
    constraint passage_vectors_pkey primary key (tenant_id, text_id),
    constraint passage_vectors_text_id_fkey foreign key (tenant_id, text_id) references passage_texts
);

create table policy_terms (
    tenant_id uuid not null,
    document_id uuid not null,
    position integer not null,
    clause_position integer not null,
    name text not null,
    value jsonb,
    rule text,
    better text,
    quote text not null,
    line_start integer not null,
    line_end integer not null,
    constraint policy_terms_pkey primary key (tenant_id, document_id, position),
    constraint policy_terms_clause_position_fkey
        foreign key (tenant_id, document_id, clause_position) references policy_clauses,
    constraint policy_terms_value_or_rule_check check ((value is null) <> (rule is null)),
    constraint policy_terms_better_check check (better in ('higher', 'lower'))
);

create table policy_term_changes (
    tenant_id uuid not null,
    policy_id text not null,
    audience text not null,
    term text not null,
    valid_from timestamptz not null,
    previous_from timestamptz not null,
    constraint policy_term_changes_pkey primary key (tenant_id, policy_id, audience, term, valid_from),
    constraint policy_term_changes_tenant_id_fkey foreign key (tenant_id) references tenants
);

create table trial_orders (
    tenant_id uuid not null,
    order_number text not null,
    customer_id text not null,
    account_id text,
    ordered_at timestamptz not null,
    record jsonb not null,
    constraint trial_orders_pkey primary key (tenant_id, order_number),
    constraint trial_orders_tenant_id_fkey foreign key (tenant_id) references tenants
);
create index trial_orders_customer_idx on trial_orders (tenant_id, customer_id, ordered_at);
create index trial_orders_account_idx on trial_orders (tenant_id, account_id, ordered_at);

create table trial_customers (
    tenant_id uuid not null,
    customer_id text not null,
    account_id text,
    record jsonb not null,
    constraint trial_customers_pkey primary key (tenant_id, customer_id),
    constraint trial_customers_tenant_id_fkey foreign key (tenant_id) references tenants
);

create table runs (
    tenant_id uuid not null,
    run_id uuid not null,
    asked_at timestamptz not null,
    recorded_at timestamptz not null default clock_timestamp(),
    status text not null,
    customer_id text,
    conversation text,
    revision bigint not null,
    -- As it was written, to the byte; jsonb would also cost three times as much to store.
    receipt json not null,
    constraint runs_pkey primary key (tenant_id, run_id),
    constraint runs_tenant_id_fkey foreign key (tenant_id) references tenants,
    constraint runs_status_check check (
        status in ('answered', 'answered_with_conflict', 'needs_clarification', 'no_answer', 'refused', 'escalated')
    )
);
create index runs_conversation_idx on runs (tenant_id, conversation, recorded_at);

create table escalations (
    tenant_id uuid not null,
    escalation_id uuid not null,
    run_id uuid not null,
    reason text not null,
    need text,
    state text not null default 'open',
    created_at timestamptz not null default clock_timestamp(),
    constraint escalations_pkey primary key (tenant_id, escalation_id),
    constraint escalations_run_id_fkey foreign key (tenant_id, run_id) references runs,
    constraint escalations_state_check check (state in ('open', 'claimed', 'resolved'))
);
create index escalations_state_idx on escalations (tenant_id, state, created_at);
"""

# The grant lets the application role touch one column; this lets that column be set once, forwards, whoever asks.
RECORDED_ONCE = """
create function policy_versions_close_once() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if old.recorded_to is not null or new.recorded_to is null
        -- Before the row is written, what is generated is not there yet.
        or to_jsonb(new) - array['recorded_to', 'recorded', 'valid']
           <> to_jsonb(old) - array['recorded_to', 'recorded', 'valid']
    then
        raise exception using errcode = 'restrict_violation', constraint = 'policy_versions_close_once',
            message = 'a recording never changes; its open end is set once',
            hint = 'publish a correction, which is a recording of its own';
    end if;
    return new;
end $$;

create trigger policy_versions_close_once before update on policy_versions
    for each row execute function policy_versions_close_once();
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(TABLES)
    op.execute(RECORDED_ONCE)
    op.execute("GRANT SELECT ON alembic_version TO support_agent_app")
    for table, grant in GRANTS.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        # Without this the owner would see all rows.
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        # Once a connection has had a tenant the setting is '' instead of null, and ''::uuid is an error.
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
    op.execute("DROP FUNCTION policy_versions_close_once()")
    op.execute("REVOKE SELECT ON alembic_version FROM support_agent_app")
