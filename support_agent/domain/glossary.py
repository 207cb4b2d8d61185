"""What customers say for the terms of the documents, as a tenant has entered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Languages: TypeAlias = Literal["en", "zh", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryEntry:
    """A colloquial phrase, and the documents' term for it; both as they were entered, in either language."""

    says: str
    means: str
    #: Of the questions in which the phrase is read.
    language: Languages = "both"
