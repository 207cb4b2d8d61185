"""What a benchmark prints: a title, a table under it, and a line for each goal."""

from __future__ import annotations

from collections.abc import Sequence


def title(text: str, *, columns: Sequence[str] = ()) -> None:
    print(f"\n\n{text}\n{'-' * len(text)}")
    if columns:
        print(f"{'':28}" + "".join(f"{column:>9}" for column in columns))


def goal(number: int, what: str, figure: float, bound: float, *, at_least: bool = False) -> None:
    """A goal of which `figure` was reached: at most `bound`, or at least."""
    met = figure >= bound if at_least else figure <= bound
    sign = ">=" if at_least else "<="
    print(f"  goal {number:<3}{'reached' if met else 'MISSED':12}{figure:6.2f}  {sign} {bound:<6g}  {what}")
