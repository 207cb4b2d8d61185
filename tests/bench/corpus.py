"""Passages in bulk, written into the store's own tables by COPY, and exact search over them, computed here.

Every policy has the same number of versions; the last is in force. A version's passages say nearly what those of the
version before it say: two of their words and a little of their meaning differ. One policy in `NARROW` is of the topic
`narrow`, one clause in `NARROW` applies in Sweden only, one in ten is for staff. Words are drawn by Zipf's law, so that
some stand in most passages and most in few; vectors gather around the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import log
from typing import Any, Final, LiteralString
from uuid import UUID

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from policies import search as ranking
from policies.contents import text_id
from policies.tables import LOCAL_MODEL
from policies.version import Period, instant_period

Array = np.ndarray[Any, Any]

#: One in so many policies is of the topic `narrow`, one in so many clauses applies in Sweden only.
NARROW: Final = 20
N_TOPICS: Final = 40
N_WORDS: Final = 20_000
N_NUMBERS: Final = 512
#: Words of a passage, at least and at most.
LENGTHS: Final = (15, 60)
#: Words that between a twentieth and a half of the passages have.
FREQUENT: Final = (5, 60)
#: How many words a version puts in the place of those of the one before it.
N_REPLACED: Final = 2
FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
A_VERSION: Final = timedelta(days=7)
AS_OF: Final[Period] = instant_period(datetime(2026, 6, 1, tzinfo=UTC))
_MODEL: Final = LOCAL_MODEL.encode()
_FILLER: Final = b"The parcel is sent back by whoever received it, within the time that the order names, at no cost. "


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question made from a passage in force: some of its words, and a vector near its own."""

    tokens: tuple[str, ...]
    vector: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The passages of one tenant; what is in force is kept to be searched, the rest is written and forgotten."""

    seed: int
    n_policies: int
    n_versions: int = 1
    n_clauses: int = 5
    n_passages: int = 4
    with_vectors: bool = True

    @property
    def n_in_force(self) -> int:
        return self.n_policies * self.n_clauses * self.n_passages

    @property
    def n_all(self) -> int:
        return self.n_in_force * self.n_versions

    # What is in force: row i is policy i // (clauses x passages), in reading order.

    @cached_property
    def words(self) -> Array:
        """Words of each passage in force, by number; -1 after its end."""
        return self._words_of(0)

    @cached_property
    def vectors(self) -> Array:
        """Of each passage in force, in the precision that is stored."""
        return self._vectors_of(0)

    def scope(self, *, topic: str | None = None, region: str | None = None, staff: bool = False) -> Array:
        """Rows in force that a question may see."""
        rows = np.arange(self.n_in_force)
        clause = rows // self.n_passages
        policy = clause // self.n_clauses
        seen = np.full(self.n_in_force, True)
        if topic == "narrow":
            seen &= policy % NARROW == 0
        elif topic is not None:
            seen &= (policy % NARROW != 0) & (policy % N_TOPICS == int(topic.removeprefix("topic-")))
        if region == "DE":
            seen &= clause % NARROW != 1
        elif region == "SE":
            seen &= clause % NARROW == 1
        if not staff:
            seen &= clause % 10 != 9
        in_scope: Array = rows[seen]
        return in_scope

    def questions(self, scope: Array, n: int) -> list[Asked]:
        """Questions about passages of `scope`: three of their rarest words, two others, and two that many have.

        Words that nearly all passages have are not asked for: a question loses them before it is searched.
        """
        rng = np.random.default_rng(self.seed + 1)
        asked = []
        for row in rng.choice(scope, size=n):
            own = np.unique(self.words[row][self.words[row] >= FREQUENT[0]])
            picked = {*own[-3:], *rng.choice(own, size=2), *rng.choice(np.arange(*FREQUENT), size=2)}
            vector = self.vectors[row].astype(np.float32) + rng.normal(0, 0.03, N_NUMBERS)
            vector /= np.linalg.norm(vector)
            asked.append(Asked(tokens=tuple(sorted(map(_word, picked))), vector=tuple(vector.tolist())))
        return asked

    def exact(self, asked: Asked, scope: Array, *, with_vector: bool = True, limit: int = 10) -> list[tuple[str, int]]:
        """The best passages as `policy, first line`: BM25 within the scope and cosine, reciprocal ranks summed."""
        scores = _bm25(self.words[scope], [int(token[1:]) for token in asked.tokens])
        by_words = {row: score for row, score in zip(scope.tolist(), scores, strict=True) if score > 0}
        by_vector: dict[int, float] = {}
        if with_vector:
            question = np.array(asked.vector, dtype=np.float16).astype(np.float64)
            own = self.vectors[scope].astype(np.float64)
            distances = 1 - own @ question / (np.linalg.norm(own, axis=1) * np.linalg.norm(question))
            by_vector = dict(zip(scope.tolist(), np.round(-distances, 6).tolist(), strict=True))
        fused: dict[int, float] = {}
        for arm, weight in ((by_words, ranking.WORDS), (by_vector, ranking.VECTORS)):
            for row, rank in _ranks(arm, limit=ranking.ARM_LIMIT, key=self._ids.__getitem__).items():
                fused[row] = fused.get(row, 0.0) + weight / (ranking.DEPTH + rank)
        best = sorted(fused, key=lambda row: (-round(fused[row], 9), self._key(row)))[:limit]
        return [self._key(row) for row in best]

    def _key(self, row: int) -> tuple[str, int]:
        return _policy(row // (self.n_clauses * self.n_passages)), _line(row % (self.n_clauses * self.n_passages))

    @cached_property
    def _ids(self) -> list[bytes]:
        return [self._text_id(row, self.n_versions - 1) for row in range(self.n_in_force)]

    def _text_id(self, row: int, version: int) -> bytes:
        policy = _policy(row // (self.n_clauses * self.n_passages))
        return text_id(policy, FIRST + version * A_VERSION, f"{version} {row}").bytes

    # How it is made: `age` is the number of versions that followed

    @cached_property
    def _first_words(self) -> Array:
        rng = np.random.default_rng(self.seed)
        words = _zipf(rng, (self.n_in_force, LENGTHS[1]))
        words[np.arange(LENGTHS[1]) >= rng.integers(*LENGTHS, size=(self.n_in_force, 1))] = -1
        return words

    def _words_of(self, age: int) -> Array:
        words = self._first_words.copy()
        rng = np.random.default_rng((self.seed, 2, age))
        rows = np.arange(self.n_in_force)
        for _ in range(N_REPLACED):
            words[rows, rng.integers(LENGTHS[0], size=len(rows))] = _zipf(rng, (len(rows),))
        return words

    @cached_property
    def _first_vectors(self) -> Array:
        rng = np.random.default_rng(self.seed + 3)
        topics = rng.normal(size=(N_TOPICS, N_NUMBERS)).astype(np.float32)
        topic = np.arange(self.n_in_force) // (self.n_clauses * self.n_passages) % N_TOPICS
        vectors: Array = topics[topic] + rng.normal(size=(self.n_in_force, N_NUMBERS)).astype(np.float32)
        return vectors

    def _vectors_of(self, age: int) -> Array:
        rng = np.random.default_rng((self.seed, 4, age))
        vectors: Array = self._first_vectors + rng.normal(0, 0.15, self._first_vectors.shape)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors.astype(np.float16)

    # How it is written

    def load(self, administrator: psycopg.Connection[TupleRow], tenant_id: UUID) -> None:
        """Write it as the content of a tenant that exists and has no other."""
        with administrator.transaction():
            # What is written fits together; checking each row's references would take most of the time.
            administrator.execute("set local session_replication_role = replica")
            administrator.execute("set local synchronous_commit = off")
            self._load_documents(administrator, tenant_id)
            for version in range(self.n_versions):
                self._load_passages(administrator, tenant_id, version)

    def _load_documents(self, administrator: psycopg.Connection[TupleRow], tenant_id: UUID) -> None:
        administrator.execute(_DOCUMENTS, self._parameters(tenant_id))
        for statement in (_POLICIES, _STORED_DOCUMENTS, _VERSIONS, _CLAUSES):
            administrator.execute(statement, self._parameters(tenant_id))

    def _parameters(self, tenant_id: UUID) -> dict[str, Any]:
        return {
            "tenant": tenant_id, "policies": self.n_policies, "versions": self.n_versions, "clauses": self.n_clauses,
            "narrow": NARROW, "topics": N_TOPICS, "first": FIRST, "a_version": A_VERSION,
        }  # fmt: skip

    def _load_passages(self, administrator: psycopg.Connection[TupleRow], tenant_id: UUID, version: int) -> None:
        # Versions that were followed by another, so that what is in force does not depend on how many there were.
        age = self.n_versions - 1 - version
        words = self._words_of(age) if age else self.words
        vectors = (self._vectors_of(age) if age else self.vectors) if self.with_vectors else None
        for start in range(0, self.n_in_force, _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, self.n_in_force))
            tenant = _same(tenant_id.bytes, "V16", len(rows))
            texts = np.array([b"Passage %07d. %s" % (row, _FILLER) for row in rows])
            ids = np.array([self._text_id(int(row), version) for row in rows], dtype="V16")
            clause = rows // self.n_passages % self.n_clauses
            line = np.array([_line(int(row)) for row in rows % (self.n_clauses * self.n_passages)])
            documents = [_document_id(tenant_id, int(p), version) for p in rows // (self.n_clauses * self.n_passages)]
            _copy(administrator, "passage_texts", {"tenant_id": tenant, "text_id": ids, "text": texts})
            _copy(
                administrator,
                "policy_passages",
                {
                    "tenant_id": tenant, "document_id": np.array(documents, dtype="V16"),
                    "position": (rows % self.n_passages).astype(">i4"), "clause_position": clause.astype(">i4"),
                    "kind": _same(b"paragraph", "S9", len(rows)), "text": texts, "line_start": line.astype(">i4"),
                    "line_end": line.astype(">i4"), "text_id": ids,
                },
            )  # fmt: skip
            _copy(administrator, "passage_postings", _postings(tenant_id, ids, words[rows]))
            if vectors is not None:
                model = _same(_MODEL, f"S{len(_MODEL)}", len(rows))
                embedding = _halfvecs(vectors[rows])
                _copy(
                    administrator,
                    "passage_vectors",
                    {"tenant_id": tenant, "text_id": ids, "model": model, "embedding": embedding},
                )


_CHUNK: Final = 20_000

_DOCUMENTS: Final[LiteralString] = """
create temporary table bulk on commit drop as
select %(tenant)s::uuid as tenant_id, 'policy-' || to_char(p, 'FM0000000') as policy_id, v as version, p,
       overlay(overlay(%(tenant)s::text placing to_char(p, 'FM00000000') from 1 for 8)
               placing to_char(v, 'FM0000') from 10 for 4)::uuid as document_id,
       case when p %% %(narrow)s = 0 then 'narrow' else 'topic-' || p %% %(topics)s end as topic,
       %(first)s::timestamptz + v * %(a_version)s::interval as valid_from,
       case when v < %(versions)s - 1 then %(first)s::timestamptz + (v + 1) * %(a_version)s::interval end as valid_to
from generate_series(0, %(policies)s - 1) as p, generate_series(0, %(versions)s - 1) as v
"""
_POLICIES: Final[LiteralString] = (
    "insert into policies (tenant_id, topic, policy_id) select distinct tenant_id, topic, policy_id from bulk"
)
_STORED_DOCUMENTS: Final[LiteralString] = """
insert into policy_documents (tenant_id, document_id, policy_id, version, sha256, text, attributes)
select tenant_id, document_id, policy_id, version::text, md5(document_id::text), 'Text.',
       '{"title": "Policy", "topic": "refund", "language": "en", "authority": "corporate", "audience": "public",
         "time_zone": "UTC", "governed_by": null, "applies_to": {}, "transition": [], "supersedes": [], "amends": [],
         "delegates": [], "rendition_of": null}'
from bulk
"""
_VERSIONS: Final[LiteralString] = """
insert into policy_versions (tenant_id, recording_id, topic, policy_id, version, document_id, audience, authority,
                             valid_from, valid_to, recorded_from, approval, recorded_by)
select tenant_id, document_id, topic, policy_id, version::text, document_id, 'public', 'corporate', valid_from,
       valid_to, '2024-01-01', 'imported', 'bulk'
from bulk
"""
_CLAUSES: Final[LiteralString] = """
insert into policy_clauses (tenant_id, document_id, position, anchor, heading, heading_path, line_start, line_end,
                            effect, audience, regions)
select tenant_id, document_id, c, 'clause-' || c, 'Clause ' || c, '{}', c * 40 + 1, c * 40 + 39, 'mandatory',
       case when n %% 10 = 9 then 'staff' else 'public' end,
       case when n %% %(narrow)s = 1 then array['SE'] else array['DE'] end
from bulk, generate_series(0, %(clauses)s - 1) as c, lateral (select p * %(clauses)s + c as n) x
"""


def _policy(number: int) -> str:
    return f"policy-{number:07}"


def _line(place: int) -> int:
    """First line of the passage at `place` in its document."""
    return place * 10 + 2


def _word(number: int) -> str:
    return f"w{number:05}"


def _document_id(tenant_id: UUID, policy: int, version: int) -> bytes:
    text = str(tenant_id)
    return UUID(f"{policy:08}-{version:04}{text[13:]}").bytes


def _zipf(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Numbers of words; the smaller, the more frequent."""
    return np.minimum((N_WORDS ** rng.random(shape) - 1).astype(np.int32), N_WORDS - 1)


def _bm25(words: Array, asked: Sequence[int]) -> list[float]:
    """Of each passage, for a question of words by number."""
    n_words = (words >= 0).sum(axis=1)
    scores = np.zeros(len(words))
    for number in asked:
        tf = (words == number).sum(axis=1)
        n_with = int((tf > 0).sum())
        rarity = log(1 + (len(words) - n_with + 0.5) / (n_with + 0.5))
        length = 1 - ranking.B + ranking.B * n_words / ranking.USUAL_LENGTH
        scores += rarity * tf * (ranking.K1 + 1) / (tf + ranking.K1 * length)
    return [round(float(score), 6) for score in scores]


def _ranks(arm: Mapping[int, float], *, limit: int, key: Any) -> dict[int, int]:
    """The `limit` best rows with their ranks; equals share the first of theirs."""
    best = sorted(arm, key=lambda row: (-arm[row], key(row)))[:limit]
    return {row: 1 + sum(arm[other] > arm[row] for other in best) for row in best}


def _postings(tenant_id: UUID, ids: Array, words: Array) -> dict[str, Array]:
    rows, places = np.nonzero(words >= 0)
    pairs, tf = np.unique(rows.astype(np.int64) * N_WORDS + words[rows, places], return_counts=True)
    row, word = pairs // N_WORDS, pairs % N_WORDS
    return {
        "tenant_id": _same(tenant_id.bytes, "V16", len(pairs)),
        "token": np.array([_word(number).encode() for number in range(N_WORDS)])[word],
        "text_id": ids[row],
        "tf": tf.astype(">i2"),
        "n_tokens": (words >= 0).sum(axis=1)[row].astype(">i2"),
    }


def _halfvecs(vectors: Array) -> Array:
    """As pgvector sends them: how many numbers, nothing, the numbers."""
    made = np.zeros(len(vectors), dtype=[("n", ">i2"), ("unused", ">i2"), ("numbers", ">f2", N_NUMBERS)])
    made["n"], made["numbers"] = N_NUMBERS, vectors
    return made


def _same(value: bytes, dtype: str, n: int) -> Array:
    return np.full(n, np.array(value, dtype=dtype))


def _copy(administrator: psycopg.Connection[TupleRow], table: str, columns: Mapping[str, Array]) -> None:
    """COPY rows whose fields are of fixed length: all of a column's take as many bytes."""
    fields = [
        field
        for name, values in columns.items()
        for field in ((f"{name}_length", ">i4"), (name, values.dtype))
    ]  # fmt: skip
    rows = np.zeros(len(next(iter(columns.values()))), dtype=[("n", ">i2"), *fields])
    rows["n"] = len(columns)
    for name, values in columns.items():
        rows[name], rows[f"{name}_length"] = values, values.dtype.itemsize
    statement = sql.SQL("copy {} ({}) from stdin (format binary)").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with administrator.cursor().copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for chunk in _chunks(rows.tobytes()):
            copy.write(chunk)
        copy.write(b"\xff\xff")


def _chunks(content: bytes, size: int = 1 << 24) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]
