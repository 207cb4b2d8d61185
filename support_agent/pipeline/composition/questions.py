"""The one question back to the customer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policies.facts import FactValue
from support_agent.domain.outcome import Clarification
from support_agent.domain.playbook import Wording
from support_agent.pipeline.ports import Voice


def clarify(
    need: str, voice: Voice, *, options: Sequence[str] = (), ask: Wording | None = None, written: str = ""
) -> Clarification:
    """One question back.

    Args:
        need: `order`, `customer`, `topic`, `date`, `passages`, or the fact to be stated.
        options: What can be chosen from, as people read it (`order_option`).
        ask: The playbook's own question for this fact.
        written: The date as the customer wrote it.
    """
    match need:
        case "order":
            question = voice.own("clarify_order", several=bool(options))
        case "date":
            question = voice.own("clarify_date", text=written)
        case "passages":
            question = voice.own("clarify_passage")
        case "topic" | "customer":
            question = voice.own(f"clarify_{need}")
        case _:
            asked = voice.tenant(ask, {}) if ask is not None else None
            question = asked or voice.own("clarify_fact", label=voice.label(need))
    return Clarification(need=need, question=question, options=tuple(options))


def order_option(facts: Mapping[str, FactValue], number: str, voice: Voice) -> str:
    """One order to choose: its number, item and purchase date as far as they are known."""
    item, bought = facts.get("order.item"), facts.get("order.purchased_at")
    return voice.own("order_option", number=number, item=item, purchased_at=bought)


def clarification_text(clarification: Clarification) -> str:
    """The question with its options as a list: what the customer reads."""
    return "\n".join([clarification.question, *(f"- {option}" for option in clarification.options)])
