"""Rows of the policy store; one metadata for all tables of our own database.

Every table carries its tenant, first in every key. Row-level security, grants and triggers are in the migrations: a
table's description here is what `alembic check` compares with the database.
"""

from __future__ import annotations

from typing import Final

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSTZRANGE, ExcludeConstraint

#: The sentence encoder that comes with us; 512 numbers.
LOCAL_MODEL: Final = "local:universal-sentence-encoder-multilingual-3"

metadata = MetaData()


def _tenant() -> Column[object]:
    return Column("tenant_id", Uuid, nullable=False)


def _instant(name: str, *, nullable: bool = False, now: bool = False) -> Column[object]:
    default = func.clock_timestamp() if now else None
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=default)


def _key(table: str, *columns: str, include: tuple[str, ...] = ()) -> PrimaryKeyConstraint:
    return PrimaryKeyConstraint("tenant_id", *columns, name=f"{table}_pkey", postgresql_include=list(include))


def _refers(table: str, target: str, *columns: str, to: tuple[str, ...] | None = None) -> ForeignKeyConstraint:
    name = f"{table}_{columns[-1] if columns else 'tenant_id'}_fkey"
    return ForeignKeyConstraint(
        ["tenant_id", *columns], [f"{target}.{column}" for column in ("tenant_id", *(to or columns))], name=name
    )


tenants = Table(
    "tenants",
    metadata,
    _tenant(),
    Column("slug", Text, nullable=False),
    Column("settings", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    #: Of the settings as they were loaded: an equal folder changes nothing.
    Column("settings_sha256", Text, nullable=False, server_default=""),
    #: Raised by every publish and every change of settings, in the same transaction.
    Column("revision", BigInteger, nullable=False, server_default="0"),
    #: Whose vectors its passages are searched by.
    Column("vector_model", Text, nullable=False, server_default=LOCAL_MODEL),
    _key("tenants"),
)

#: One row a policy and topic it was ever published on, so that a topic is listed without reading its versions.
policies = Table(
    "policies",
    metadata,
    _tenant(),
    Column("topic", Text, nullable=False),
    Column("policy_id", Text, nullable=False),
    _key("policies", "topic", "policy_id"),
    _refers("policies", "tenants"),
)

#: What was written, once a distinct content; never changes.
policy_documents = Table(
    "policy_documents",
    metadata,
    _tenant(),
    Column("document_id", Uuid, nullable=False),
    Column("policy_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    #: Of the text and everything that was read from it and beside it.
    Column("sha256", Text, nullable=False),
    Column("text", Text, nullable=False),
    #: The sidecar as it was written; null where there was none.
    Column("sidecar", Text),
    #: Title, language, authority, relations and the other front matter, as `policies.store` writes it.
    Column("attributes", JSONB, nullable=False),
    _instant("created_at", now=True),
    _key("policy_documents", "document_id"),
    _refers("policy_documents", "tenants"),
)

#: Recordings: from `recorded_from` on the store holds that a document governs in `valid`. A correction closes one and
#: adds another. The key is the one index that queries use: no plan can take a wrong one.
policy_versions = Table(
    "policy_versions",
    metadata,
    _tenant(),
    Column("recording_id", Uuid, nullable=False),
    Column("topic", Text, nullable=False),
    Column("policy_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("document_id", Uuid, nullable=False),
    Column("audience", Text, nullable=False),
    Column("authority", Text, nullable=False),
    _instant("valid_from"),
    _instant("valid_to", nullable=True),
    _instant("recorded_from"),
    _instant("recorded_to", nullable=True),
    #: Whether its end came by a withdrawal.
    Column("withdrawn", Boolean, nullable=False, server_default=text("false")),
    Column("approval", Text, nullable=False),
    Column("recorded_by", Text, nullable=False),
    # Range operators reach no index under row-level security, so queries use the four columns above; these two are for
    # the constraint.
    Column("valid", TSTZRANGE, Computed("tstzrange(valid_from, valid_to)", persisted=True), nullable=False),
    Column("recorded", TSTZRANGE, Computed("tstzrange(recorded_from, recorded_to)", persisted=True), nullable=False),
    _key("policy_versions", "policy_id", "valid_from", "recorded_from"),
    _refers("policy_versions", "policies", "topic", "policy_id"),
    _refers("policy_versions", "policy_documents", "document_id"),
    ExcludeConstraint(
        # Written so that no query matches its index; see the migration.
        (text("(tenant_id::text)"), "="),
        (text('policy_id collate "C"'), "="),
        ("valid", "&&"),
        ("recorded", "&&"),
        name="policy_versions_one_in_force_excl",
        using="gist",
    ),
    CheckConstraint("not isempty(valid)", name="policy_versions_valid_check"),
    CheckConstraint("not isempty(recorded)", name="policy_versions_recorded_check"),
    CheckConstraint(
        "valid_from >= '1800-01-01 00:00:00+00' and valid_from < '3000-01-01 00:00:00+00'"
        " and (valid_to is null or valid_to <= '3000-01-01 00:00:00+00')",
        name="policy_versions_finite_valid_check",
    ),
    CheckConstraint(
        "isfinite(recorded_from) and (recorded_to is null or isfinite(recorded_to))",
        name="policy_versions_finite_recorded_check",
    ),
    CheckConstraint("audience in ('public', 'staff')", name="policy_versions_audience_check"),
)

policy_clauses = Table(
    "policy_clauses",
    metadata,
    _tenant(),
    Column("document_id", Uuid, nullable=False),
    Column("position", Integer, nullable=False),
    Column("anchor", Text, nullable=False),
    Column("heading", Text, nullable=False),
    Column("heading_path", ARRAY(Text), nullable=False),
    Column("line_start", Integer, nullable=False),
    Column("line_end", Integer, nullable=False),
    #: The clause's own bounds inside its version's period; null: the version's.
    _instant("valid_from", nullable=True),
    _instant("valid_to", nullable=True),
    Column("effect", Text, nullable=False),
    Column("audience", Text, nullable=False),
    #: Where it applies, its version's limits included; null: everywhere.
    Column("regions", ARRAY(Text)),
    Column("plans", ARRAY(Text)),
    Column("plan_versions", ARRAY(Text)),
    Column("channels", ARRAY(Text)),
    Column("segments", ARRAY(Text)),
    Column("accounts", ARRAY(Text)),
    _key("policy_clauses", "document_id", "position"),
    UniqueConstraint("tenant_id", "document_id", "anchor", name="policy_clauses_anchor_key"),
    _refers("policy_clauses", "policy_documents", "document_id"),
    CheckConstraint("line_start between 1 and line_end", name="policy_clauses_lines_check"),
    CheckConstraint("effect in ('minimum', 'maximum', 'mandatory', 'default')", name="policy_clauses_effect_check"),
    CheckConstraint("audience in ('public', 'staff')", name="policy_clauses_audience_check"),
)

#: A distinct searched text (heading and passage): versions share what they did not change.
passage_texts = Table(
    "passage_texts",
    metadata,
    _tenant(),
    #: The first 16 bytes of its sha256.
    Column("text_id", Uuid, nullable=False),
    #: What a vector is made of; kept so that it can be made later.
    Column("text", Text, nullable=False),
    _key("passage_texts", "text_id"),
    _refers("passage_texts", "tenants"),
)

policy_passages = Table(
    "policy_passages",
    metadata,
    _tenant(),
    Column("document_id", Uuid, nullable=False),
    Column("position", Integer, nullable=False),
    Column("clause_position", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    #: Of a table row: the header that gives its cells their meaning.
    Column("table_header", Text),
    Column("line_start", Integer, nullable=False),
    Column("line_end", Integer, nullable=False),
    Column("text_id", Uuid, nullable=False),
    _key("policy_passages", "document_id", "clause_position", "position"),
    _refers("policy_passages", "policy_clauses", "document_id", "clause_position", to=("document_id", "position")),
    _refers("policy_passages", "passage_texts", "text_id"),
    CheckConstraint("kind in ('paragraph', 'item', 'row')", name="policy_passages_kind_check"),
    CheckConstraint("line_start between 1 and line_end", name="policy_passages_lines_check"),
)

#: Full text under row-level security: equality on text and uuid reaches the index, `@@` does not. No foreign key: the
#: one writer adds the text in the same transaction, and a check a row would cost more than the row.
passage_postings = Table(
    "passage_postings",
    metadata,
    _tenant(),
    Column("token", Text, nullable=False),
    Column("text_id", Uuid, nullable=False),
    #: How often the token occurs in the text.
    Column("tf", SmallInteger, nullable=False),
    #: How many tokens the text has.
    Column("n_tokens", SmallInteger, nullable=False),
    _key("passage_postings", "token", "text_id", include=("tf", "n_tokens")),
)

#: A text has a vector by the model that its tenant is searched by, and by another while that one is made ready.
passage_vectors = Table(
    "passage_vectors",
    metadata,
    _tenant(),
    Column("text_id", Uuid, nullable=False),
    #: Of any length, the same for all of a model; see the migration for how it is kept in its row.
    Column("embedding", HALFVEC(), nullable=False),
    Column("model", Text, nullable=False, server_default=LOCAL_MODEL),
    _key("passage_vectors", "text_id", "model"),
    _refers("passage_vectors", "passage_texts", "text_id"),
)

policy_terms = Table(
    "policy_terms",
    metadata,
    _tenant(),
    Column("document_id", Uuid, nullable=False),
    Column("position", Integer, nullable=False),
    Column("clause_position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    #: A value term's value, tagged with its type; null for a rule.
    Column("value", JSONB),
    #: A decision rule in CEL.
    Column("rule", Text),
    Column("better", Text),
    Column("quote", Text, nullable=False),
    Column("line_start", Integer, nullable=False),
    Column("line_end", Integer, nullable=False),
    _key("policy_terms", "document_id", "position"),
    _refers("policy_terms", "policy_clauses", "document_id", "clause_position", to=("document_id", "position")),
    CheckConstraint("(value is null) <> (rule is null)", name="policy_terms_value_or_rule_check"),
    CheckConstraint("better in ('higher', 'lower')", name="policy_terms_better_check"),
)

#: Where a term's value changes along the versions as recorded now, so that the nearest version with another value is
#: found without reading those between. Derived: written anew for a policy by every publish.
policy_term_changes = Table(
    "policy_term_changes",
    metadata,
    _tenant(),
    Column("policy_id", Text, nullable=False),
    #: For whom: `public` sees public clauses, `staff` all.
    Column("audience", Text, nullable=False),
    Column("term", Text, nullable=False),
    #: Start of the version with the new value, and of the version before it.
    _instant("valid_from"),
    _instant("previous_from"),
    _key("policy_term_changes", "policy_id", "audience", "term", "valid_from"),
    _refers("policy_term_changes", "tenants"),
)

#: What is to be published, and how far it has come: `policies.drafts` has the states.
policy_drafts = Table(
    "policy_drafts",
    metadata,
    _tenant(),
    Column("draft_id", Uuid, nullable=False),
    Column("policy_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    #: As `policies.drafts` writes it.
    Column("content", JSONB, nullable=False),
    #: Who last changed the content.
    Column("author", Text, nullable=False),
    Column("reviewer", Text),
    _instant("created_at", now=True),
    _instant("changed_at", now=True),
    _key("policy_drafts", "draft_id"),
    _refers("policy_drafts", "tenants"),
    CheckConstraint("kind in ('version', 'correction', 'rollback', 'withdrawal')", name="policy_drafts_kind_check"),
    CheckConstraint(
        "state in ('draft', 'in_review', 'approved', 'published', 'discarded')", name="policy_drafts_state_check"
    ),
    CheckConstraint(
        "state not in ('approved', 'published') or (reviewer is not null"
        " and lower(normalize(btrim(reviewer), NFKC)) <> lower(normalize(btrim(author), NFKC)))",
        name="policy_drafts_second_person_check",
    ),
    Index(
        "policy_drafts_open_key",
        "tenant_id",
        "policy_id",
        "version",
        unique=True,
        postgresql_where=text("state in ('draft', 'in_review', 'approved')"),
    ),
)

#: What was done to policies, by whom and why; append-only, whoever asks.
policy_events = Table(
    "policy_events",
    metadata,
    _tenant(),
    Column("event_id", BigInteger, Identity(always=True), nullable=False),
    Column("policy_id", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("why", Text),
    Column("details", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    _instant("at", now=True),
    _key("policy_events", "policy_id", "event_id"),
    _refers("policy_events", "tenants"),
)
