from __future__ import annotations

import pytest

from support_agent.pipeline.resolution.figures import alike, differing, n_common


@pytest.mark.parametrize(
    ("one", "other", "figures"),
    [
        ("Return it within 14 days.", "Return it within 30 days.", ("14 days", "30 days")),
        ("两周内可以退货", "Return it within 30 days.", ("两周", "30 days")),
        ("A fee of $25 applies.", "The fee is $50.", ("$25", "$50")),
        ("A share of 10% is kept.", "手续费为百分之五", ("10%", "百分之五")),
        # Figures of another kind take no part.
        ("Within 14 days, for $25.", "Within 30 days, for 10%.", ("14 days", "30 days")),
    ],
)
def test_texts_without_a_figure_in_common_differ(one: str, other: str, figures: tuple[str, str]) -> None:
    assert differing(one, other) == figures
    assert differing(other, one) == figures[::-1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Return it within 14 days.", "两周内可以退货"),
        ("Within 14 days, or 30 days for members.", "Within 30 days."),
        ("Within 14 days.", "For $25."),
        # A month is no number of days.
        ("Within 30 days.", "一个月内"),
        # Two dates may both be right.
        ("Since 1 March 2025.", "Since 1 April 2025."),
        ("No figure.", "None here."),
        ("Article 24", "Article 25"),
    ],
)
def test_texts_with_one_in_common_or_of_other_kinds_do_not(one: str, other: str) -> None:
    assert differing(one, other) is None


def test_figure_beyond_the_other_s_is_a_difference_where_it_is_asked_for() -> None:
    translation, original = "到期前 20 天、10 天和 1 天发送提醒", "Notices are sent 20 days and 10 days before."

    assert differing(translation, original) is None
    assert differing(translation, original, beyond=True) == ("20 天, 10 天, 1 天", "20 days, 10 days")
    assert differing(original, translation, beyond=True) is None


def test_figures_in_common_are_counted_across_languages() -> None:
    assert n_common("Is it 14 days or 30 days?", "两周内") == 1
    assert n_common("Is it 14 days or 30 days?", "within a year") == 0


def test_sentences_that_say_one_thing_are_alike_and_others_are_not() -> None:
    window = "You can return goods within 14 days of delivery."

    assert alike(window, "Hello. Goods may be returned within 30 days of delivery. Bye.") > 0.5
    assert alike(window, "The warranty lasts 24 months.") < 0.2
    assert alike(window, "Goods may be returned within 14 days of delivery.") == 0.0
    assert alike("退回商品之日起七日内退款", "Money is refunded within 14 days of the return.") > 0.0
