"""Search against the real database: what is in scope, what each arm finds, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import pytest

from policies import store
from policies.applicability import Membership, RegionGroups
from policies.document import PolicyDocument
from policies.embedding import SentenceVectors
from policies.search import PassageHit, search
from policies.session import TenantSession
from policies.text import question_tokens
from policies.version import Audience, Period, instant_period
from tests.integration.policies.written import written

JUNE = instant_period(datetime(2025, 6, 1, tzinfo=UTC))
BREXIT = datetime(2020, 2, 1, tzinfo=UTC)
GROUPS: RegionGroups = {"EU": (Membership(region="DE"), Membership(region="GB", end=BREXIT))}

HANDBOOK = """
## Returns {#returns}
Goods may be sent back within thirty days of delivery.

- Opened software cannot be returned.
- The buyer pays the return parcel.

## Invoices {#invoices}
| Country | Paper invoice |
| --- | --- |
| Austria | 3 EUR |
| Poland | free |

## Goodwill {#goodwill}
{audience: staff}
A supervisor may accept a late return.
"""
HANDBOOK_ZH = """
## 退货 {#returns}
商品在收货后七天内可以退回，运费由买家承担。

## 发票 {#invoices}
我们提供电子发票，不收取费用。
"""


@pytest.fixture(scope="session")
def encoder() -> SentenceVectors:
    return SentenceVectors()


async def publish(session: TenantSession, *documents: PolicyDocument, embedder: SentenceVectors | None = None) -> None:
    await store.publish(session, documents, approval="imported", by="ada", embedder=embedder)


async def find(
    session: TenantSession,
    text: str,
    *,
    embedder: SentenceVectors | None = None,
    as_of: Period = JUNE,
    audiences: Iterable[Audience] = ("public",),
    known: Mapping[str, str | None] | None = None,
    topic: str | None = None,
    authorities: Iterable[str] | None = None,
    known_at: datetime | None = None,
) -> Sequence[PassageHit]:
    return await search(
        session,
        tokens=question_tokens(text),
        vector=None if embedder is None else await embedder.embed_query(text),
        as_of=as_of,
        audiences=audiences,
        known=known or {},
        groups=GROUPS,
        topic=topic,
        authorities=authorities,
        known_at=known_at,
    )


def anchors(hits: Sequence[PassageHit]) -> list[str]:
    return [hit.clause.anchor for hit in hits]


async def test_words_find_the_passage_and_its_lines(session: TenantSession) -> None:
    document = written(policy="handbook", body=HANDBOOK)
    await publish(session, document)

    best = (await find(session, "who pays for the return parcel?"))[0]

    assert (best.clause.locator, best.text, best.kind) == (
        "handbook@2025-01-01#returns",
        "The buyer pays the return parcel.",
        "item",
    )
    assert document.text.split("\n")[best.lines[0] - 1] == "- The buyer pays the return parcel."


async def test_table_row_is_found_with_its_header(session: TenantSession) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK))

    best = (await find(session, "paper invoice in Poland"))[0]

    assert (best.kind, best.text, best.table_header) == ("row", "| Poland | free |", "| Country | Paper invoice |")


async def test_chinese_question_finds_chinese_passage(session: TenantSession) -> None:
    await publish(session, written(policy="shouce", body=HANDBOOK_ZH, language="zh-CN"))

    assert anchors(await find(session, "退貨的運費誰承擔？"))[0] == "returns"


async def test_without_vectors_hits_say_words_alone(session: TenantSession) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK))

    hits = await find(session, "return")

    assert {(hit.found_by, hit.similarity) for hit in hits} == {(("words",), None)}


async def test_languages_meet_through_vectors_alone(session: TenantSession, encoder: SentenceVectors) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK), embedder=encoder)

    best = (await find(session, "退回商品的期限是几天？", embedder=encoder))[0]

    assert (best.clause.anchor, best.found_by, best.words) == ("returns", ("vectors",), None)


async def test_both_arms_are_named(session: TenantSession, encoder: SentenceVectors) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK), embedder=encoder)

    best = (await find(session, "sending goods back after delivery", embedder=encoder))[0]

    assert (best.clause.anchor, best.found_by) == ("returns", ("words", "vectors"))


async def test_staff_clause_is_found_by_staff_only(session: TenantSession) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK))

    customer = await find(session, "late return accepted by a supervisor")
    staff = await find(session, "late return accepted by a supervisor", audiences=("public", "staff"))

    assert "goodwill" not in anchors(customer)
    assert anchors(staff)[0] == "goodwill"


async def test_hidden_clause_changes_nothing_for_customers(session: TenantSession, encoder: SentenceVectors) -> None:
    public_part = HANDBOOK.split("## Goodwill", maxsplit=1)[0]
    await publish(session, written(policy="handbook", body=public_part), embedder=encoder)
    before = await find(session, "return within thirty days", embedder=encoder)
    await publish(session, written(policy="handbook", body=HANDBOOK), embedder=encoder)

    after = await find(session, "return within thirty days", embedder=encoder)

    assert [(hit.text, hit.score, hit.words, hit.similarity) for hit in after] == [
        (hit.text, hit.score, hit.words, hit.similarity) for hit in before
    ]


async def test_empty_audience_sees_nothing(session: TenantSession) -> None:
    await publish(session, written(policy="handbook", body=HANDBOOK))

    assert await find(session, "return", audiences=()) == []


@pytest.mark.parametrize(
    ("day", "found"),
    [
        pytest.param(datetime(2024, 12, 31, 23, 59, tzinfo=UTC), [], id="before the first"),
        pytest.param(datetime(2025, 1, 1, tzinfo=UTC), ["2025-01-01"], id="first day"),
        pytest.param(datetime(2025, 3, 1, tzinfo=UTC), [], id="in the gap"),
        pytest.param(datetime(2025, 5, 1, tzinfo=UTC), ["2025-04-01"], id="second version"),
    ],
)
async def test_only_what_is_in_force_is_found(session: TenantSession, day: datetime, found: list[str]) -> None:
    await publish(session, written("2025-01-01", ends="2025-02-01"), written("2025-04-01"))

    hits = await find(session, "return annual plans", as_of=instant_period(day))

    assert [hit.clause.version.version for hit in hits] == found


async def test_period_finds_every_version_in_it(session: TenantSession) -> None:
    await publish(session, written("2025-01-01"), written("2025-03-01"), written("2025-08-01"))
    spring = Period(start=datetime(2025, 2, 1, tzinfo=UTC), end=datetime(2025, 5, 1, tzinfo=UTC))

    hits = await find(session, "annual plans", as_of=spring)

    assert [hit.clause.version.version for hit in hits] == ["2025-01-01", "2025-03-01"]


async def test_known_at_finds_what_the_store_held_then(session: TenantSession) -> None:
    await publish(session, written(policy="handbook", body="## Fees {#fees}\nA parcel costs 5 EUR.\n"))
    then = (await store.versions(session))[0].recorded.start
    await publish(session, written(policy="handbook", body="## Fees {#fees}\nA parcel costs 6 EUR.\n"))

    assert [hit.text for hit in await find(session, "parcel")] == ["A parcel costs 6 EUR."]
    assert [hit.text for hit in await find(session, "parcel", known_at=then)] == ["A parcel costs 5 EUR."]


@pytest.mark.parametrize(
    ("regions", "region", "day", "found"),
    [
        pytest.param("[DE]", "DE", JUNE, True, id="same country"),
        pytest.param("[DE]", "FR", JUNE, False, id="another country"),
        pytest.param("[CN]", "CN-SD", JUNE, True, id="subdivision"),
        pytest.param("[CN-SD]", "CN", JUNE, False, id="country around a subdivision"),
        pytest.param("[EU]", "DE", JUNE, True, id="member of a group"),
        pytest.param("[EU]", "GB", JUNE, False, id="former member"),
        pytest.param("[EU]", "GB", instant_period(datetime(2019, 6, 1, tzinfo=UTC)), True, id="member then"),
        pytest.param("[DE]", None, JUNE, True, id="unknown region"),
    ],
)
async def test_region_decides_what_applies(
    session: TenantSession, regions: str, region: str | None, day: Period, found: bool
) -> None:
    await publish(session, written("2018-01-01", applies_to=f"{{regions: {regions}}}"))

    hits = await find(session, "annual plans", known={"regions": region}, as_of=day)

    assert bool(hits) is found


async def test_topic_and_authority_narrow_the_scope(session: TenantSession) -> None:
    await publish(
        session,
        written(policy="refund"),
        written(policy="refund-faq", authority="faq"),
        written(policy="fees", topic="fees"),
    )

    by_topic = await find(session, "annual plans", topic="refund")
    by_rank = await find(session, "annual plans", authorities=["faq"])

    assert [hit.clause.version.policy for hit in by_topic] == ["refund", "refund-faq"]
    assert [hit.clause.version.policy for hit in by_rank] == ["refund-faq"]


async def test_ties_are_ordered_by_policy_version_and_line(session: TenantSession) -> None:
    await publish(session, *(written(policy=name) for name in ("zeta", "Beta", "alpha")))

    hits = await find(session, "annual plans")

    assert [hit.clause.version.policy for hit in hits] == ["Beta", "alpha", "zeta"]
    assert len({hit.score for hit in hits}) == 1


async def test_search_is_one_statement(session: TenantSession) -> None:
    await publish(session, written())
    before = session.n_statements

    await find(session, "annual plans")

    assert session.n_statements == before + 1


async def test_question_without_words_finds_nothing_by_words(session: TenantSession) -> None:
    await publish(session, written())

    assert await find(session, "???") == []
