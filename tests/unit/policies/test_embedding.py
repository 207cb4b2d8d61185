"""Embedding models by name, and what is said of one that cannot be used."""

from __future__ import annotations

import pytest

from policies.embedding import LOCAL, SentenceVectors, vector_text
from policies.errors import EmbeddingError
from policies.search import _SEARCH_NOW
from policies.sentence_encoder import LocalSentenceEncoder
from tests.trigrams import TrigramModel


def test_local_encoder_has_the_name_that_is_stored() -> None:
    encoder = LocalSentenceEncoder()

    assert f"{encoder.system}:{encoder.model_name}" == LOCAL


def test_another_model_is_made_once() -> None:
    vectors = SentenceVectors(own={"test:trigrams": TrigramModel})

    other = vectors.of("test:trigrams")

    assert (vectors.model, other.model) == (LOCAL, "test:trigrams")
    assert vectors.of("test:trigrams") is other
    assert other.of(LOCAL) is vectors


async def test_vectors_of_a_model_are_as_long_as_it_makes_them() -> None:
    vectors = SentenceVectors("test:trigrams", own={"test:trigrams": lambda: TrigramModel(length=7)})

    assert [len(vector) for vector in await vectors.embed_documents(["refund", "parcel"])] == [7, 7]
    assert await vectors.embed_query("refund") == (await vectors.embed_documents(["refund"]))[0]


@pytest.mark.parametrize(
    "model", [pytest.param("nobody:nothing", id="no such provider"), pytest.param("nothing", id="no provider named")]
)
async def test_unknown_model_is_named(model: str) -> None:
    with pytest.raises(EmbeddingError, match=f"{model!r} cannot be used"):
        await SentenceVectors(model).embed_query("refund")


def test_vector_is_written_as_the_database_reads_it() -> None:
    assert vector_text([0.1, -0.25, 1e-7, 0.123456789]) == "[0.1,-0.25,1e-07,0.12346]"


def test_driver_keeps_the_statement_of_search() -> None:
    from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH  # noqa: PLC0415 - private to the driver

    assert len(_SEARCH_NOW) <= MAX_CACHED_STATEMENT_LENGTH
