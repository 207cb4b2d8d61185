"""Which clauses a run's answer cited, so that those who were told something are found by what they were told."""

from __future__ import annotations

from alembic import op

revision = "20261201_0530"
down_revision = "20261201_0500"
branch_labels = None
depends_on = None

#: Runs recorded before this revision whose citations are read out of their receipts, the newest: nothing is recorded
#: meanwhile, so it may not take long.
MAX_CARRIED_OVER = 20_000

TABLE = """
create table run_citations (
    tenant_id uuid not null,
    run_id uuid not null,
    policy_id text not null,
    version text not null,
    clause text not null,
    role text not null,
    recording_from timestamptz not null,
    recorded_at timestamptz not null
);
"""
# A citation names no recording in older receipts; the answer was read from the one that stood then.
CARRY_OVER = f"""
insert into run_citations (tenant_id, run_id, policy_id, version, clause, role, recording_from, recorded_at)
select distinct r.tenant_id, r.run_id, c.document, c.version, c.clause, c.role, v.recorded_from, r.recorded_at
from (select * from runs order by recorded_at desc limit {MAX_CARRIED_OVER}) r
cross join lateral json_to_recordset(r.receipt #> '{{outcome,citations}}')
    as c (document text, version text, clause text, role text)
cross join lateral (
    select v.recorded_from from policy_versions v
    where v.tenant_id = r.tenant_id and v.policy_id = c.document and v.version = c.version
      and v.recorded_from <= r.recorded_at
    order by v.recorded_from desc limit 1
) v
where c.version is not null and c.clause is not null and c.role in ('governing', 'considered')
"""
RULES = """
alter table run_citations
    add constraint run_citations_pkey primary key (tenant_id, run_id, policy_id, version, clause, role),
    add constraint run_citations_run_id_fkey foreign key (tenant_id, run_id) references runs,
    add constraint run_citations_role_check check (role in ('governing', 'considered'));
create index run_citations_cited_idx on run_citations (tenant_id, policy_id, version, recorded_at, run_id);
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(TABLE)
    # Row-level security holds for the owner too, who has no tenant here, and for the check of a new foreign key.
    for table in ("runs", "policy_versions"):
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(CARRY_OVER)
    op.execute(RULES)
    for table in ("runs", "policy_versions"):
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE run_citations ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE run_citations FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE POLICY run_citations_tenant ON run_citations"
        " USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
        " WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
    )
    op.execute("GRANT SELECT, INSERT ON run_citations TO support_agent_app")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE run_citations")
