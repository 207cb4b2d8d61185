"""Vectors of any length, each with the model that made it; a tenant is searched by one model's at a time."""

from __future__ import annotations

from alembic import op

revision = "20261201_0500"
down_revision = "20261201_0430"
branch_labels = None
depends_on = None

#: The only model until now.
LOCAL = "local:universal-sentence-encoder-multilingual-3"


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    # The code now running writes no model: what it wrote, and goes on writing until it is replaced, is the local one's.
    op.execute(f"ALTER TABLE passage_vectors ADD COLUMN model text NOT NULL DEFAULT '{LOCAL}'")
    op.execute("ALTER TABLE passage_vectors ALTER COLUMN embedding TYPE halfvec")
    op.execute("ALTER TABLE passage_vectors DROP CONSTRAINT passage_vectors_pkey")
    op.execute(
        "ALTER TABLE passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (tenant_id, text_id, model)"
    )
    # A vector of up to 4,000 numbers stays in its row: fetched from elsewhere it costs several times its distance.
    op.execute("ALTER TABLE passage_vectors SET (toast_tuple_target = 8160)")
    op.execute("GRANT DELETE ON passage_vectors TO support_agent_app")
    op.execute(f"ALTER TABLE tenants ADD COLUMN vector_model text NOT NULL DEFAULT '{LOCAL}'")
    op.execute("GRANT UPDATE (vector_model) ON tenants TO support_agent_app")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("REVOKE UPDATE (vector_model) ON tenants FROM support_agent_app")
    op.execute("ALTER TABLE tenants DROP COLUMN vector_model")
    op.execute("REVOKE DELETE ON passage_vectors FROM support_agent_app")
    # Row-level security holds for the owner too, who has no tenant here.
    op.execute("ALTER TABLE passage_vectors NO FORCE ROW LEVEL SECURITY")
    op.execute(f"DELETE FROM passage_vectors WHERE model <> '{LOCAL}'")
    op.execute("ALTER TABLE passage_vectors FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE passage_vectors RESET (toast_tuple_target)")
    op.execute("ALTER TABLE passage_vectors DROP CONSTRAINT passage_vectors_pkey")
    op.execute("ALTER TABLE passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (tenant_id, text_id)")
    op.execute("ALTER TABLE passage_vectors ALTER COLUMN embedding TYPE halfvec(512)")
    op.execute("ALTER TABLE passage_vectors DROP COLUMN model")
