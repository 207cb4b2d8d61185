"""CSV that a spreadsheet opens: formulas are text, and every cell comes back."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from support_agent.rendering.spreadsheet import csv_line, csv_row


@pytest.mark.parametrize(
    "text", ['=HYPERLINK("https://evil.example","x")', "+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1"], ids=repr
)
def test_formula_is_text(text: str) -> None:
    ((cell,),) = csv.reader(StringIO(csv_line([text]), newline=""))

    assert cell == f"'{text}"


def test_cells_come_back_as_they_were() -> None:
    row = {"question": '还能退吗？ "now", please\nthanks', "n": 3, "clauses": ["a#b", "c#d"], "customer": None}

    (cells,) = csv.reader(StringIO(csv_row(row, ("question", "n", "clauses", "customer")), newline=""))

    assert cells == [row["question"], "3", "a#b; c#d", ""]
