"""The composition root: the one module that names concrete connectors, storage, encoder and words."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from connectors.base import Connector
from policies.errors import PolicyStateError
from policies.session import TenantSession
from policies.version import PolicyVersion
from support_agent.domain.run import Run
from support_agent.domain.tenant import Tenant, tenant_id
from support_agent.errors import InvalidRequestError, NotFoundError
from support_agent.pipeline.run import Parts, answer
from support_agent.request import AskRequest, to_question
from support_agent.settings import Settings
from support_agent.storage import escalations, runs, tenants
from support_agent.storage.engine import create_engine
from support_agent.storage.tenancy import open_session

POOL_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A run and its outcome as the JSON contract has it."""

    run: Run
    contract: Mapping[str, Any]
