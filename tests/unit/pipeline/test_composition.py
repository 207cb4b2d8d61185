"""What an answer says, word for word, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from connectors.base import Evidence, Locator, evidence_key
from policies.version import Period
from support_agent.domain.claim import Draft, Grounds
from support_agent.domain.conflict import Candidate, GoverningDate
from support_agent.domain.outcome import Clarification
from support_agent.domain.playbook import ClaimWording, NextStep
from support_agent.domain.question import Language
from support_agent.pipeline.citation import Composition, finish
from support_agent.pipeline.composition import (
    Mismatch,
    Uncertainty,
    clarification_text,
    clarify,
    comparison_draft,
    conflict_draft,
    next_step,
    notes,
    order_option,
    passage_draft,
    worded_draft,
)
from support_agent.pipeline.extract import sought
from tests.factories import ELIGIBLE, PURCHASED_AT, WINDOW, at, make_clause, make_version
from tests.unit.pipeline.refund import (
    ASKED_AT,
    BOUGHT,
    BOUGHT_AT,
    CONFLICT,
    DECISION,
    EVIDENCE,
    FACTS,
    GROUNDS,
    NEW,
    NEW_RULE,
    NEW_WINDOW,
    OLD,
    OLD_WINDOW,
    QUOTES,
    REFUSAL,
    RESOLUTIONS,
    RULE,
    VALUES,
    ZONE,
    passage,
    refund_version,
    said_by,
    voice,
)

OLD_PASSAGE, NEW_PASSAGE = passage(OLD, QUOTES["2024-01-01"]), passage(NEW, QUOTES["2025-02-01"])
FAQ = passage(
    make_clause(make_version("faq-returns", "2026-01-01", time_zone=ZONE, authority="faq", governed_by=None)),
    "Returns are free within 30 days.",
)
NEXT_YEAR = passage(make_clause(refund_version("2027-01-01")), "A plan can be refunded within 21 days.")
MAY = Period(start=at("2025-05-01T00:00+02:00"), end=at("2025-06-01T00:00+02:00"))
EVERYTHING = replace(GROUNDS, evidence=(*EVIDENCE, OLD_PASSAGE, NEW_PASSAGE, FAQ, NEXT_YEAR))
OPEN = replace(
    CONFLICT,
    settled_by=None,
    winner=None,
    candidates=tuple(replace(judged, removed_by=None) for judged in CONFLICT.candidates),
)


def finished(draft: Draft, language: Language = "en", grounds: Grounds = EVERYTHING) -> Composition:
    return finish(draft, grounds, language=language, zone=voice().zone)


def answer(draft: Draft, language: Language = "en", grounds: Grounds = EVERYTHING) -> str | None:
    return finished(draft, language, grounds).answer


DECIDED = {
    "en": "No, Lumen Team 2025 can no longer be refunded: it was bought on 5 March 2025, and the window of 14 days "
    "ended on 19 March 2025 [1][2][3]. What counts is the purchase date, 5 March 2025: our policy's version of "
    "1 February 2025 was in force then [1][2]. Its version of 1 January 2024 says 30 days, but was not in force for "
    "that date [1][4].",
    "zh": "不能退款了：Lumen Team 2025购买于2025年3月5日，退款期限为14天，已于2025年3月19日结束[1][2][3]。以购买时间"
    "（2025年3月5日）为准：当时有效的是2025年2月1日起的政策版本[1][2]。2024年1月1日起的版本的说法是：30天，但在该日期"
    "并不适用[1][4]。",
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_decision_names_its_date_its_version_and_what_settled_the_conflict(language: Language) -> None:
    draft = worded_draft([REFUSAL], GROUNDS, voice(language), decision=DECISION, resolutions=RESOLUTIONS)

    made = finished(draft, language)

    assert made.answer == DECIDED[language]
    assert [(c.document, c.clause, c.role) for c in made.citations] == [
        ("refund-eu", "window", "governing"),
        ("SO-1182", "purchased_at", "governing"),
        ("SO-1182", "item", "governing"),
        ("refund-eu", "window", "considered"),
    ]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            (
                "You named 1 May 2025 to 31 May 2025 as the purchase date, but our record says 5 March 2025, and the "
                "record counts [2]."
            ),
        ),
        ("zh", "您所说的购买时间为2025年5月1日至2025年5月31日，而我们的记录为2025年3月5日，以记录为准[2]。"),
    ],
)
def test_a_contradicted_assertion_is_named(language: Language, sentence: str) -> None:
    assert MAY.end is not None
    grounds = replace(GROUNDS, stated={PURCHASED_AT: (MAY.start, MAY.end)})
    mismatch = Mismatch(fact=PURCHASED_AT, stated=MAY, record=BOUGHT)

    draft = worded_draft([REFUSAL], grounds, voice(language), decision=DECISION, mismatches=[mismatch])

    assert sentence in (answer(draft, language, grounds) or "")


def test_what_only_the_customer_says_is_named_as_such() -> None:
    locator = Locator(document="question", version=None, clause="claim.reason")
    said = Evidence(
        key=evidence_key("customer", locator, "illness"),
        source="customer",
        locator=locator,
        need="claim.reason",
        value="illness",
        quote="illness",
        authority="assertion",
    )
    grounds = replace(GROUNDS, evidence=(*EVIDENCE, said), of={**GROUNDS.of, "claim.reason": said})
    decision = replace(DECISION, inputs={**DECISION.inputs, "claim.reason": "illness"})

    text = answer(worded_draft([REFUSAL], grounds, voice(), decision=decision), grounds=grounds)

    assert "This rests on what you told us and no record confirms: reason: illness [4]." in (text or "")


def test_a_sentence_about_what_was_not_found_is_left_out() -> None:
    extra = ClaimWording(
        text={"en": "You paid {{ order.amount_minor | money('EUR') }}.", "zh": "…"}, cites=("order.paid",)
    )
    undefined = ClaimWording(text={"en": "It is {{ order.colour }}.", "zh": "…"}, cites=(PURCHASED_AT,))

    draft = worded_draft([extra, undefined, REFUSAL], GROUNDS, voice(), decision=DECISION)

    assert [claim.text.split()[0] for claim in draft.claims] == ["No,"]


def test_without_a_sentence_on_the_rule_there_is_no_answer() -> None:
    other = ClaimWording(text={"en": "It was bought.", "zh": "…"}, cites=(PURCHASED_AT,))

    draft = worded_draft([other], GROUNDS, voice(), decision=DECISION)

    assert draft.claims == ()
    assert answer(draft) is None


def test_a_clause_whose_value_the_rule_used_is_cited_though_no_sentence_names_it() -> None:
    quota_clause = make_clause(make_version("quota-rules", "2024-06-01", title="Quota rules"), "limit")
    law_clause = make_clause(make_version("law", "2014-01-01", title="Withdrawal law"), "period")
    quota = said_by(quota_clause, "quota.limit_bp", 1000, "At most 10% may be used.")
    law = said_by(law_clause, WINDOW, 14, "Fourteen days.")
    grounds = replace(
        GROUNDS,
        evidence=(*EVIDENCE, quota, law),
        of={**GROUNDS.of, "quota.limit_bp": quota, WINDOW: law},
    )
    decision = replace(DECISION, inputs={**DECISION.inputs, "quota.limit_bp": 1000})

    made = finished(worded_draft([REFUSAL], grounds, voice(), decision=decision), grounds=grounds)

    assert made.answer is not None
    assert made.answer.endswith("The rule also uses “limit” of “Quota rules” [5].")
    assert {citation.document for citation in made.citations} == {"refund-eu", "law", "SO-1182", "quota-rules"}


def test_a_version_carried_over_by_a_transition_is_called_that() -> None:
    later = GoverningDate(period=Period(start=at("2024-05-01"), end=at("2024-05-02")), origin=PURCHASED_AT)
    carried = [replace(resolution, governing_date=later) for resolution in RESOLUTIONS]
    grounds = replace(GROUNDS, stated={PURCHASED_AT: (later.period.start,)})

    text = answer(worded_draft([REFUSAL], grounds, voice(), decision=DECISION, resolutions=carried), grounds=grounds)

    assert "by its transition rule, our policy's version of 1 February 2025 applies" in (text or "")


def test_the_day_of_the_question_may_govern() -> None:
    today = GoverningDate(period=Period(start=ASKED_AT, end=at("2026-11-30T12:00:00.000001+01:00")), origin="asked_at")
    resolutions = [replace(resolution, governing_date=today) for resolution in RESOLUTIONS]

    text = answer(worded_draft([REFUSAL], GROUNDS, voice(), decision=DECISION, resolutions=resolutions))

    assert "What counts is the day you ask, 30 November 2026:" in (text or "")


@pytest.mark.parametrize(
    ("hit", "language", "text"),
    [
        (
            NEW_PASSAGE,
            "en",
            (
                f"Our policy of 1 February 2025 says: “{QUOTES['2025-02-01']}” [1] An order you "
                f"already have follows the "
                "version in force on its own purchase date [1]."
            ),
        ),
        (
            NEW_PASSAGE,
            "zh",
            f"我们2025年2月1日起的政策规定：“{QUOTES['2025-02-01']}”[1]。已有订单适用其购买时间当日有效的版本[1]。",
        ),
        (FAQ, "en", "Our FAQ of 1 January 2026 says: “Returns are free within 30 days.” [1]"),
        (FAQ, "zh", "我们2026年1月1日起的常见问题解答规定：“Returns are free within 30 days.”[1]。"),
        (
            NEXT_YEAR,
            "en",
            (
                "Our policy of 1 January 2027 says: “A plan can be refunded within 21 days.” [1] "
                "That version is not in "
                "force yet: it begins on 1 January 2027 [1]. An order you already have follows the "
                "version in force on its own "
                "purchase date [1]."
            ),
        ),
    ],
)
def test_a_passage_is_quoted_with_its_date_and_no_yes_or_no(hit: Evidence, language: Language, text: str) -> None:
    assert answer(passage_draft([hit, NEW_PASSAGE], EVERYTHING, voice(language), wanted=sought("")), language) == text


def test_passage_beside_the_first_is_quoted_in_a_sentence_of_its_own() -> None:
    long = replace(FAQ, key="long", quote="Returns are free. " * 30)
    draft = passage_draft([NEW_PASSAGE], EVERYTHING, voice(), wanted=sought("returns"), beside=FAQ)
    everything = replace(EVERYTHING, evidence=(*EVERYTHING.evidence, long))
    cut = passage_draft([NEW_PASSAGE], everything, voice(), wanted=sought("returns"), beside=long)

    assert "It also says: “Returns are free within 30 days.” [2]" in (answer(draft) or "")
    assert len(dict(cut.claims[1].quotes)[len(everything.evidence)]) <= 280


@pytest.mark.parametrize(
    ("is_item", "header", "n"), [(True, None, 1), (True, "We do not repair:", 0), (False, None, 0)]
)
def test_an_item_that_nothing_leads_in_is_quoted_with_its_heading(is_item: bool, header: str | None, n: int) -> None:
    item = replace(FAQ, key="item", quote="Damage from falls.", is_item=is_item, header=header)
    everything = replace(EVERYTHING, evidence=(*EVERYTHING.evidence, item))
    draft = passage_draft([item], everything, voice(), wanted=sought("damage"))
    text = " ".join(claim.text for claim in draft.claims)

    assert item.clause is not None
    assert text.count(f"{item.clause.heading} Damage from falls.") == n
    assert "Damage from falls.”" in text


def test_staff_get_all_passages_as_a_list() -> None:
    text = answer(passage_draft([NEW_PASSAGE, FAQ], EVERYTHING, voice(), wanted=sought(""), ranked=True))

    assert text == (
        "- Refund policy, European Union, window, in force from 1 February 2025: "
        f"“{QUOTES['2025-02-01']}” [1]\n"
        "- faq-returns, window, in force from 1 January 2026: “Returns are free within 30 days.” [2]"
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "en",
            (
                f"The version in force from 1 January 2024 to 31 January 2025 says: “{QUOTES['2024-01-01']}” [1] The "
                f"version in force from 1 February 2025 says: “{QUOTES['2025-02-01']}” [2]\n- "
                f"window: 30 days → 14 days [1][2]."
            ),
        ),
        (
            "zh",
            (
                f"自2024年1月1日起至2025年1月31日有效的版本规定：“{QUOTES['2024-01-01']}”[1]。自2025年2月1日起有效的版本"
                f"规定：“{QUOTES['2025-02-01']}”[2]。\n- window：30天 → 14天[1][2]。"
            ),
        ),
    ],
)
def test_a_comparison_shows_both_sides_with_dates_and_the_changed_values(language: Language, text: str) -> None:
    draft = comparison_draft([OLD_WINDOW, OLD_PASSAGE], [NEW_WINDOW, NEW_PASSAGE], EVERYTHING, voice(language))

    assert answer(draft, language) == text


def test_a_comparison_without_changed_values_says_so() -> None:
    same = said_by(NEW, WINDOW, 30, QUOTES["2024-01-01"])
    grounds = replace(GROUNDS, evidence=(*EVIDENCE, same))

    text = answer(comparison_draft([OLD_WINDOW], [same], grounds, voice()), grounds=grounds)

    assert (text or "").endswith("No value of the policy differs between these versions [1][2].")


@pytest.mark.parametrize(
    ("language", "start"),
    [
        (
            "en",
            "Our sources disagree here, and none of them prevails [1][2]. “Refund policy, European Union”, in force",
        ),
        (
            "zh",
            "关于这一点，我们的资料说法不一，且没有哪一份优先[1][2]。《Refund policy, European Union》（自2025",
        ),
    ],
)
def test_an_open_conflict_shows_both_sides(language: Language, start: str) -> None:
    made = finished(conflict_draft(OPEN, EVERYTHING, voice(language)), language)

    assert (made.answer or "").startswith(start)
    assert [citation.role for citation in made.citations] == ["considered", "considered"]


def test_a_side_that_says_the_same_words_is_shown_once() -> None:
    twice = replace(OPEN, candidates=(*OPEN.candidates, *OPEN.candidates))

    draft = conflict_draft(twice, EVERYTHING, voice())

    assert len(draft.claims) == 3


def test_a_next_step_is_in_the_playbooks_words() -> None:
    step = NextStep(text={"en": "Write by {{ refund.deadline | day }}.", "zh": "…"})

    assert next_step(step, GROUNDS, voice()) == "Write by 19 March 2025."
    assert next_step(None, GROUNDS, voice()) is None


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["unstated", "source_unavailable", "stale_rendition", "budget", "judged_today"])
def test_each_uncertainty_is_one_sentence(kind: Any, language: Language) -> None:
    (note,) = notes([Uncertainty(kind=kind, subject="order.quota_used_bp")], voice(language))

    assert note.endswith("." if language == "en" else "。")


def test_orders_are_offered_with_what_is_known_of_them() -> None:
    options = [
        order_option({"order.item": "Lumen", PURCHASED_AT: BOUGHT_AT}, "SO-1182", voice()),
        order_option({}, "SO-1183", voice()),
    ]

    asked = clarify("order", voice(), options=options)

    assert clarification_text(asked) == (
        "The answer depends on the order: which of these do you mean?\n- SO-1182, Lumen, 5 March 2025\n- SO-1183"
    )


@pytest.mark.parametrize(
    ("need", "arguments", "question"),
    [
        ("order", {}, "Which order is it about? Please tell us the order number."),
        ("date", {"written": "03/04/2025"}, "Which date do you mean by “03/04/2025”?"),
        ("claim.reason", {"ask": {"en": "Why do you cancel?", "zh": "原因？"}}, "Why do you cancel?"),
        ("claim.reason", {}, "To answer this we need to know one thing: what is the reason?"),
    ],
)
def test_one_precise_question_is_asked(need: str, arguments: Any, question: str) -> None:
    assert clarify(need, voice(), **arguments) == Clarification(need=need, question=question)


def test_a_rules_result_is_not_put_into_the_mouth_of_a_loser() -> None:
    old_rule = said_by(OLD, ELIGIBLE, None, QUOTES["2024-01-01"], rule=RULE)
    conflict = replace(
        CONFLICT,
        need=ELIGIBLE,
        winner=NEW_RULE,
        candidates=(
            replace(CONFLICT.candidates[0], candidate=Candidate(evidence=NEW_RULE, value=False)),
            replace(CONFLICT.candidates[1], candidate=Candidate(evidence=old_rule, value=True)),
        ),
    )
    grounds = replace(GROUNDS, evidence=(*EVIDENCE, old_rule))

    draft = worded_draft(
        [REFUSAL],
        grounds,
        voice(),
        decision=DECISION,
        resolutions=[replace(RESOLUTIONS[1], conflict=conflict)],
    )

    assert draft.claims[-1].text == "Its version of 1 January 2024 says otherwise, but was not in force for that date."


def test_a_null_value_is_never_printed() -> None:
    wording = ClaimWording(text={"en": "You used {{ order.quota_used_bp | share }}.", "zh": "…"}, cites=(ELIGIBLE,))
    grounds = replace(GROUNDS, values={**VALUES, "order.quota_used_bp": None}, facts=FACTS)

    assert worded_draft([wording], grounds, voice()).claims == ()
