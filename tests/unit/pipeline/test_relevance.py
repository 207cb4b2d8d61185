from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.base import Evidence
from support_agent.pipeline.relevance import coverage, leading
from support_agent.pipeline.subject import share_of, subject_tokens
from tests.factories import make_clause, make_version
from tests.unit.pipeline.refund import passage, said_by


def found(policy: str, heading: str, quote: str, *, score: float = 0.5, topic: str | None = None) -> Evidence:
    clause = make_clause(make_version(policy, title=policy, topic=topic or policy), heading.lower())
    return replace(passage(replace(clause, heading=heading), quote), score=score)


EXPORT = found("data", "Export", "After the plan ends you can export your data for 30 days.")
INVOICE = found("invoices", "Invoices", "An invoice can be issued for 30 days.")
CHINESE = found("发票", "开票", "下单后 30 天内可以开具发票。")


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("What does your policy say about data export?", EXPORT),
        ("Can I have an invoice?", INVOICE),
        ("开具发票有什么规定？", CHINESE),
    ],
)
def test_passage_that_says_most_of_it_leads(question: str, lead: Evidence) -> None:
    best = leading([INVOICE, CHINESE, EXPORT], question)

    assert best.lead == lead
    assert best.clear


@pytest.mark.parametrize(
    "question", ["Do you sell unicorns?", "独角兽多少钱？", "What is your policy?", "有什么规定？", ""]
)
def test_question_about_nothing_we_have_has_no_lead(question: str) -> None:
    assert leading([EXPORT, INVOICE, CHINESE], question).lead is None


def test_order_of_the_candidates_changes_nothing() -> None:
    candidates = [EXPORT, INVOICE, CHINESE, found("data", "Deletion", "We delete data when the plan ends.")]
    expected = leading(candidates, "How long can I export data after the plan ends?")

    for seed in range(20):
        shuffled = random.Random(seed).sample(candidates, k=len(candidates))
        assert leading(shuffled, "How long can I export data after the plan ends?") == expected


def test_rival_of_another_topic_that_says_as_much_leaves_it_open() -> None:
    rival = found("legal", "Export", "You can export your data while the contract runs.")

    assert not leading([EXPORT, rival], "data export").clear


def test_rival_of_the_same_topic_does_not() -> None:
    rival = found("legal", "Export", "You can export your data while the contract runs.", topic="data")

    assert leading([EXPORT, rival], "data export").clear


def test_words_of_the_passage_count_more_than_those_of_its_heading() -> None:
    headed = found("reply", "First reply", "We answer within 4 hours.", score=0.9)
    saying = found("answers", "Answers", "The first reply comes within 4 hours.", score=0.1, topic="reply")

    assert leading([headed, saying], "first reply").hits == (saying, headed)


def test_rare_words_decide_between_passages_that_speak() -> None:
    common = replace(found("a", "Refund", "A refund of the plan takes 5 days.", topic="refund"), words=1.0)
    rare = replace(found("b", "Refund", "A refund of the plan takes 9 days by cheque.", topic="refund"), words=6.0)

    assert leading([common, rare], "refund of the plan").lead == rare


def test_passage_in_another_language_speaks_by_what_words_mean_and_by_similarity() -> None:
    near, far = replace(EXPORT, similarity=0.5), replace(INVOICE, similarity=0.1)

    assert leading([far, near], "数据能导出多久？").hits == (near,)
    assert leading([EXPORT, INVOICE], "数据能导出多久？").hits == (EXPORT,)
    assert leading([CHINESE, EXPORT], "How do I order an invoice, and when is it issued?").lead == CHINESE
    assert leading([EXPORT, INVOICE], "独角兽多少钱？").lead is None


def test_passage_in_the_question_s_own_language_is_preferred_and_has_no_foreign_rival() -> None:
    english = replace(found("invoices", "Orders", "After an order its invoice can be issued."), similarity=0.5)
    chinese = replace(CHINESE, similarity=0.5)
    best = leading([english, chinese], "下单后多久可以开具发票？")

    assert best.hits == (chinese, english)
    assert best.clear


def test_language_of_a_passage_is_that_of_its_words() -> None:
    within = found("data", "Export", "套餐到期后 30 天内可导出数据。")

    assert leading([within], "套餐到期后数据能导出多久？").lead == within


def test_few_shared_words_are_not_enough_where_the_vectors_disagree() -> None:
    text = "Can a restaurant issue an invoice?"

    assert leading([INVOICE], text).lead == INVOICE
    assert leading([replace(INVOICE, similarity=0.05)], text).lead is None


def test_long_story_need_not_stand_in_the_passage() -> None:
    story = "Our bookkeeper retires and the office moves to Leipzig, so we wonder how long data can be exported once "

    assert leading([EXPORT, INVOICE], f"{story} the plan ends").lead == EXPORT


def test_passages_that_do_not_speak_change_nothing() -> None:
    alone = leading([EXPORT], "data export")

    assert leading([EXPORT, INVOICE, CHINESE], "data export") == alone


def test_score_decides_where_words_do_not() -> None:
    low, high = (found("reply", "First reply", f"We reply within {n} hours.", score=n / 10) for n in (4, 8))

    assert leading([low, high], "first reply").hits == (high, low)


def test_words_of_asking_do_not_count() -> None:
    assert subject_tokens("What does your policy say about the rules?") == {}
    assert subject_tokens("Please explain the refund policy") == subject_tokens("refund")


def test_everyday_words_make_no_subject() -> None:
    assert subject_tokens("How long is winter?")["winter"] > 3 * subject_tokens("How long is winter?")["long"]


def test_coverage_counts_title_heading_and_text() -> None:
    asked = subject_tokens("data export invoices")

    assert 0 < coverage(asked, replace(EXPORT, quote="Ask us.")) < coverage(asked, EXPORT) < 1
    assert coverage(asked, replace(EXPORT, clause=None)) == 0.0
    assert coverage({}, EXPORT) == 0.0
    assert share_of({}, "anything") == 0.0


def test_terms_are_those_of_the_leading_passage_else_of_its_clause() -> None:
    clause = EXPORT.clause
    assert clause is not None
    period = said_by(clause, "export.days", 30, "30 days")
    elsewhere = replace(period, need="export.fee", locator=replace(period.locator, lines=(40, 40)))
    rule = said_by(clause, "export.allowed", None, "x", rule="true")

    both = leading([EXPORT, period, elsewhere, rule], "data export")
    beside = leading([EXPORT, elsewhere, rule], "data export")

    assert both.terms == ("export.days",)
    assert beside.terms == ("export.fee",)


def test_passage_that_gives_the_value_asked_for_leads() -> None:
    silent = found("data", "Export", "How long you can export data after the plan ends depends on the plan.")

    assert leading([silent, EXPORT], "How many days can I export data after the plan ends?").lead == EXPORT


def test_value_lets_a_passage_speak_by_words_alone() -> None:
    far = replace(EXPORT, similarity=0.0)
    question = "How many days may I export my data for?"

    assert leading([far, replace(INVOICE, similarity=0.1)], question).lead == far
    assert leading([replace(far, quote="You can export your data.")], "Must data be exported by owls?").lead is None


def test_rival_that_gives_the_same_value_is_none() -> None:
    question = "How many days can I export data for?"
    same = found("legal", "Export", "We let you export data for 30 days.")
    other = found("legal", "Export", "We let you export data for 60 days.")

    assert leading([EXPORT, same], question).clear
    assert not leading([EXPORT, other], question).clear


def test_passage_that_only_leads_a_list_in_is_left_to_its_items() -> None:
    lead_in = found("data", "Export", "You can export these data:")
    item = replace(found("data", "Export", "Invoices and orders"), header="You can export these data:")

    assert leading([lead_in, item], "Which data can I export?").hits == (item,)


def test_second_passage_of_the_version_is_named_where_the_first_is_silent() -> None:
    silent = found("data", "Export", "Data export after the plan ends: how long you can do it is limited.")
    distant = found("data", "Deletion", "Export is over after 30 days.")
    question = "How many days after the plan ends is data export limited to?"

    found_ = leading([silent, distant], question)

    assert {found_.lead, found_.beside} == {silent, distant}
    assert leading([EXPORT, INVOICE], "How many days can I export data after the plan ends?").beside is None


@pytest.mark.parametrize(
    ("question", "low", "high"),
    [
        (
            "Our order was less than $50: what is the fee for a return?",
            "For an order of less than $20 the fee for a return is $50.",
            "For an order of less than $50 the fee for a return is $80.",
        ),
        (
            "订单不到 2 万元，退货手续费多少？",
            "订单不足1万元的，退货手续费2万元以上。",
            "订单不足2万元的，退货手续费3万元。",
        ),
    ],
)
def test_passage_for_the_figure_that_the_question_names_leads(question: str, low: str, high: str) -> None:
    one, other = found("fees", "Fees", low), found("fees", "Fees", high)

    for candidates in ([one, other], [other, one]):
        best = leading(candidates, question)
        assert best.lead == other
        assert best.beside is None


def test_link_target_says_nothing() -> None:
    linked = found("shop", "Help", "[Ask us](https://example.org/data-export-after-the-plan-ends).")

    assert leading([linked], "How can I export data after the plan ends?").lead is None


@pytest.mark.parametrize(
    ("question", "glossed", "lead"),
    [
        ("Can I take my stuff out?", "Can I data export?", EXPORT),
        ("Do I get a chit?", "Do I get a invoice?", INVOICE),
        ("能开小票吗？", "能开 发票 吗？", CHINESE),
        ("能把东西拷走吗？", "能把 export data 吗？", EXPORT),
    ],
    ids=["English", "English noun", "Chinese", "across"],
)
def test_passage_is_met_in_terms_of_the_documents(question: str, glossed: str, lead: Evidence) -> None:
    passages = [EXPORT, INVOICE, CHINESE]

    assert leading(passages, question).lead is None
    assert leading(passages, question, (glossed,)).lead == lead


def test_terms_that_meet_nothing_change_nothing() -> None:
    question = "How long can I export data after the plan ends?"
    plain = leading([EXPORT, INVOICE, CHINESE], question)

    assert leading([EXPORT, INVOICE, CHINESE], question, ("Do you sell unicorns?",)) == plain


@given(
    question=st.lists(st.sampled_from("export data invoice plan unicorn 发票 开具 独角兽".split()), max_size=5),
    glossed=st.lists(st.lists(st.sampled_from("export data invoice 发票 gnome".split()), max_size=4), max_size=2),
)
def test_glossary_never_hides_a_passage(question: list[str], glossed: list[list[str]]) -> None:
    passages = [EXPORT, INVOICE, CHINESE]
    plain = leading(passages, " ".join(question))
    read = leading(passages, " ".join(question), tuple(" ".join(words) for words in glossed))

    assert set(map(id, plain.hits)) <= set(map(id, read.hits))
