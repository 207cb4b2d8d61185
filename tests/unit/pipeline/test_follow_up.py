from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support_agent.bootstrap import reader_of
from support_agent.domain.question import Earlier, Principal, Question
from support_agent.domain.reading import Reading
from support_agent.pipeline.follow_up import continued, leans
from support_agent.tenants.folder import read_folder
from tests.sample_tenant import SAMPLE

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
REFUND = "Can I still get a refund for the plan we bought last year?"
REFUND_ZH = "我们去年买的套餐现在还能退吗？"


READER = reader_of(read_folder(SAMPLE).tenant)


@pytest.fixture
def read() -> Callable[[Question], Reading]:
    return READER


def ask(text: str, earlier: Earlier | None = None) -> Question:
    return Question(text=text, tenant="lumen", principal=Principal(kind="customer"), asked_at=NOW, earlier=earlier)


def before(text: str, *, status: str = "answered", orders: tuple[str, ...] = (), days_ago: int = 0) -> Earlier:
    return Earlier(text=text, asked_at=NOW - timedelta(days=days_ago), status=status, orders=orders)


def understood(text: str, earlier: Earlier, read: Callable[[Question], Reading]) -> str:
    question = ask(text, earlier)
    return continued(question, read(question), read=read).text


@pytest.mark.parametrize(
    ("earlier", "text", "kept"),
    [
        (REFUND, "And if I bought it in May?", "Can I still get a refund for the plan we bought ?"),
        (REFUND, "What about SO-1501?", "Can I still get a refund for the plan we bought ?"),
        (REFUND_ZH, "那上个月买的呢？", "我们 买的套餐 还能退吗？"),
        ("Can I return SO-1182?", "What about SO-1501?", "Can I return ?"),
        ("SO-1182 还能退吗？", "那 SO-1501 呢？", "还能退吗？"),
    ],
)
def test_what_differs_takes_the_place_of_what_was_said(
    earlier: str, text: str, kept: str, read: Callable[[Question], Reading]
) -> None:
    assert understood(text, before(earlier), read) == f"{kept} {text}"


def test_a_reply_to_a_question_back_completes_it(read: Callable[[Question], Reading]) -> None:
    asked_back = before("Can I still get a refund for the headset?", status="needs_clarification")

    assert understood("SO-1182", asked_back, read) == "Can I still get a refund for the headset? SO-1182"


@pytest.mark.parametrize("text", ["Can I return it?", "这个还能退吗？"])
def test_it_is_the_one_order_that_was_spoken_of(text: str, read: Callable[[Question], Reading]) -> None:
    assert understood(text, before(REFUND, orders=("SO-1182",)), read) == f"{text} SO-1182"
    assert understood(text, before(REFUND, orders=("SO-1182", "SO-1501")), read) == text


@pytest.mark.parametrize(
    "text",
    [
        "And if I damaged it on the stairs?",
        "What are your support hours?",
        "那客服几点下班呢？",
        "Can I cancel SO-1501?",
    ],
)
def test_a_question_of_its_own_takes_over_no_other(text: str, read: Callable[[Question], Reading]) -> None:
    assert understood(text, before(REFUND), read) == text


@pytest.mark.parametrize("status", ["refused", "escalated"])
def test_nothing_goes_on_from_what_was_refused_or_handed_over(status: str, read: Callable[[Question], Reading]) -> None:
    assert understood("And if I bought it in May?", before(REFUND, status=status), read) == "And if I bought it in May?"


def test_a_relative_time_of_another_day_is_left_out(read: Callable[[Question], Reading]) -> None:
    yesterday = before("Can I return what I bought yesterday?", status="needs_clarification", days_ago=1)
    dated = before("Can I return what I bought on 5 March 2025?", status="needs_clarification", days_ago=1)

    assert "yesterday" not in understood("the headset", yesterday, read)
    assert "5 March 2025" in understood("the headset", dated, read)


def test_the_answer_is_in_the_language_of_the_new_words(read: Callable[[Question], Reading]) -> None:
    question = ask("那上个月买的呢？", before(REFUND))

    assert continued(question, read(question), read=read).language == "zh"


@given(
    text=st.text(max_size=60), earlier=st.text(max_size=60), status=st.sampled_from(["answered", "needs_clarification"])
)
def test_any_text_can_be_read_after_any_other(text: str, earlier: str, status: str) -> None:
    question = ask(text, before(earlier, status=status, orders=("SO-1",)))
    alone = READER(replace(question, earlier=None))
    whole = continued(question, alone, read=READER)

    assert leans(alone) or whole == alone
    assert whole.text.startswith(alone.text) or whole.text.endswith(alone.text)
