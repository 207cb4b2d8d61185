"""What is stored of documents for search: each text once, and what is in force together side by side."""

from __future__ import annotations

from datetime import UTC, datetime

from policies import store
from policies.contents import text_id
from policies.session import TenantSession
from tests.integration.policies.written import written

MARCH, APRIL = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC)


def body(*sentences: str) -> str:
    return "\n## Fees {#fees}\n" + "".join(f"- {sentence}\n" for sentence in sentences)


async def n_rows(session: TenantSession, table: str) -> int:
    return int((await session.fetch(f"select count(*) from {table}", {}))[0][0])


async def publish(session: TenantSession, version: str, *sentences: str, policy: str = "fees") -> None:
    document = written(version, policy=policy, topic=policy, body=body(*sentences))
    await store.publish(session, [document], approval="imported", by="ada")


async def test_text_that_versions_share_is_stored_once(session: TenantSession) -> None:
    await publish(session, "2025-03-01", "A parcel costs 5 EUR.", "A letter costs 1 EUR.")
    n_postings = await n_rows(session, "passage_postings")

    await publish(session, "2025-04-01", "A letter costs 1 EUR.", "A parcel costs 5 EUR.")

    assert await n_rows(session, "policy_passages") == 4
    assert await n_rows(session, "passage_texts") == 2
    assert await n_rows(session, "passage_postings") == n_postings


async def test_earlier_version_shares_the_text_of_a_later_one(session: TenantSession) -> None:
    await publish(session, "2025-04-01", "A parcel costs 5 EUR.")

    await publish(session, "2025-03-01", "A parcel costs 5 EUR.", "A letter costs 1 EUR.")

    assert await n_rows(session, "passage_texts") == 2


async def test_changed_text_is_a_text_of_its_own(session: TenantSession) -> None:
    await publish(session, "2025-03-01", "A parcel costs 5 EUR.")

    await publish(session, "2025-04-01", "A parcel costs 6 EUR.")

    assert await n_rows(session, "passage_texts") == 2


def test_ids_lie_by_policy_then_by_start() -> None:
    ids = {
        (policy, start): [text_id(policy, start, f"text {number}") for number in range(20)]
        for policy in ("fees", "refund")
        for start in (MARCH, APRIL)
    }

    ordered = [of for _, of in sorted((one, of) for of, own in ids.items() for one in own)]

    places = [of for n, of in enumerate(ordered) if n == 0 or ordered[n - 1] != of]
    assert len(places) == 4
    assert [start for _, start in places] == [MARCH, APRIL, MARCH, APRIL]
