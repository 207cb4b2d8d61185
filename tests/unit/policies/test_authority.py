from __future__ import annotations

import pytest

from policies.authority import DEFAULT_LADDER, Ladder


def test_default_ladder_from_law_to_faq() -> None:
    ranks = ["faq", "department", "corporate", "contract", "law"]

    assert [DEFAULT_LADDER.level(rank) for rank in ranks] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "ladder",
    [
        pytest.param(Ladder.parse("law, contract = statute, faq"), id="written"),
        pytest.param(Ladder.of(["law", ["contract", "statute"], "faq"]), id="listed"),
    ],
)
def test_equal_ranks_share_a_rung(ladder: Ladder) -> None:
    assert ladder == Ladder.parse("law,statute=contract,faq")
    assert ladder.level("contract") == ladder.level("statute") == 1
    assert "statute" in ladder
    assert "corporate" not in ladder


@pytest.mark.parametrize("text", ["", "law,,faq", "law,faq,law", "law=law", "law, =faq"])
def test_rank_without_a_name_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="name of its own"):
        Ladder.parse(text)


def test_unknown_rank_has_no_level() -> None:
    with pytest.raises(KeyError, match="corporate"):
        Ladder.parse("law,faq").level("corporate")
