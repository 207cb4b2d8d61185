"""What can be wrong with a policy: faults of written input, and the errors of the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong in one file, and what to do about it."""

    #: As the reader knows the file: relative to the folder that was read.
    path: str
    #: From 1; None when the fault is the file's as a whole.
    line: int | None = None
    #: From 1, in characters; given where the eye would not find the place.
    column: int | None = None
    message: str
    remedy: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part is not None)
        return f"{place}: {self.message}: {self.remedy}"

    @property
    def place(self) -> tuple[str, int, int, str]:
        """Sorts faults as a reader meets them."""
        return self.path, self.line or 0, self.column or 0, self.message


class PolicyError(Exception):
    code: ClassVar[str] = "policy_error"
    retryable: ClassVar[bool] = False


class PolicyParseError(PolicyError):
    """Written input was refused; all its faults at once, in reading order."""

    code = "policy_parse"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: Sequence[Fault] = tuple(sorted(faults, key=lambda fault: fault.place))
        super().__init__("\n".join(map(str, self.faults)))


class PolicyOverlapError(PolicyError):
    """Two published versions of one policy would be in force at once."""

    code = "policy_overlap"

    def __init__(self, policy: str, version: str, other: str, *, published: str | None = None) -> None:
        self.policy, self.version, self.other, self.published = policy, version, other, published
        standing = "" if published is None else f" ({published})"
        super().__init__(
            f"version {version!r} of policy {policy!r} is in force together with version {other!r}{standing}: "
            "change effective_from or effective_to of one of them so that they do not overlap"
        )


class PolicyStateError(PolicyError):
    """The store does not allow this step in the state that the policy is in."""

    code = "policy_state"

    def __init__(self, policy: str, version: str | None, *, problem: str, remedy: str) -> None:
        self.policy, self.version = policy, version
        name = f"policy {policy!r}" if version is None else f"version {version!r} of policy {policy!r}"
        super().__init__(f"{name}: {problem}: {remedy}")


class EmbeddingError(PolicyError):
    """The model that makes sentence vectors cannot be used."""

    code = "embedding"
    retryable = True

    def __init__(self, model: str, *, problem: str) -> None:
        self.model, self.problem = model, problem
        super().__init__(
            f"the embedding model {model!r} cannot be used: {problem}. Check its name, that pydantic-ai's package for "
            "its provider is installed, and that the provider's key is in the environment; then try again"
        )
