from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policies.applicability import Applicability
from policies.authority import DEFAULT_LADDER, Ladder
from support_agent.domain.conflict import Resolution, Situation
from support_agent.pipeline.resolution import Spoken, resolve_passages
from tests.factories import at, make_clause, make_version, where
from tests.unit.pipeline.refund import passage

ASKED_AT = at("2026-11-30T12:00:00Z")
SITUATION = Situation(asked_at=ASKED_AT, ladder=DEFAULT_LADDER, general=True)


def says(
    quote: str,
    policy: str = "shop",
    *,
    standing: float = 2.0,
    anchor: str = "window",
    start: str = "2024-01-01",
    clause_applies_to: Applicability | None = None,
    **version: Any,
) -> Spoken:
    made = make_version(policy, start, **{"governed_by": None, "topic": policy, "title": policy, **version})
    clause = make_clause(made, anchor, applies_to=clause_applies_to)
    return Spoken(evidence=passage(clause, quote), clause=clause, standing=standing)


def weighed(*spoken: Spoken, question: str = "How long can I return goods?", **known: str | None) -> Resolution | None:
    ordered = sorted(spoken, key=lambda one: -one.standing)
    return resolve_passages(ordered, question=question, situation=replace(SITUATION, known=known))


def removed(resolution: Resolution | None) -> dict[str, str | None]:
    assert resolution is not None
    assert resolution.conflict is not None
    return {judged.candidate.evidence.locator.document: judged.removed_by for judged in resolution.conflict.candidates}


SHOP = says("You can return goods within 14 days of delivery.", standing=2.2)
FAQ = says("Goods can be returned within 30 days of delivery.", "questions", authority="faq")


def test_higher_rank_prevails_over_what_says_the_same_in_other_figures() -> None:
    found = weighed(replace(FAQ, standing=2.4), SHOP)

    assert removed(found) == {"shop": None, "questions": "authority"}
    assert found is not None
    assert found.need == "passages"
    assert found.winner is not None
    assert found.winner.value == "14 days"


def test_equal_ranks_leave_it_open() -> None:
    found = weighed(SHOP, says("Goods can be returned within 30 days of delivery.", "other"))

    assert removed(found) == {"shop": None, "other": None}
    assert found is not None
    assert found.status == "open"


@pytest.mark.parametrize(
    "other",
    [
        says("Goods can be returned within two weeks of delivery.", "questions", authority="faq"),
        says("The warranty lasts 24 months.", "questions", authority="faq"),
        says("Goods can be returned in their box.", "questions", authority="faq"),
        replace(FAQ, standing=1.0),
    ],
    ids=["agrees", "says another thing", "has no figure", "hardly speaks"],
)
def test_whatever_else_was_found_is_no_contradiction(other: Spoken) -> None:
    assert weighed(SHOP, other) is None


def test_words_may_differ_more_where_the_question_names_the_figures() -> None:
    law = says("The consumer may withdraw within 14 days of the goods' arrival.", "law", authority="law", standing=2.2)
    page = says("Anything unused can be sent back for 30 days: goods, parts, wishes of the consumer.", "page")

    assert weighed(law, page) is None
    assert removed(weighed(law, page, question="Is it 14 or 30 days? Your page says 30 days, the law 14 days.")) == {
        "law": None,
        "page": "authority",
    }


def test_original_prevails_over_its_stale_translation_which_is_named() -> None:
    original = says("The notices go out 20 and 10 days before.", "mail", start="2025-01-01", standing=1.9)
    translation = says("提前 20 天、10 天和 1 天发送提醒", "mail-zh", language="zh", rendition_of="mail", standing=2.4)
    found = weighed(original, translation, question="到期前 1 天还发提醒吗？")

    assert removed(found) == {"mail": None, "mail-zh": "rendition"}
    assert found is not None
    assert found.stale_renditions == ("mail-zh",)


def test_translation_of_the_same_age_differs_only_where_no_figure_is_shared() -> None:
    original = says("Notices go out 10 days before.", "mail")
    agreeing = says("提前 10 天和 1 天发送提醒", "mail-zh", language="zh", rendition_of="mail")
    differing = says("提前 7 天发送提醒", "mail-zh", language="zh", rendition_of="mail")

    assert weighed(original, agreeing) is None
    assert removed(weighed(original, differing)) == {"mail": None, "mail-zh": "rendition"}


GENERAL = says("If you are not happy, you can have your money back.", "refund", title="Refund policy", standing=2.4)
SPECIAL = says(
    "The remaining whole months are paid back.", "refund-one", title="Refund policy for One", standing=1.9,
    applies_to=where(plans="one"),
)  # fmt: skip


def test_special_rule_prevails_where_the_question_names_its_scope() -> None:
    assert removed(weighed(GENERAL, SPECIAL, question="I left One early, what do I get?")) == {
        "refund": "specificity",
        "refund-one": None,
    }


def test_general_rule_stands_where_nobody_spoke_of_the_special_one() -> None:
    assert weighed(GENERAL, SPECIAL, question="What do I get?") is None
    assert weighed(GENERAL, replace(SPECIAL, standing=1.0), question="I left One early") is None


def test_policies_on_other_subjects_are_neither_general_nor_special() -> None:
    shipping = says("We send it within a day.", "ship", title="Shipping", standing=2.4)

    assert weighed(shipping, SPECIAL, question="Where is my One?") is None


def test_exception_in_the_same_version_prevails_over_the_list() -> None:
    entry = says("Texas", "taxes", anchor="list", standing=2.4)
    exception = says("One is not taxed.", "taxes", anchor="one", clause_applies_to=where(plans="one"))
    found = weighed(entry, exception, question="I live in Texas and use One. Is it taxed?")

    assert found is not None
    assert found.winner is not None
    assert found.winner.evidence == exception.evidence


def test_local_rule_that_adds_to_the_law_is_not_outranked() -> None:
    title = "Consumer protection"
    local = says(
        "A repair takes 30 days at most.", "local", title=f"{title} in Shandong", authority="department",
        applies_to=where(regions="CN-SD"), standing=2.4,
    )  # fmt: skip
    law = says(
        "Defective goods can be returned for 7 days.", "law", title=title, authority="law",
        applies_to=where(regions="CN"), anchor="24",
    )  # fmt: skip
    further = says("Costs are borne by the trader.", "law", title=title, authority="law", anchor="25", standing=2.3)
    found = weighed(local, law, further, regions="CN-SD")

    assert removed(found) == {"local": None, "law": "specificity"}
    assert found is not None
    assert found.conflict is not None
    assert law.evidence in [judged.candidate.evidence for judged in found.conflict.candidates]


def test_rule_for_others_is_named_where_it_speaks_best() -> None:
    law = says("Goods can be returned for 7 days.", "law", authority="law", applies_to=where(regions="CN"))
    local = says("A repair takes 30 days at most.", "local", applies_to=where(regions="CN-SD"), standing=2.4)

    assert removed(weighed(law, local, regions="CN-BJ")) == {"law": None, "local": "applies"}
    assert weighed(law, replace(local, standing=1.9), regions="CN-BJ") is None
    assert weighed(local, regions="CN-BJ") is None


def test_declared_replacement_prevails_over_what_it_replaces() -> None:
    older = says("Write to us to cancel.", "terms", standing=2.4)
    newer = says("Cancel in your account.", "terms-2", supersedes=["terms"])
    lower = says("Cancel by phone.", "desk", authority="department", supersedes=["terms"])

    assert removed(weighed(older, newer)) == {"terms": "declared_relation", "terms-2": None}
    assert weighed(older, lower) is None


def test_amendment_must_say_the_same_thing_unless_it_leads() -> None:
    amended = says("You can return goods within 14 days of delivery.", "terms", standing=2.4)
    further = says("We deliver on Sundays.", "addendum", amends=["terms"])
    other = says("You can return goods within 20 days of delivery.", "addendum", amends=["terms#window"])

    assert weighed(amended, further) is None
    assert removed(weighed(amended, other)) == {"terms": "declared_relation", "addendum": None}


def test_side_in_a_region_that_nobody_stated_is_asked_about() -> None:
    found = weighed(SHOP, replace(FAQ, clause=replace(FAQ.clause, applies_to=where(regions="EU"))))
    unknown = says("Goods can be returned within 30 days of delivery.", "eu", applies_to=where(regions="EU"))

    assert found is not None
    found = weighed(SHOP, unknown)
    assert found is not None
    assert found.status == "needs_fact"
    assert found.needs_facts == {"regions"}


def test_ladder_of_the_tenant_s_own_ranks_decides() -> None:
    ladder = Ladder.parse("national_law,department_rule,local_regulation")
    law = says("自收到退回商品之日起七日内返还价款", "law", authority="national_law")
    rule = says("自收到退回商品之日起超过十五日未返还价款的", "rule", authority="department_rule", standing=2.4)
    found = resolve_passages([rule, law], question="几天内退款？", situation=replace(SITUATION, ladder=ladder))

    assert removed(found) == {"law": None, "rule": "authority"}


def test_nothing_found_is_no_contradiction() -> None:
    assert weighed() is None
    assert weighed(SHOP) is None


def test_order_of_what_stands_equally_changes_nothing() -> None:
    spoken = [SHOP, replace(FAQ, standing=SHOP.standing)]

    assert removed(weighed(*spoken)) == removed(weighed(*reversed(spoken)))
