"""Why a run could not go on. Conflict, missing evidence, refusal and escalation are values, not errors."""

from __future__ import annotations

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


class StorageError(SupportAgentError):
    """The database cannot be used as it stands."""

    code: ClassVar[str] = "storage"
