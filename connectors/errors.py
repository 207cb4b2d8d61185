"""Why a source could not be read."""

from __future__ import annotations

from typing import ClassVar


class SourceError(Exception):
    """A source failed; `source` names it."""

    code: ClassVar[str] = "source_error"
    retryable: ClassVar[bool] = False

    def __init__(self, source: str, message: str) -> None:
        super().__init__(message)
        self.source = source


class SourceUnavailableError(SourceError):
    """The source did not answer in time, or not at all."""

    code: ClassVar[str] = "source_unavailable"
    retryable: ClassVar[bool] = True

    def __init__(self, source: str, *, waited_s: float, reason: str = "no answer") -> None:
        super().__init__(source, f"source {source!r} is unavailable after {waited_s:.1f} s: {reason}")
        self.waited_s = waited_s


class SourceContractError(SourceError):
    """The source's answer breaks its declaration: a missing column, a wrong type, a null where none may be."""

    code: ClassVar[str] = "source_contract"

    def __init__(self, source: str, *, field: str, problem: str) -> None:
        super().__init__(source, f"source {source!r} broke its declaration at {field!r}: {problem}")
        self.field = field
        self.problem = problem
