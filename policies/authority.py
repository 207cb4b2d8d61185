"""The ladder of ranks that decides who is heard when two sources disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

#: The rank whose clauses are minimums unless they say otherwise.
LAW: Final = "law"
#: The rank of pages that explain policies: it fills nothing that a policy leaves open.
FAQ: Final = "faq"


@dataclass(frozen=True, slots=True)
class Ladder:
    """Ranks from highest to lowest; ranks on one rung are equal."""

    rungs: tuple[frozenset[str], ...]
    _heights: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        heights = {rank: height for height, rung in enumerate(reversed(self.rungs)) for rank in rung}
        object.__setattr__(self, "_heights", heights)

    @classmethod
    def parse(cls, text: str) -> Ladder:
        """Read `law,contract=statute,faq`: highest first, `=` between equals.

        Raises:
            ValueError: A rank is empty or named twice.
        """
        return cls.of([part.split("=") for part in text.split(",")])

    @classmethod
    def of(cls, rungs: Iterable[str | Iterable[str]]) -> Ladder:
        """The ladder of `rungs`, highest first; a rung is a rank or several equal ones."""
        parts = [[rung] if isinstance(rung, str) else list(rung) for rung in rungs]
        names = [name.strip() for rung in parts for name in rung]
        if not all(names) or len(set(names)) != len(names):
            raise ValueError(f"each rank needs a name of its own: {names}")
        return cls(tuple(frozenset(name.strip() for name in rung) for rung in parts))

    def __contains__(self, rank: object) -> bool:
        return rank in self._heights

    def level(self, rank: str) -> int:
        """Height of `rank`: 0 is the lowest.

        Raises:
            KeyError: The ladder has no such rank.
        """
        return self._heights[rank]


DEFAULT_LADDER = Ladder.parse("law,contract,corporate,department,faq")
