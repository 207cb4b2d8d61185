"""Why a run could not go on. Conflict, missing evidence, refusal and escalation are values, not errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


class SupportAgentError(Exception):
    """Base of all; the message says what happened, where, and what to do."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class RequestError(SupportAgentError):
    """The caller can fix it."""

    code: ClassVar[str] = "request"


class InvalidRequestError(RequestError):
    """A field of the request is missing or wrong; the message never repeats its value."""

    code: ClassVar[str] = "invalid_request"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class NotFoundError(RequestError):
    """No such run, escalation, policy or tenant within the caller's tenant."""

    code: ClassVar[str] = "not_found"

    def __init__(self, kind: str, name: str, *, hint: str = "") -> None:
        super().__init__(f"there is no {kind} {name!r}{'; ' + hint if hint else ''}")
        self.kind = kind
        self.name = name


class TenantExistsError(RequestError):
    """A flag that is for a new tenant says otherwise than the tenant there is."""

    code: ClassVar[str] = "tenant_exists"

    def __init__(self, slug: str, *, flag: str, has: str) -> None:
        super().__init__(f"tenant {slug!r} exists and has {has!r}; leave {flag} out, or change it by `tenant load`")


class GlossaryRefusedError(RequestError):
    """An entry of the glossary would mislead; the message names every reason."""

    code: ClassVar[str] = "glossary_refused"

    def __init__(self, says: str, reasons: Sequence[str]) -> None:
        super().__init__(f"{says!r} is not added: {'; '.join(reasons)}")
        self.says = says
        self.reasons = tuple(reasons)


class FourEyesError(RequestError):
    """The tenant lets no policy change without a second person, and a bulk import has none."""

    code: ClassVar[str] = "four_eyes"

    def __init__(self, name: str, *, n_more: int) -> None:
        others = f" and {n_more} more" if n_more else ""
        super().__init__(
            f"{name}{others} would change, and this tenant requires a second person for each change (four_eyes in "
            "tenant.yaml); use `policy submit`, `approve` and `publish`"
        )


class StorageError(SupportAgentError):
    """The database cannot be used as it stands."""

    code: ClassVar[str] = "storage"


class LocalServerError(StorageError):
    """The PostgreSQL that we start ourselves cannot be used; the message names the way out."""

    code: ClassVar[str] = "local_server"

    def __init__(self, folder: Path, *, problem: str, remedy: str) -> None:
        super().__init__(f"local PostgreSQL in {str(folder)!r}: {problem}. {remedy}")
        self.folder = folder
        self.problem = problem
        self.remedy = remedy


class DatabaseUnavailableError(StorageError):
    """No server answers where the URL points."""

    code: ClassVar[str] = "database_unavailable"
    retryable: ClassVar[bool] = True

    def __init__(self, place: str, *, problem: str) -> None:
        super().__init__(
            f"no PostgreSQL answers at {place}: {problem}. Check that the server runs and that DATABASE_URL names its "
            "host, port, user and password, or unset DATABASE_URL to use a local server"
        )
        self.place = place
        self.problem = problem


class DatabaseNotReadyError(StorageError):
    """The server answers, but roles, extensions or tables are missing, or it is too old."""

    code: ClassVar[str] = "database_not_ready"

    def __init__(self, place: str, *, problem: str, remedy: str) -> None:
        super().__init__(f"the database at {place} is not ready: {problem}. {remedy}")
        self.place = place
        self.problem = problem
        self.remedy = remedy


class TenantLeakError(StorageError):
    """A pooled connection came back with a tenant still set: it was closed and nothing was read through it."""

    code: ClassVar[str] = "tenant_leak"

    def __init__(self) -> None:
        super().__init__("a pooled connection still had a tenant set; it was closed. Try again, and report this")


class ConcurrentUpdateError(StorageError):
    """Others changed the tenant each time that its state was needed to stand still."""

    code: ClassVar[str] = "concurrent_update"
    retryable: ClassVar[bool] = True

    def __init__(self, tenant: str) -> None:
        super().__init__(f"others publish policies of tenant {tenant!r} all the time; try again when they are done")
        self.tenant = tenant
