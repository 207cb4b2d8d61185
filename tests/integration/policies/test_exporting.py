"""The store as a folder: what is exported and imported again is the same store."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from policies import store
from policies.authority import Ladder
from policies.document import PolicyDocument
from policies.exporting import exported_files
from policies.front_matter import Surroundings
from policies.importing import read_policy_folder
from policies.publishing import withdraw
from policies.session import TenantSession
from policies.version import start_of_day
from support_agent.storage.tenancy import open_session
from tests.integration.policies.written import AROUND
from tests.soak import examples

SHARED = Path(__file__).parents[4] / "shared" / "data" / "policies"
AUTHORITIES = (
    "national_law,administrative_regulation,judicial_interpretation=department_rule,local_regulation,"
    "company_policy,support_documentation,support_documentation_translation"
)


async def publish(session: TenantSession, folder: Path, around: Surroundings) -> tuple[PolicyDocument, ...]:
    found = read_policy_folder(folder, around=around)
    assert found.faults == ()
    await store.publish(session, found.documents, approval="imported", by="ada")
    return found.documents


async def exported(session: TenantSession, folder: Path, *, time_zone: str) -> None:
    sources = await store.sources(session, await store.policies(session))
    for name, text in exported_files(sources, time_zone=time_zone).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


async def everything(session: TenantSession) -> list[Any]:
    """All that the store holds of what stands, but for ids and instants of recording."""
    versions = """
        select v.policy_id, v.version, v.topic, v.valid_from, v.valid_to, v.withdrawn, v.audience, v.authority,
               d.sha256, d.text, d.attributes
        from policy_versions v join policy_documents d using (tenant_id, document_id)
        where v.tenant_id = %(t)s and v.recorded_to is null order by 1, 2
    """
    clauses = """
        select d.policy_id, d.version, c.position, c.anchor, c.heading, c.line_start, c.line_end, c.valid_from,
               c.valid_to, c.effect, c.audience, c.regions, c.plans
        from policy_clauses c join policy_documents d using (tenant_id, document_id)
        where c.tenant_id = %(t)s order by 1, 2, 3
    """
    terms = """
        select d.policy_id, d.version, t.position, t.name, t.value, t.rule, t.better, t.quote, t.line_start
        from policy_terms t join policy_documents d using (tenant_id, document_id)
        where t.tenant_id = %(t)s order by 1, 2, 3
    """
    return [await session.fetch(statement, {"t": session.tenant_id}) for statement in (versions, clauses, terms)]


async def again(engine: AsyncEngine, folder: Path, around: Surroundings) -> list[Any]:
    """The store that the folder gives an empty tenant; nothing is kept."""
    async with open_session(engine, uuid4(), keep=False) as session:
        await add_tenant(session)
        await publish(session, folder, around)
        return await everything(session)


async def add_tenant(session: TenantSession) -> None:
    await session.fetch(
        "insert into tenants (tenant_id, slug) values (%(t)s, %(slug)s)",
        {"t": session.tenant_id, "slug": session.tenant_id.hex},
    )


KEYS = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.sampled_from(["refund", "returns"]),
        "effect": st.sampled_from(["minimum", "default", "mandatory"]),
        "audience": st.sampled_from(["staff", "public"]),
        "applies_to": st.sampled_from([{"regions": ["EU"]}, {"plans": ["annual", "monthly"], "channels": ["web"]}]),
        "time_zone": st.sampled_from(["Asia/Shanghai", "America/New_York", "UTC"]),
        "governed_by": st.sampled_from(["order.purchased_at", "asked_at"]),
        "supersedes": st.just(["other@2024-01-01#window", "another"]),
        "delegates": st.just([{"to": "faq", "terms": ["refund.window_days"]}]),
        "transition": st.just([{"from": "v0", "when": "order.purchased_at < asked_at", "take": "older"}]),
        "owner": st.sampled_from(["ada", "张三"]),
    },
)
BODIES = st.sampled_from(
    [
        "## Window\nWithin 30 days.\n\n```terms\nrefund.window_days: {value: 30, better: higher}\n```\n",
        "## 期限\n{audience: staff}\n签收后三十天内可以退款。\n\n- 一\n- 二\n",
        "Only a preamble.\n\n\n",
        "## Window\nWithin **30 days**.  \n## Window\nTwice.",
    ]
)
VERSIONS = st.lists(
    st.tuples(
        st.integers(1, 400),  # days to the start, from the version before
        st.one_of(st.none(), st.integers(1, 400)),  # days to its own end, cut at the next start
        KEYS,
        BODIES,
        st.sampled_from(["head", "meta", "sidecar"]),  # where its keys stand
        st.one_of(st.none(), st.integers(0, 300)),  # days after which it is withdrawn
    ),
    min_size=1,
    max_size=4,
)


def put(folder: Path, versions: Any) -> list[tuple[str, date]]:
    """Write the drawn versions as an author could have; gives the withdrawals."""
    (folder / "refund").mkdir(parents=True)
    starts, day = [], date(2020, 1, 1)
    for days, *_ in versions:
        day += timedelta(days=days)
        starts.append(day)
    overlay: dict[str, Any] = {}
    withdrawals = []
    for n, (start, (_, lasts, keys, body, where, withdrawn)) in enumerate(zip(starts, versions, strict=True)):
        following = starts[n + 1] if n + 1 < len(starts) else date(2100, 1, 1)
        head = {
            "policy": "refund", "title": f"Refunds {n}", "authority": "corporate", "language": "en",
            "effective_from": start.isoformat(), **keys,
        }  # fmt: skip
        if lasts is not None:
            head["effective_to"] = min(start + timedelta(days=lasts), following).isoformat()
        text = yaml.safe_dump(head, allow_unicode=True)
        path = folder / "refund" / f"v{n}.md"
        path.write_text(f"---\n{text}---\n{body}" if where == "head" else body, encoding="utf-8")
        if where == "sidecar":
            beside = {"front_matter": head}
            path.with_name(f"v{n}.terms.yaml").write_text(yaml.safe_dump(beside, allow_unicode=True), encoding="utf-8")
        elif where == "meta":
            overlay[f"v{n}"] = head
        if withdrawn is not None and withdrawn > 1:
            withdrawals.append((f"v{n}", start + timedelta(days=withdrawn)))
    if overlay:
        written = yaml.safe_dump({"refund": {"versions": overlay}}, allow_unicode=True)
        (folder / "overlay.yaml").write_text(written, encoding="utf-8")
    return withdrawals


@settings(
    max_examples=examples(default=25, soak=500),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(versions=VERSIONS)
async def test_what_is_exported_and_imported_again_is_the_same_store(engine: AsyncEngine, versions: Any) -> None:
    with TemporaryDirectory() as folder:
        withdrawals = put(Path(folder, "written"), versions)
        async with open_session(engine, uuid4(), keep=False) as session:
            await add_tenant(session)
            found = read_policy_folder(Path(folder, "written"), around=AROUND)
            if found.faults:  # A zone that shifts a start over its neighbour's.
                return
            await store.publish(session, found.documents, approval="imported", by="ada")
            for version, day in withdrawals:
                held = {one.version: one for one in await store.versions(session, "refund")}[version]
                instant = start_of_day(day, held.zone)
                if held.valid.contains(instant) and instant > held.valid.start:
                    await withdraw(session, "refund", version, from_=instant, approval="grace", by="ada")
            before = await everything(session)
            await exported(session, Path(folder, "out"), time_zone=AROUND.time_zone)
            publication = await store.planned(session, read_policy_folder(Path(folder, "out"), around=AROUND).documents)

        assert (publication.added, publication.corrected) == ((), ())
        assert await again(engine, Path(folder, "out"), AROUND) == before


@pytest.mark.skipif(not SHARED.exists(), reason="the shared policies are not there")
@pytest.mark.parametrize("organisation", ["37signals", "cn-shandong", "upyun"])
async def test_real_policies_come_back_as_they_were(organisation: str, engine: AsyncEngine, tmp_path: Path) -> None:
    around = Surroundings(ladder=Ladder.parse(AUTHORITIES), time_zone="UTC", region_groups=frozenset({"EU"}))
    async with open_session(engine, uuid4(), keep=False) as session:
        await add_tenant(session)
        await publish(session, SHARED / organisation, around)
        before = await everything(session)
        await exported(session, tmp_path, time_zone="UTC")

    assert await again(engine, tmp_path, around) == before
