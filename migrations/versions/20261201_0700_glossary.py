"""The glossary of a tenant: what customers say for the terms of the documents; what was removed is kept."""

from __future__ import annotations

from alembic import op

revision = "20261201_0700"
down_revision = "20261201_0530"
branch_labels = None
depends_on = None

TABLE = """
create table glossary_entries (
    tenant_id uuid not null,
    -- In the order in which they were added, which is the order in which the terms of one phrase are read.
    entry_id bigint generated always as identity,
    says text not null,
    means text not null,
    language text not null,
    added_by text not null,
    added_at timestamptz not null default clock_timestamp(),
    removed_by text,
    removed_at timestamptz,
    constraint glossary_entries_pkey primary key (tenant_id, entry_id),
    constraint glossary_entries_tenant_id_fkey foreign key (tenant_id) references tenants,
    constraint glossary_entries_language_check check (language in ('en', 'zh', 'both')),
    constraint glossary_entries_said_check check (says <> '' and means <> ''),
    constraint glossary_entries_removed_check check ((removed_by is null) = (removed_at is null))
);
create unique index glossary_entries_open_key on glossary_entries (tenant_id, says, means, language)
    where removed_at is null;
"""
# Who removed what, and when, stays as it was written.
REMOVED_ONCE = """
create function glossary_entries_removed_once() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    if old.removed_at is not null then
        raise exception using errcode = 'restrict_violation', constraint = 'glossary_entries_removed_once',
            message = 'an entry of a glossary ends once', hint = 'add it again as a new one';
    end if;
    return new;
end $$;

create trigger glossary_entries_removed_once before update on glossary_entries
    for each row execute function glossary_entries_removed_once();
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(TABLE)
    op.execute("ALTER TABLE glossary_entries ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE glossary_entries FORCE ROW LEVEL SECURITY")
    op.execute(
        "CREATE POLICY glossary_entries_tenant ON glossary_entries"
        " USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
        " WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)"
    )
    op.execute(REMOVED_ONCE)
    op.execute("GRANT SELECT, INSERT, UPDATE (removed_by, removed_at) ON glossary_entries TO support_agent_app")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TABLE glossary_entries")
    op.execute("DROP FUNCTION glossary_entries_removed_once()")
