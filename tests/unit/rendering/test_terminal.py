from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from support_agent.domain.outcome import Escalation, Outcome, Status
from support_agent.domain.question import Language
from support_agent.rendering.contract import outcome_json
from support_agent.rendering.terminal import print_outcome
from tests.unit.rendering.test_contract import refund_outcome


def printed(outcome: Outcome, question: str, *, width: int = 80, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None)
    print_outcome(outcome, question=question, contract=outcome_json(outcome), console=console)
    return out.getvalue()


EXPECTED = """\
 answered  Can I still get a refund?

  No, Lumen Team 2025 can no longer be refunded: it was bought on 5 March
  2025, and the window of 14 days ended on 19 March 2025 [1][2][3]. What
  counts is the purchase date, 5 March 2025: our policy's version of 1
  February 2025 was in force then [1][2]. Its version of 1 January 2024 says
  30 days, but was not in force for that date [1][4].

    Next Reply here.
 Decided refund.eligible = false  refund-eu@2025-02-01#window
     [1] refund-eu@2025-02-01 · window · corporate · 2025-02-01 → · line 12
         “An annual plan can be refunded within 14 days of purchase if less than
         10% of the quota was used.”
     [2] SO-1182 · purchased_at · record
         “2025-03-05 14:03:00+01:00”
     [3] SO-1182 · item · record
         “Lumen Team 2025”
     [4] refund-eu@2024-01-01 · window · corporate · 2024-01-01 → 2025-02-01 ·
         line 12 · considered
         “An annual plan can be refunded within 30 days of purchase, however
         much of it was used.”
Conflict refund.window_days, settled by in force
         ✓ 14  refund-eu@2025-02-01#window
         ✗ 30  refund-eu@2024-01-01#window  (in force)

  order.purchased_at 2025-03-05 · 2 rounds · 3 lookups · 5 statements · 14 ms
  · 0192-7f
"""


def test_an_answer_in_a_pipe_is_plain_and_fits_eighty_columns() -> None:
    text = printed(refund_outcome(), "Can I still get a refund?")

    assert "\n".join(line.rstrip() for line in text.rstrip().splitlines()) == EXPECTED.rstrip()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(language: Language, width: int) -> None:
    text = printed(refund_outcome(language), "去年买的套餐现在还能退吗？" * 8, width=width)

    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_a_terminal_gets_colours() -> None:
    assert "\x1b[" in printed(refund_outcome(), "?", colour=True)


@pytest.mark.parametrize(
    "status", ["answered", "answered_with_conflict", "needs_clarification", "no_answer", "refused", "escalated"]
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_status_can_be_shown(status: Status, language: Language) -> None:
    bare = replace(
        refund_outcome(language),
        status=status,
        decision=None,
        governing_date=None,
        citations=(),
        conflicts=(),
        next_step=None,
        escalation=Escalation(id="e-1", reason="conflict", need=None) if status == "escalated" else None,
    )

    assert bare.answer[:10] in printed(bare, "?")


def test_data_is_neither_markup_nor_control_codes() -> None:
    hostile = replace(refund_outcome(), answer="[bold]x[/bold] \x1b[31mred [link=https://evil.example]y[/link]")

    text = printed(hostile, "[red]q[/red]\x1b[2J", colour=False)

    assert "[bold]x[/bold]" in text
    assert "[red]q[/red]" in text
    assert "\x1b" not in text
