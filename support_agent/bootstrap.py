"""The composition root: the one module that names concrete connectors, storage, encoder and words."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, NoReturn
from uuid import UUID, uuid4

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
from policies.embedding import SentenceVectors
from policies.errors import Fault, PolicyParseError
from policies.reembedding import vector_model
from policies.session import TenantSession
from support_agent.domain.playbook import Playbook
from support_agent.domain.question import Question
from support_agent.domain.reading import Reading
from support_agent.domain.run import Run
from support_agent.domain.tenant import Tenant, tenant_id
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.language.glossary import Glossary
from support_agent.language.reading import read
from support_agent.language.signals import read_signals
from support_agent.language.vocabulary import Vocabulary
from support_agent.pipeline.ports import Parts
from support_agent.pipeline.run import answer
from support_agent.rendering.contract import outcome_json
from support_agent.rendering.wording import TenantWords
from support_agent.request import AskRequest, to_question
from support_agent.settings import Settings
from support_agent.storage import escalations, runs, tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.schema import ensure_local, require_ready
from support_agent.storage.tenancy import open_session, usable
from support_agent.tenants.folder import TENANT, TenantFolder, read_tenant

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
class Rehearsal:
    """One snapshot of a tenant in which questions are answered; what is written in it is seen by them and never kept.

    Settings are those before anything was written.
    """

    session: TenantSession
    tenant: Tenant
    parts: Parts

    async def ask(self, question: Question) -> Run:
        """Answer a question as the snapshot stands, recording nothing."""
        return await answer(question, tenant=self.tenant, parts=self.parts, session=self.session)

    def usable(self) -> bool:
        """Whether it can go on: a lookup that was cut off took the transaction with it."""
        return usable(self.session)


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
        async with self.open_tenant(tenant) as (session, _):
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

    # Work on one tenant, for `support_agent.administration`

    @property
    def vectors(self) -> SentenceVectors | None:
        """Makes sentence vectors, by the local encoder or `of` another model; None where they are switched off."""
        return self._vectors

    def open_session(self, slug: str) -> AbstractAsyncContextManager[TenantSession]:
        """A transaction for a tenant that need not exist yet; committed at the end, rolled back on an error."""
        return open_session(self._engine, tenant_id(slug))

    @asynccontextmanager
    async def open_tenant(self, slug: str) -> AsyncIterator[tuple[TenantSession, Tenant]]:
        """A transaction for a tenant that exists, with its settings.

        Raises:
            NotFoundError: There is no such tenant.
        """
        async with self.open_session(slug) as session:
            yield session, (await self._load(session, slug)).tenant

    @asynccontextmanager
    async def rehearse(self, slug: str) -> AsyncIterator[Rehearsal]:
        """A transaction in which a tenant that exists is tried out; always rolled back.

        Raises:
            NotFoundError: There is no such tenant.
        """
        async with open_session(self._engine, tenant_id(slug), snapshot=True, keep=False) as session:
            # Before anything is written: what is loaded afterwards would be kept for a revision that never was.
            loaded = await self._load(session, slug)
            yield Rehearsal(session=session, tenant=loaded.tenant, parts=loaded.parts)

    async def check_sources(self, folder: TenantFolder) -> None:
        """Ask each source of records whether it fits its settings, before anything of the tenant is stored.

        Raises:
            PolicyParseError: With everything that does not fit.
        """
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

    # What tenants are made of

    async def _load(self, session: TenantSession, slug: str) -> _Loaded:
        known = self._loaded.get(session.tenant_id)
        if known is not None and await tenants.revision(session) == known.tenant.revision:
            return known
        async with self._building:
            return await self._rebuilt(session, slug)

    async def _rebuilt(self, session: TenantSession, slug: str) -> _Loaded:
        known = self._loaded.get(session.tenant_id)
        stored = await tenants.load(session)
        if known is not None and stored is not None and stored.revision == known.tenant.revision:
            return known
        if stored is None:
            raise NotFoundError("tenant", slug, hint="`support-agent tenant load FOLDER` makes one")
        vectors = None if self._vectors is None else self._vectors.of(await vector_model(session))
        tenant = read_tenant(stored.settings, revision=stored.revision, trial=False)
        loaded = self._build(replace(tenant, glossary=stored.glossary), vectors)
        if known is not None:
            for connector in known.connectors:
                await connector.aclose()
        self._loaded[session.tenant_id] = loaded
        return loaded

    def _build(self, tenant: Tenant, vectors: SentenceVectors | None) -> _Loaded:
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
            PolicyConnector(authorities=ranks, region_groups=tenant.region_groups, embedder=vectors),
        ]
        if RANK in ranks:
            connectors.append(FaqConnector(region_groups=tenant.region_groups, embedder=vectors))
        parts = Parts(
            connectors={connector.name: connector for connector in connectors},
            words=TenantWords.of(tenant),
            read=reader_of(tenant),
            conversation=runs.earlier,
            similarity=Likeness(self._vectors, tenant.playbooks) if self._vectors else None,
            clock=time.monotonic,
            new_id=uuid4,
        )
        return _Loaded(tenant=tenant, parts=parts, connectors=tuple(sources))

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


class Likeness:
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


def reader_of(tenant: Tenant) -> Callable[[Question], Reading]:
    """What reads the questions to a tenant, by its order numbers, its dates, its words and its glossary."""
    pattern = re.compile(tenant.order_number)
    vocabulary, glossary = Vocabulary(tenant), Glossary(tenant.glossary)

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
        return replace(
            reading,
            vocabulary=vocabulary.find(reading),
            glosses=glossary.find(reading),
            signals=read_signals(reading.folded),
        )

    return reader


def _uuid(kind: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFoundError(kind, text[:64], hint="an id has 36 characters, such as those of `--json` output") from None
