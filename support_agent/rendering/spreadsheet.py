"""Rows as CSV that a spreadsheet opens without running anything that stands in them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Final

#: A cell that begins so is a formula to a spreadsheet.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_line(cells: Sequence[object]) -> str:
    """One line of CSV with its end; text that would be a formula gets an apostrophe in front."""
    out = StringIO()
    csv.writer(out).writerow([_cell(cell) for cell in cells])
    return out.getvalue()


def csv_row(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """The line of one row, its cells in the order of `columns`."""
    return csv_line([row.get(column) for column in columns])


def _cell(value: object) -> str:
    text = "" if value is None else "; ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
