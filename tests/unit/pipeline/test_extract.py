"""What of a passage is quoted."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from support_agent.pipeline.extract import extract, quoted, sought
from tests.factories import make_clause, make_version
from tests.unit.pipeline.refund import passage

CLAUSE = make_clause(make_version("speed", title="Terms", topic="speed"), "quality")
FILLER = "The quality of what you watch may vary from one device to another, and with where you are. "
LONG = FILLER * 4 + "The connection speed for standard definition is 0.5 Mbps. " + FILLER * 4


def test_short_text_is_quoted_whole() -> None:
    assert extract("Within 14 days.", sought("How many days?")) == "Within 14 days."


def test_long_text_is_cut_around_the_sentence_that_answers() -> None:
    cut = extract(LONG, sought("What connection speed do I need for standard definition?"))

    assert "0.5 Mbps" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 400


def test_word_that_many_sentences_have_tells_less_than_a_rare_one() -> None:
    common = "Our plan has a fee that the plan names. " * 12
    cut = extract(common + "Guests may leave the plan freely.", sought("Does the plan have a fee for guests?"))

    assert "Guests may leave" in cut


def test_sentence_longer_than_a_quote_is_cut_around_the_value() -> None:
    endless = "where it is needed and possible, " * 20 + "within 14 days, " + "if nothing else is said, " * 20

    assert "within 14 days" in extract(endless, sought("Within how many days?"))


def test_passage_in_the_other_language_is_cut_by_what_the_words_mean() -> None:
    text = "The weather is nice today and will be. " * 12 + "A refund is paid after you return the device. "

    assert "refund is paid" in extract(text, sought("退款什么时候付？"))


def test_row_is_quoted_below_its_header_and_list_item_below_its_lead_in() -> None:
    row = replace(passage(CLAUSE, "| 1TB | 286.00 |"), header="| Size | Price |")

    assert quoted(row, sought("What does 1TB cost?")) == "| Size | Price |\n| 1TB | 286.00 |"


def test_heading_that_gives_a_figure_is_quoted_with_its_passage() -> None:
    under = passage(replace(CLAUSE, heading="Published less than 24 hours ago"), "Remove it yourself.")
    plain = passage(replace(CLAUSE, heading="Removal"), "Remove it yourself.")

    assert quoted(under, sought("")) == "Published less than 24 hours ago\nRemove it yourself."
    assert quoted(plain, sought("")) == "Remove it yourself."


@given(
    st.text(alphabet="ab .。；\n1字退款é\u0301", max_size=1_500),
    st.sampled_from(["How many days?", "退款要几天？", ""]),
    st.integers(min_value=40, max_value=400),
)
def test_extract_is_never_longer_than_allowed_and_adds_nothing(text: str, question: str, limit: int) -> None:
    cut = extract(text, sought(question), limit=limit)

    assert len(cut) <= limit
    assert cut.strip("…").strip() in text
