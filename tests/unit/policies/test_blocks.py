from __future__ import annotations

import pytest

from policies.blocks import Heading, Passage, plain_text, read_blocks

Outline = list[tuple[str, str]]


def outline(text: str) -> Outline:
    """What each block is and says: headings as `#`, passages by kind."""
    named: Outline = []
    for block in read_blocks(text):
        match block:
            case Heading():
                named.append(("#", block.text))
            case Passage():
                named.append((block.kind, block.text))
            case other:
                named.append((type(other).__name__, other.text))
    return named


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("## Refunds {#window}\n\nSoon.", [("#", "Refunds"), ("paragraph", "Soon.")], id="markdown"),
        pytest.param("Refunds\n=======\nSoon.", [("#", "Refunds"), ("paragraph", "Soon.")], id="underlined"),
        pytest.param("**Refunds**\n\nSoon.", [("#", "Refunds"), ("paragraph", "Soon.")], id="bold line"),
        pytest.param("**退款**：\n三天内。", [("#", "退款"), ("paragraph", "三天内。")], id="bold line above its text"),
        pytest.param("**Note:** soon.", [("paragraph", "**Note:** soon.")], id="bold words are no heading"),
        pytest.param("**Soon.**\n\nYes.", [("paragraph", "**Soon.**"), ("paragraph", "Yes.")], id="bold sentence"),
        pytest.param("**Alone**", [("paragraph", "**Alone**")], id="a title over nothing is text"),
        pytest.param(
            "**Empty**\n\n## Next\n\nText.",
            [("paragraph", "**Empty**"), ("#", "Next"), ("paragraph", "Text.")],
            id="a title over the next heading is text",
        ),
        pytest.param("1. Refunds\n\nSoon.", [("#", "1. Refunds"), ("paragraph", "Soon.")], id="numbered title"),
        pytest.param("1. Soon.\n\nYes.", [("item", "Soon."), ("paragraph", "Yes.")], id="numbered sentence"),
        pytest.param("1. One\n2. Two\n\nText", [("item", "One"), ("item", "Two"), ("paragraph", "Text")], id="list"),
        pytest.param("1.2 Refunds\n\nSoon.", [("paragraph", "1.2 Refunds"), ("paragraph", "Soon.")], id="lone number"),
        pytest.param(
            "1.1 Refunds\n\nSoon.\n\n1.2 We pay. Soon.",
            [("#", "1.1 Refunds"), ("paragraph", "Soon."), ("#", "1.2"), ("paragraph", "1.2 We pay. Soon.")],
            id="numbered paragraphs",
        ),
        pytest.param("2.5 million orders.", [("paragraph", "2.5 million orders.")], id="decimal"),
        pytest.param("1.基础服务\n\n免费。", [("#", "1.基础服务"), ("paragraph", "免费。")], id="glued number"),
        pytest.param("##价格\n\n免费。", [("#", "价格"), ("paragraph", "免费。")], id="glued marks"),
        pytest.param("#hashtag here", [("paragraph", "#hashtag here")], id="hashtag"),
        pytest.param("一、退款\n\n三天内。", [("#", "一、退款"), ("paragraph", "三天内。")], id="Chinese ordinal"),
        pytest.param(
            "第一章 总则\n\n第一条　应当退款。\n\n（一）甲；\n第二条 不退。",
            [
                ("#", "第一章 总则"),
                ("#", "第一条"),
                ("paragraph", "第一条　应当退款。"),
                ("paragraph", "（一）甲；"),
                ("#", "第二条"),
                ("paragraph", "第二条 不退。"),
            ],
            id="Chinese law",
        ),
        pytest.param("第五条规定的情形除外。", [("paragraph", "第五条规定的情形除外。")], id="article named in a text"),
        pytest.param("- a\n  - b\n\n    c", [("item", "a"), ("item", "b"), ("item", "c")], id="nested items"),
        pytest.param("> quoted\n> text", [("paragraph", "> quoted\n> text")], id="quote marks stay"),
        pytest.param("    indented", [("paragraph", "indented")], id="indented text is no code"),
        pytest.param("<div>shown</div>", [("paragraph", "<div>shown</div>")], id="text between tags"),
        pytest.param("<a id='x'></a>\n\n* * *\n\n[](#top)\n\n{{< toc >}}", [], id="nothing visible"),
        pytest.param("[docs]: https://lumen.example", [], id="link definition"),
        pytest.param("<!-- not\n\nshown -->\n\nShown.", [("paragraph", "Shown.")], id="comment"),
        pytest.param(
            "Before <!-- x --> after.", [("paragraph", "Before"), ("paragraph", "after.")], id="cut by a comment"
        ),
        pytest.param("```terms\na.b: 1\n```", [("TermsBlock", "a.b: 1\n")], id="terms"),
        pytest.param("```\nkept\n```", [("paragraph", "kept")], id="code"),
    ],
)
def test_structure(text: str, expected: Outline) -> None:
    assert outline(text) == expected


@pytest.mark.parametrize("rule", ["|---|---|", "|--- |-- --|"], ids=["as Markdown has it", "as old editors have it"])
def test_row_knows_its_header(rule: str) -> None:
    rows = read_blocks(f"| plan | days |\n{rule}\n| annual | 14 |\n| monthly | 3 |")

    assert rows == [
        Passage(text="| annual | 14 |", kind="row", lines=(3, 3), table_header="| plan | days |"),
        Passage(text="| monthly | 3 |", kind="row", lines=(4, 4), table_header="| plan | days |"),
    ]


def test_lines_count_from_the_document() -> None:
    assert read_blocks("a\nb\n\n- c\n  d", first_line=10) == [
        Passage(text="a\nb", kind="paragraph", lines=(10, 11)),
        Passage(text="c\n  d", kind="item", lines=(13, 14)),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Bold** and *slanted*", "Bold and slanted"),
        (r"1\. Using the app", "1. Using the app"),
        ("[Terms](https://lumen.example/terms) now", "Terms now"),
        ("[](https://lumen.example)Empty link", "Empty link"),
        ("snake_case `code`", "snake_case code"),
        ("退款<br>政策", "退款政策"),
    ],
)
def test_heading_is_shown_without_markup(text: str, shown: str) -> None:
    assert plain_text(text) == shown
