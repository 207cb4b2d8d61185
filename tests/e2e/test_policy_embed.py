"""`support-agent policy embed`: vectors for what was published without them, and a model that cannot be used."""

from __future__ import annotations

from pathlib import Path

import policies
from tests.e2e.command import Command

SAMPLE = str(Path(policies.__file__).parent / "sample")
QUESTION = "money for the months nobody used"


def test_passages_published_without_vectors_are_found_by_meaning_after_embed(own_command: Command) -> None:
    assert own_command("tenant", "load", SAMPLE).code == 0
    with_vectors = own_command.having(SUPPORT_AGENT_VECTORS="on")
    search = ("policy", "search", QUESTION, "--tenant", "lumen", "--at", "2026-06-01", "--json")
    before = with_vectors(*search).json

    done = with_vectors("policy", "embed", "--tenant", "lumen", "--json")
    again = with_vectors("policy", "embed", "--tenant", "lumen")

    after = with_vectors(*search).json
    assert done.code == 0
    assert done.json["n_embedded"] == done.json["n_texts"] > 100
    assert "0 texts given vectors" in again.said
    assert not any("vectors" in hit["found_by"] for hit in before)
    assert any("vectors" in hit["found_by"] for hit in after)


def test_unknown_model_is_refused_and_search_stays(own_command: Command) -> None:
    assert own_command("tenant", "load", SAMPLE).code == 0
    with_vectors = own_command.having(SUPPORT_AGENT_VECTORS="on")

    refused = with_vectors("policy", "embed", "--tenant", "lumen", "--model", "nobody:nothing", "--json")

    assert refused.code == 1
    assert refused.json["error"]["code"] == "embedding"
    assert "nobody:nothing" in refused.json["error"]["message"]
    assert with_vectors("policy", "search", "refund", "--tenant", "lumen").code == 0


def test_vectors_switched_off_is_said(own_command: Command) -> None:
    assert own_command("tenant", "load", SAMPLE).code == 0

    refused = own_command("policy", "embed", "--tenant", "lumen")

    assert refused.code == 2
    assert "SUPPORT_AGENT_VECTORS" in refused.said
