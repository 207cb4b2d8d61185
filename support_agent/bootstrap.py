"""The composition root: the one module that names concrete connectors, storage, encoder and words."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

from sqlalchemy.ext.asyncio import AsyncEngine

from connectors.base import Connector
from connectors.errors import SourceContractError, SourceUnavailableError
from connectors.faq import RANK, FaqConnector
from connectors.orders import OrdersConnector
from connectors.policy import PolicyConnector
from connectors.profile import ProfileConnector
from connectors.settings import RecordSettings, SettingsFault, load_connector_settings
from connectors.sql import SqlRecords
from connectors.trial import TrialRecords, trial_faults
from policies import search, store
from policies.authority import Ladder
from policies.embedding import SentenceVectors
from policies.errors import Fault, PolicyParseError
from policies.session import TenantSession
from policies.text import question_tokens
from policies.version import PolicyVersion, instant_period
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Question
from support_agent.domain.reading import Reading
from support_agent.domain.run import Run
from support_agent.domain.tenant import Tenant, tenant_id
from support_agent.errors import InvalidRequestError, NotFoundError, TenantExistsError
from support_agent.language.reading import read
from support_agent.language.signals import read_signals
from support_agent.language.vocabulary import Vocabulary
from support_agent.pipeline.run import Parts, answer
from support_agent.rendering.contract import outcome_json, point_json
from support_agent.rendering.wording import TenantWords
from support_agent.request import AskRequest, read_instant, to_question
from support_agent.settings import Settings
from support_agent.storage import escalations, runs, tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.schema import ensure_local, require_ready
from support_agent.storage.tenancy import open_session, usable
from support_agent.tenants.folder import TENANT, TenantFolder, new_tenant_files, read_folder, read_tenant

if TYPE_CHECKING:
    from policies.document import PolicyDocument

POOL_SIZE: Final = 16
#: A source that takes longer to show its columns is not connected.
CHECK_TIMEOUT_S: Final = 15.0
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A run, and its outcome as the JSON contract has it."""

    run: Run
    contract: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A tenant as it stood at one revision, with what is built from its settings."""

    tenant: Tenant
    parts: Parts
    connectors: tuple[Any, ...]


@asynccontextmanager
async def open_application(settings: Settings) -> AsyncIterator[Application]:
    """The application on the database that the settings name; without one a local server is started and prepared.

    Raises:
        StorageError: The database cannot be used; says why and what to do.
    """
    if settings.database_url is None:
        url = await asyncio.to_thread(ensure_local, settings.data_folder / "postgres")
    else:
        url = settings.database_url
        await asyncio.to_thread(require_ready, url)
    engine = create_engine(url, pool_size=POOL_SIZE)
    application = Application(engine, settings)
    try:
        yield application
    finally:
        await application.aclose()


class Application:
    """What the ways in call; each method is one unit of work on the database."""

    def __init__(self, engine: AsyncEngine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._vectors = SentenceVectors() if settings.vectors else None
        self._loaded: dict[UUID, _Loaded] = {}
        # Two first questions of a tenant build it once.
        self._building = asyncio.Lock()
        # No more questions at once than there are connections: the rest wait here, outside the pool.
        self._admission = asyncio.Semaphore(POOL_SIZE)

    async def aclose(self) -> None:
        """Close every connection, ours and those of the tenants' sources."""
        for loaded in self._loaded.values():
            for connector in loaded.connectors:
                await connector.aclose()
        await self._engine.dispose()

    # Questions

    async def ask(self, request: AskRequest) -> Answered:
        """Answer one question and store its run, in one transaction.

        Raises:
            InvalidRequestError: A field of the request is wrong.
            NotFoundError: There is no such tenant.
        """
        async with self._admission, open_session(self._engine, tenant_id(request.tenant), snapshot=True) as session:
            loaded = await self._load(session, request.tenant)
            now = datetime.now(UTC)
            question = to_question(request, loaded.tenant, now=now)
            run = await answer(question, tenant=loaded.tenant, parts=loaded.parts, session=session)
            contract = outcome_json(run.outcome)
            if usable(session):
                await runs.record(session, run, contract)
                return Answered(run=run, contract=contract)
        # A lookup that was cut off took its transaction with it; what came of the question is kept all the same.
        async with open_session(self._engine, loaded.tenant.id) as session:
            await runs.record(session, run, contract)
        return Answered(run=run, contract=contract)

    async def receipt(self, tenant: str, run_id: str) -> dict[str, Any]:
        """The stored record of a run.

        Raises:
            NotFoundError: The tenant has no such run.
        """
        async with open_session(self._engine, tenant_id(tenant)) as session:
            found = await runs.load(session, _uuid("run", run_id))
        if found is None:
            raise NotFoundError("run", run_id, hint="`run_id` stands in the JSON of an outcome")
        return found

    async def escalations(self, tenant: str, *, limit: int) -> list[dict[str, Any]]:
        """The cases that wait, oldest first."""
        async with open_session(self._engine, tenant_id(tenant)) as session:
            await self._require(session, tenant)
            return await escalations.list_open(session, limit=limit)

    async def escalation(self, tenant: str, escalation_id: str) -> dict[str, Any]:
        """One case with its run.

        Raises:
            NotFoundError: The tenant has no such case.
        """
        async with open_session(self._engine, tenant_id(tenant)) as session:
            found = await escalations.show(session, _uuid("escalation", escalation_id))
        if found is None:
            raise NotFoundError("escalation", escalation_id, hint="`support-agent escalation list` shows them")
        return found

    # Tenants

    async def load_tenant(self, folder: Path, *, expected: str | None, progress: Progress) -> dict[str, Any]:
        """Load a tenant from its folder, all or nothing; the same folder again changes nothing.

        Raises:
            PolicyParseError: With every fault of every file.
        """
        read_ = await asyncio.to_thread(read_folder, folder)
        tenant = read_.tenant
        if expected is not None and expected != tenant.slug:
            raise InvalidRequestError("--tenant", f"differs from the tenant of the folder, {tenant.slug!r}")
        documents = await asyncio.to_thread(_documents, read_.documents, tenant, prefix="documents/")
        await self._check_sources(read_)
        progress(f"{tenant.slug}: {len(documents)} policy versions read, storing")
        async with open_session(self._engine, tenant.id) as session:
            changed = await tenants.save(session, tenant.slug, dict(read_.files))
            changed |= bool(await tenants.save_trial(session, orders=read_.orders, customers=read_.customers))
            published = await store.publish(
                session, documents, approval="imported", by="tenant load", embedder=self._vectors
            )
        return {
            "tenant": tenant.slug,
            "n_policies": len({document.policy for document in documents}),
            "n_versions": len(documents),
            "changed": changed or bool(published.added or published.corrected),
        }

    # Policies

    async def import_policies(  # noqa: PLR0913 - what the command may say
        self,
        folder: Path,
        tenant: str,
        *,
        publish: bool,
        create_tenant: bool,
        time_zone: str | None,
        authorities: str | None,
        overlay: Path | None,
        imported_by: str,
        progress: Progress,
    ) -> dict[str, Any]:
        """Read and check a folder of policies and, if asked to, publish all of it or nothing.

        Raises:
            PolicyParseError: With every fault of every file.
        """
        async with open_session(self._engine, tenant_id(tenant)) as session:
            found = await tenants.load(session)
            if found is None and not create_tenant:
                raise NotFoundError("tenant", tenant, hint="add --create-tenant to make it")
            files = found[0] if found else new_tenant_files(tenant, time_zone=time_zone, authorities=authorities)
            current = read_tenant(files, revision=0)
            if found is not None:
                _check_unchanged(current, time_zone=time_zone, authorities=authorities)
            if not await asyncio.to_thread(folder.is_dir):
                raise InvalidRequestError("FOLDER", "is not a folder")
            documents = await asyncio.to_thread(_documents, folder, current, overlay=overlay)
            report = {
                "tenant": tenant,
                "n_policies": len({document.policy for document in documents}),
                "n_versions": len(documents),
                "n_published": 0,
                "n_unchanged": 0,
            }
            if publish:
                progress(f"{tenant}: {report['n_versions']} versions read, publishing")
                await tenants.save(session, tenant, dict(files))
                done = await store.publish(
                    session, documents, approval="imported", by=imported_by, embedder=self._vectors
                )
                report |= {
                    "n_published": len(done.added) + len(done.corrected),
                    "n_unchanged": len(done.unchanged),
                }
        return report

    async def policy_versions(self, tenant: str, *, known_at: str | None) -> list[dict[str, Any]]:
        """Every version of every policy, by policy and start."""
        async with open_session(self._engine, tenant_id(tenant)) as session:
            zone = await self._require(session, tenant)
            found = await store.versions(session, known_at=read_instant("known-at", known_at, zone=zone))
        return [_version(version) for version in found]

    async def policies_as_of(
        self, tenant: str, at: str, *, policy: str | None, known_at: str | None
    ) -> list[dict[str, Any]]:
        """The version of each policy in force at an instant; `version` is null for a policy without one.

        Raises:
            NotFoundError: The tenant has no such policy.
        """
        async with open_session(self._engine, tenant_id(tenant)) as session:
            zone = await self._require(session, tenant)
            instant = read_instant("DATE", at, zone=zone) or datetime.now(UTC)
            known = read_instant("known-at", known_at, zone=zone)
            names = await store.policies(session)
            if policy is not None and policy not in names:
                raise NotFoundError("policy", policy, hint="`support-agent policy list` shows them")
            in_force = {v.policy: v for v in await store.versions_as_of(session, as_of=instant, known_at=known)}
        wanted = [policy] if policy is not None else names
        return [_version(in_force[name]) if name in in_force else {"policy": name, "version": None} for name in wanted]

    async def policy_document(self, tenant: str, name: str, *, known_at: str | None) -> dict[str, Any]:
        """One version with its text: `policy@version`, or the version of `policy` in force now.

        Raises:
            NotFoundError: There is no such policy or version, or none in force.
        """
        policy, _, version = name.partition("@")
        async with open_session(self._engine, tenant_id(tenant)) as session:
            zone = await self._require(session, tenant)
            known = read_instant("known-at", known_at, zone=zone)
            if not version:
                found = await store.as_of(session, policy, as_of=datetime.now(UTC), known_at=known)
                version = found.version if found else ""
            document = await store.show(session, policy, version, known_at=known) if version else None
        if document is None:
            raise NotFoundError("policy version", name, hint="`support-agent policy list` shows them")
        return {
            **_version(document.version),
            "text": document.text,
            "sha256": document.sha256,
            "approval": document.approval,
            "recorded_by": document.recorded_by,
            "clauses": [
                {"anchor": clause.anchor, "heading": clause.heading, "lines": list(clause.lines)}
                for clause in document.clauses
            ],
        }

    async def search_policies(
        self, tenant: str, text: str, *, at: str | None, staff: bool, limit: int
    ) -> list[dict[str, Any]]:
        """The passages in force nearest to `text`, best first."""
        if not text.strip():
            raise InvalidRequestError("TEXT", "is empty")
        async with open_session(self._engine, tenant_id(tenant)) as session:
            zone = await self._require(session, tenant)
            hits = await search.search(
                session,
                tokens=question_tokens(text),
                vector=await self._vectors.embed_query(text) if self._vectors else None,
                as_of=instant_period(read_instant("at", at, zone=zone) or datetime.now(UTC)),
                audiences=("public", "staff") if staff else ("public",),
                known={},
                groups={},
                topic=None,
                authorities=None,
                limit=limit,
            )
        return [
            {
                "clause": hit.clause.locator,
                "heading": hit.clause.heading,
                "quote": hit.text,
                "lines": list(hit.lines),
                "score": round(hit.score, 6),
                "found_by": list(hit.found_by),
            }
            for hit in hits
        ]

    # What tenants are made of

    async def _require(self, session: TenantSession, slug: str) -> ZoneInfo:
        """The zone of a tenant that exists."""
        return (await self._load(session, slug)).tenant.zone

    async def _load(self, session: TenantSession, slug: str) -> _Loaded:
        known = self._loaded.get(session.tenant_id)
        if known is not None and await tenants.revision(session) == known.tenant.revision:
            return known
        async with self._building:
            return await self._rebuilt(session, slug)

    async def _rebuilt(self, session: TenantSession, slug: str) -> _Loaded:
        known = self._loaded.get(session.tenant_id)
        stored = await tenants.load(session)
        if known is not None and stored is not None and stored[1] == known.tenant.revision:
            return known
        if stored is None:
            raise NotFoundError("tenant", slug, hint="`support-agent tenant load FOLDER` makes one")
        loaded = self._build(read_tenant(stored[0], revision=stored[1], trial=False))
        if known is not None:
            for connector in known.connectors:
                await connector.aclose()
        self._loaded[session.tenant_id] = loaded
        return loaded

    def _build(self, tenant: Tenant) -> _Loaded:
        records = load_connector_settings(tenant.connectors, facts=tenant.facts)
        if isinstance(records, list):
            raise InvalidRequestError("tenant.yaml", "; ".join(map(str, records)))
        sources = [self._record_connector(settings, tenant) for settings in records.values()]
        # A playbook that cannot do without a source this tenant has not connected would only ever ask in vain.
        there = {settings.source for settings in records.values()} | {"policy", "faq"}
        playbooks = tuple(p for p in tenant.playbooks if all(n.source in there for n in p.needs if n.critical))
        tenant = replace(tenant, playbooks=playbooks)
        ranks = frozenset(rank for rung in tenant.ladder.rungs for rank in rung)
        connectors: list[Connector] = [
            *sources,
            PolicyConnector(authorities=ranks, region_groups=tenant.region_groups, embedder=self._vectors),
        ]
        if RANK in ranks:
            connectors.append(FaqConnector(region_groups=tenant.region_groups, embedder=self._vectors))
        parts = Parts(
            connectors={connector.name: connector for connector in connectors},
            words=TenantWords.of(tenant),
            read=_reader(tenant),
            similarity=_Likeness(self._vectors, tenant.playbooks) if self._vectors else None,
            clock=time.monotonic,
            new_id=uuid4,
        )
        return _Loaded(tenant=tenant, parts=parts, connectors=tuple(sources))

    async def _check_sources(self, folder: TenantFolder) -> None:
        """Ask each source of records whether it fits its settings, before anything of the tenant is stored."""
        records = load_connector_settings(
            folder.tenant.connectors, facts=folder.tenant.facts, environment=self._settings.environment.keys()
        )
        faults = records if isinstance(records, list) else []
        for settings in () if isinstance(records, list) else records.values():
            connector = self._record_connector(settings, folder.tenant)
            try:
                faults += await connector.check(timeout_s=CHECK_TIMEOUT_S)
            finally:
                await connector.aclose()
            if settings.local:
                rows = folder.orders if settings.source == "orders" else folder.customers
                faults += trial_faults(rows, settings=settings)
        if faults:
            raise PolicyParseError(
                Fault(path=TENANT, message=fault.path, remedy=fault.problem) for fault in dict.fromkeys(faults)
            )

    def _record_connector(self, settings: RecordSettings, tenant: Tenant) -> Any:  # noqa: ANN401 - either of two connectors
        if settings.local:
            records: Any = TrialRecords("orders" if settings.source == "orders" else "profile")
        else:
            url = self._settings.environment.get(settings.connection)
            records = _foreign_records(settings, tenant, url)
        return {"orders": OrdersConnector, "profile": ProfileConnector}[settings.source](settings, records)


class _NotConnected:
    """Stands for a foreign database whose URL this process was not given, or cannot use: no lookup of it answers."""

    local = False

    def __init__(self, settings: RecordSettings, problem: str) -> None:
        self._settings = settings
        self._problem = f"the environment variable {settings.connection!r} {problem}"

    async def read(self, *_: object, **__: object) -> NoReturn:
        raise SourceUnavailableError(self._settings.source, waited_s=0.0, reason=self._problem)

    async def check(self, *, timeout_s: float) -> list[SettingsFault]:
        del timeout_s
        problem = f"{self._problem}; set it to the database's URL"
        return [SettingsFault(path=f"connectors.{self._settings.source}.connection", problem=problem)]

    async def aclose(self) -> None:
        """Nothing to close."""


def _foreign_records(settings: RecordSettings, tenant: Tenant, url: str | None) -> SqlRecords | _NotConnected:
    if not url:
        return _NotConnected(settings, "is not set")
    try:
        return SqlRecords(settings, url=url, tenant_id=tenant.id)
    except SourceContractError as error:
        return _NotConnected(settings, f"cannot be used ({error.problem})")


class _Likeness:
    """Cosines of a question to the examples of playbooks, whose vectors are made once."""

    def __init__(self, vectors: SentenceVectors, playbooks: Sequence[Playbook]) -> None:
        self._vectors = vectors
        self._playbooks = playbooks
        self._examples: dict[str, list[Sequence[float]]] | None = None

    async def __call__(self, text: str, playbooks: Sequence[Playbook]) -> Mapping[str, float]:
        if self._examples is None:
            self._examples = {
                playbook.id: list(
                    await self._vectors.embed_documents([e for texts in playbook.examples.values() for e in texts])
                )
                for playbook in self._playbooks
            }
        asked = await self._vectors.embed_query(text)
        return {playbook.id: _nearest(asked, self._examples[playbook.id]) for playbook in playbooks}


def _nearest(asked: Sequence[float], examples: Sequence[Sequence[float]]) -> float:
    import numpy as np  # noqa: PLC0415 - the encoder, which has just run, loaded it

    return float((np.asarray(examples) @ np.asarray(asked)).max()) if examples else 0.0


def _reader(tenant: Tenant) -> Callable[[Question], Reading]:
    pattern = re.compile(tenant.order_number)
    vocabulary = Vocabulary(tenant)

    def reader(question: Question) -> Reading:
        reading = read(
            question.text,
            asked_at=question.asked_at,
            zone=tenant.zone,
            date_order=tenant.date_order,
            locale=question.locale,
            default_language=tenant.locale,
            order_pattern=pattern,
        )
        return replace(reading, vocabulary=vocabulary.find(reading), signals=read_signals(reading.folded))

    return reader


def _documents(
    folder: Path, tenant: Tenant, *, overlay: Path | None = None, prefix: str = ""
) -> tuple[PolicyDocument, ...]:
    """The documents below `folder`; none when there is no such folder.

    Raises:
        PolicyParseError: With every fault of every file, their paths behind `prefix`.
    """
    # What reads Markdown is slow to load, and a question never needs it.
    from policies.front_matter import Surroundings  # noqa: PLC0415 - slow, as said above
    from policies.importing import read_policy_folder  # noqa: PLC0415 - slow, as said above

    if not folder.is_dir():
        return ()
    around = Surroundings(
        ladder=tenant.ladder,
        time_zone=tenant.time_zone,
        facts=tenant.facts,
        region_groups=frozenset(tenant.region_groups),
    )
    found = read_policy_folder(folder, around=around, overlay=overlay)
    if found.faults:
        raise PolicyParseError(replace(fault, path=prefix + fault.path) for fault in found.faults)
    return found.documents


def _check_unchanged(tenant: Tenant, *, time_zone: str | None, authorities: str | None) -> None:
    """Refuse flags for a new tenant that say otherwise than the one there is."""
    if time_zone is not None and time_zone != tenant.time_zone:
        raise TenantExistsError(tenant.slug, flag="--time-zone", has=tenant.time_zone)
    if authorities is not None and Ladder.parse(authorities) != tenant.ladder:
        ranks = ",".join("=".join(sorted(rung)) for rung in tenant.ladder.rungs)
        raise TenantExistsError(tenant.slug, flag="--authorities", has=ranks)


def _version(version: PolicyVersion) -> dict[str, Any]:
    zone, valid = version.zone, version.valid
    return {
        "policy": version.policy,
        "version": version.version,
        "title": version.title,
        "topic": version.topic,
        "language": version.language,
        "authority": version.authority,
        "audience": version.audience,
        "effective_from": point_json(valid.start, zone),
        "effective_to": point_json(valid.end, zone) if valid.end else None,
        "time_zone": version.time_zone,
        "governed_by": version.governed_by,
        "applies_to": {name: sorted(values) for name, values in version.applies_to.dimensions().items()},
        "recorded_from": version.recorded.start.isoformat(),
        "recorded_to": version.recorded.end.isoformat() if version.recorded.end else None,
    }


def _uuid(kind: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFoundError(kind, text[:64], hint="an id has 36 characters, such as those of `--json` output") from None
