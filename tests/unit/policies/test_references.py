from __future__ import annotations

import pytest

from policies.references import references_in


@pytest.mark.parametrize(
    ("text", "references"),
    [
        pytest.param("See refund-eu#window.", ["refund-eu#window"], id="sentence"),
        pytest.param("(refund-eu@2025-02-01#window)", ["refund-eu@2025-02-01#window"], id="version"),
        pytest.param("a#b, then c@1.2#d.", ["a#b", "c@1.2#d"], id="two"),
        pytest.param("see terms#4.2. It says", ["terms#4.2"], id="number"),
        pytest.param("步骤见refund-eu#how的规定。", ["refund-eu#how"], id="between Chinese"),
        pytest.param("参见 refund-cn#退款期限。", ["refund-cn#退款期限"], id="Chinese anchor"),
        pytest.param("https://example.org/page#top", [], id="link"),
        pytest.param("[amount](#amount)", [], id="of this text"),
        pytest.param("Order # 4711, #1", [], id="number sign"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_references_are_read_out_of_a_text(text: str, references: list[str]) -> None:
    assert [str(reference) for reference in references_in(text)] == references
