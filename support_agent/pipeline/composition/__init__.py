"""Compose: the claims of an answer, each with the numbers of the evidence it rests on, in the order they are said.

What is said comes from the playbook's wordings and the package's texts through a `Voice`; what may be said was decided
before. Figures are checked and evidence numbers become markers in `citation`.
"""

from __future__ import annotations

from support_agent.pipeline.composition.claims import Uncertainty, notes
from support_agent.pipeline.composition.questions import clarification_text, clarify, order_option
from support_agent.pipeline.composition.quoted import comparison_draft, conflict_draft, passage_draft
from support_agent.pipeline.composition.worded import Mismatch, next_step, worded_draft

__all__ = [
    "Mismatch",
    "Uncertainty",
    "clarification_text",
    "clarify",
    "comparison_draft",
    "conflict_draft",
    "next_step",
    "notes",
    "order_option",
    "passage_draft",
    "worded_draft",
]
