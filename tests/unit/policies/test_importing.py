from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from policies.applicability import Applicability
from policies.authority import Ladder
from policies.front_matter import Surroundings
from policies.importing import PolicyFolder, read_policy_folder
from policies.version import Period
from tests.unit.policies.written import AROUND, HEAD, put

DOCUMENTS = Path(__file__).parent / "documents"
META = {
    "org": "lumen",
    "policy": "terms",
    "title": "Terms",
    "language": "en",
    "region": "DE",
    "authority": "corporate",
    "licence": "ours",
    "versions": [
        {
            "version": "2024-01-01",
            "file": "2024-01-01.md",
            "effective_from": "2024-01-01",
            "effective_to": "2024-06-01",
        },
        {"version": "2024-07-01", "file": "2024-07-01.md", "effective_from": "2024-07-01", "effective_to": None},
        {"version": "2025-01-01", "file": "2025-01-01.md", "effective_from": "2025-01-01"},
    ],
}
TEXTS = {f"terms__{version['version']}.md": "## Terms\nText." for version in META["versions"]}  # type: ignore[index]  # plain JSON values
UTC_AROUND = Surroundings(ladder=AROUND.ladder, time_zone="UTC", region_groups=frozenset({"EU"}))


def read(folder: Path, **files: str | bytes) -> PolicyFolder:
    return read_policy_folder(put(folder, **files), around=UTC_AROUND)


def messages(folder: PolicyFolder) -> list[str]:
    return [str(fault) for fault in folder.faults]


def day(year: int, month: int, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.md")), ids=lambda path: path.stem)
def test_a_document_with_one_fault_names_its_place(path: Path, tmp_path: Path) -> None:
    put(tmp_path, **{f"refund-eu__{path.name}": path.read_bytes()})

    found = read_policy_folder(tmp_path, around=AROUND)

    line, message = EXPECTED[path.stem]
    assert [(fault.path, fault.line) for fault in found.faults] == [(f"refund-eu/{path.name}", line)] * len(
        found.faults
    )
    assert found.faults[0].message.startswith(message)
    assert all(fault.remedy for fault in found.faults)


def test_every_document_with_a_fault_is_expected() -> None:
    assert {path.stem for path in DOCUMENTS.glob("*.md")} == EXPECTED.keys()


def test_metadata_says_what_front_matter_does_not(tmp_path: Path) -> None:
    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META)})

    assert messages(found) == []
    assert [document.version for document in found.documents] == ["2024-01-01", "2024-07-01", "2025-01-01"]
    first = found.documents[0].front_matter
    assert (first.policy, first.title, first.language, first.authority) == ("terms", "Terms", "en", "corporate")
    assert first.applies_to == Applicability(regions=frozenset({"DE"}))


def test_open_ends_close_at_the_next_start_and_gaps_stay(tmp_path: Path) -> None:
    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META)})

    assert [document.valid for document in found.documents] == [
        Period(start=day(2024, 1), end=day(2024, 6)),
        Period(start=day(2024, 7), end=day(2025, 1)),
        Period(start=day(2025, 1)),
    ]


def test_region_global_is_no_limit(tmp_path: Path) -> None:
    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META | {"region": "global"})})

    assert found.documents[0].front_matter.applies_to == Applicability()


OVERLAY = """\
terms:
  topic: rules
  applies_to: {plans: [annual]}
  versions:
    2025-01-01: {effective_to: 2026-01-01, audience: staff}
"""


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_overlay_adds_keys_to_a_policy_and_to_a_version(tmp_path: Path, kind: str) -> None:
    keys = {"effective_to": "2026-01-01", "audience": "staff"}
    said = {"topic": "rules", "applies_to": {"plans": ["annual"]}, "versions": {"2025-01-01": keys}}
    overlay = OVERLAY if kind == "yaml" else json.dumps({"terms": said})

    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META), f"overlay.{kind}": overlay})

    assert messages(found) == []
    first, _, last = found.documents
    assert first.front_matter.topic == last.front_matter.topic == "rules"
    # The limit to a region, which metadata gives, is still there.
    assert first.front_matter.applies_to == Applicability(regions=frozenset({"DE"}), plans=frozenset({"annual"}))
    assert (first.front_matter.audience, last.front_matter.audience) == ("public", "staff")
    assert last.valid.end == day(2026, 1)


def test_sidecar_belongs_to_the_version_of_its_name(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        **{
            "refund-eu__2025-02-01.md": f"{HEAD}## Window\nWithin 14 days.",
            "refund-eu__2025-02-01.terms.yaml": "window: {refund.window_days: 14}",
            "refund-eu__2024-01-01.terms.yaml": "window: {refund.window_days: 30}",
        },
    )

    assert messages(found) == ["refund-eu/2024-01-01.terms.yaml: terms without a text: name it as the version's file"]
    assert [term.value for _, term in found.documents[0].terms] == [14]


def test_overlay_makes_a_clause_of_a_version_s_lines(tmp_path: Path) -> None:
    overlay = 'terms: {versions: {"2024-07-01": {clauses: {one: {lines: [2, 2], applies_to: {plans: [one]}}}}}}'
    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META), "overlay.yaml": overlay})

    assert messages(found) == []
    assert [[clause.anchor for clause in document.clauses] for document in found.documents] == [
        ["terms"], ["terms", "one"], ["terms"]
    ]  # fmt: skip
    assert found.documents[1].clauses[1].applies_to.plans == frozenset({"one"})


def test_lines_of_an_overlay_that_hold_nothing_are_refused_in_it(tmp_path: Path) -> None:
    overlay = 'terms: {versions: {"2024-07-01": {clauses: {one: {lines: [7, 7]}}}}}'
    found = read(tmp_path, **TEXTS, **{"terms__meta.json": json.dumps(META), "overlay.yaml": overlay})

    assert [(fault.path, fault.line) for fault in found.faults] == [("overlay.yaml", 1)]


@pytest.mark.parametrize(
    ("starts", "overlap"),
    [
        (["effective_from: 2025-01-01", "effective_from: 2025-01-01"], True),
        (["effective_from: 2025-01-01\neffective_to: 2025-06-02", "effective_from: 2025-06-01"], True),
        (["effective_from: 2025-01-01\neffective_to: 2025-06-01", "effective_from: 2025-06-01"], False),
        (["effective_from: 2025-06-01", "effective_from: 2025-01-01"], False),
    ],
    ids=["same start", "stated end too late", "adjacent", "any order"],
)
def test_versions_in_force_together_are_refused(tmp_path: Path, starts: list[str], overlap: bool) -> None:
    texts = {
        f"refund-eu__{name}.md": HEAD.replace("effective_from: 2025-02-01", start) + "Text."
        for name, start in zip("ab", starts, strict=True)
    }

    found = read(tmp_path, **texts)

    expected = (
        "refund-eu/b.md:1: in force together with version a: "
        "change effective_from or effective_to so that they do not overlap"
    )
    assert messages(found) == ([expected] if overlap else [])


def test_rules_may_use_terms_of_another_document(tmp_path: Path) -> None:
    first = f"{HEAD}## Window\nWithin 14 days.\n\n```terms\nrefund.window_days: 14\n```\n"
    rule = "\n```terms\nrefund.eligible: 3 <= refund.window_days\nrefund.late: 3 <= refund.window_weeks\n```\n"
    second = f"{HEAD.replace('refund-eu', 'faq-refund')}## Answer\nIn time.\n{rule}"

    found = read(tmp_path, **{"refund-eu__a.md": first, "faq-refund__a.md": second})

    expected = (
        "faq-refund/a.md:13: refund.late: 'refund.window_weeks' is no fact and no term at character 6: "
        "did you mean refund.window_days?"
    )
    assert messages(found) == [expected]


def test_a_term_has_one_type_everywhere(tmp_path: Path) -> None:
    def text(policy: str, term: str) -> str:
        return f"{HEAD.replace('refund-eu', policy)}## Window\nText.\n\n```terms\n{term}\n```\n"

    found = read(
        tmp_path, **{"a__v.md": text("a", "refund.kind: {value: cash}"), "b__v.md": text("b", "refund.kind: 1")}
    )

    assert messages(found) == ["b/v.md:12: refund.kind is int here and string elsewhere: use one type, or another name"]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        (
            {"other__v.md": HEAD.replace("2025", "2026") + "Text."},
            "other/v.md:1: policy 'refund-eu' in the folder 'other'",
        ),
        ({"terms__meta.json": "{"}, "terms/meta.json:1:2: not JSON"),
        ({"terms__meta.json": '{"a": 1, "a": 2}'}, "terms/meta.json:1: not usable (a key stands twice)"),
        (
            {"terms__meta.json": '{"versions": [{"file": "../../etc/passwd"}]}'},
            "terms/meta.json: its file '../../etc/pass",
        ),
        ({"overlay.yaml": "absent: {topic: x}"}, "overlay.yaml: no policy is called 'absent'"),
        ({"overlay.yaml": "refund-eu: {topik: x}"}, "overlay.yaml:1: unknown key 'topik'"),
        ({"overlay.yaml": "refund-eu: {versions: {x: {}}}"}, "overlay.yaml: refund-eu: no version 'x'"),
    ],
    ids=["wrong folder", "no JSON", "key twice", "path", "unknown policy", "unknown key", "unknown version"],
)
def test_faults_around_the_documents(tmp_path: Path, files: dict[str, str], fault: str) -> None:
    found = read(tmp_path, **{"refund-eu__2025-02-01.md": f"{HEAD}Text."}, **files)

    assert len(found.faults) == 1
    assert messages(found)[0].startswith(fault)


def test_links_are_refused_wherever_they_lead(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", **{"v.md": f"{HEAD}Text."})
    folder = put(tmp_path / "folder", **{"refund-eu__2025-02-01.md": f"{HEAD}Text."})
    (folder / "refund-eu" / "2026-01-01.md").symlink_to(outside / "v.md")
    (folder / "linked").symlink_to(outside)

    found = read_policy_folder(folder, around=UTC_AROUND)

    assert [document.version for document in found.documents] == ["2025-02-01"]
    assert messages(found) == [
        "linked: a symbolic link: put the file itself here",
        "refund-eu/2026-01-01.md: a symbolic link: put the file itself here",
    ]


@pytest.mark.parametrize("name", ["CON", "x" * 200, "a@b", "-v"])
def test_a_file_name_that_is_no_version_is_refused(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, **{f"refund-eu__{name}.md": f"{HEAD}Text."})

    # CON is a device on another system; here it is a name, and no name is ever used as a path.
    assert [fault.message for fault in found.faults] == ([] if name == "CON" else [f"{name!r} is no version name"])


def test_nothing_to_import_is_a_fault(tmp_path: Path) -> None:
    assert messages(read(tmp_path / "empty", **{"README.md": "x"})) == [
        "empty: no policy in it: put each version in <policy>/<version>.md"
    ]
    assert messages(read_policy_folder(tmp_path / "absent", around=UTC_AROUND)) == [
        "absent: no such folder: name a folder that holds one folder a policy"
    ]


SHARED = Path(__file__).parents[3] / "../shared/data/policies"
LADDER = Ladder.parse(
    "national_law,administrative_regulation,department_rule,local_regulation,company_policy,support_documentation,"
    "support_documentation_translation"
)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared policies are not beside the repository")
def test_real_policies_import_as_their_metadata_say() -> None:
    around = Surroundings(ladder=LADDER, time_zone="UTC", region_groups=frozenset({"EU"}))
    expected, documents = {}, {}
    for meta in SHARED.glob("*/*/meta.json"):
        for version in json.loads(meta.read_text())["versions"]:
            ends = version["effective_to"]
            expected[meta.parts[-3], meta.parts[-2], version["version"]] = (version["effective_from"], ends)
    for organisation in sorted(path for path in SHARED.iterdir() if path.is_dir()):
        found = read_policy_folder(organisation, around=around)
        assert messages(found) == []
        for document in found.documents:
            end = document.valid.end
            key = organisation.name, document.policy, document.version
            documents[key] = (document.valid.start.date().isoformat(), end.date().isoformat() if end else None)
            lines = document.text.split("\n")
            for clause in document.clauses:
                for passage in clause.passages:
                    assert passage.text in "\n".join(lines[passage.lines[0] - 1 : passage.lines[1]])

    assert documents == expected


EXPECTED = {
    "anchor_twice": (11, "the anchor 'window' stands twice"),
    "attribute_line_broken": (9, "the attribute line is not understood"),
    "attribute_line_unknown_key": (9, "unknown key 'audiance'"),
    "bad_anchor": (8, "'the/window' is no anchor"),
    "bad_reference": (7, "supersedes: 'refund eu' is no reference"),
    "better_in_words": (12, "refund.window_days: better is 'more'"),
    "better_on_text": (12, "refund.kind: better on a string"),
    "broken_yaml": (7, "not YAML"),
    "clause_outside_its_version": (9, "the clause 'window' lies outside its version's period"),
    "date_in_words": (5, "effective_from: 'next spring' is no date"),
    "days_from_a_condition": (12, "refund.window_days: a rule that gives bool"),
    "delegates_to_unknown_rank": (7, "delegates: the ladder has no rank 'king'"),
    "delegates_without_terms": (7, "delegates: not understood"),
    "duplicate_key": (7, "the key 'title' stands twice"),
    "empty_dimension": (7, "plans: an empty list applies nowhere"),
    "empty_period": (7, "effective_to: not after effective_from"),
    "ends_before_it_starts": (7, "effective_to: not after effective_from"),
    "float_term": (12, "refund.fee_minor: 12.5 has decimals"),
    "governed_by_text_fact": (7, "governed_by: 'order.plan' is no declared date"),
    "governed_by_unknown_fact": (7, "governed_by: 'order.bought_at' is no declared date"),
    "impossible_date": (5, "'2025-02-30' is no date"),
    "language_in_words": (6, "language: 'English' is no language tag"),
    "missing_title": (1, "title: missing"),
    "naive_instant": (5, "effective_from: 2025-02-01 09:00:00 has no offset"),
    "naive_instant_term": (12, "refund.until: 2025-02-01 09:00:00 has no offset"),
    "no_front_matter": (1, "authority: missing"),
    "quote_not_in_clause": (12, "refund.window_days: no passage of the clause 'window' states it"),
    "rule_cut_short": (12, "refund.eligible: the expression is cut short at character 22"),
    "rule_names_a_rule": (13, "refund.allowed: refund.eligible is a rule itself"),
    "rule_of_wrong_type": (12, "refund.eligible: '<' between string and int at character 12"),
    "rule_unknown_fact": (12, "refund.eligible: 'order.bought_at' is no fact and no term at character 1"),
    "rule_unknown_function": (12, "refund.eligible: the function 'day_since' is not known"),
    "rule_value_that_never_occurs": (12, "refund.eligible: order.plan is never 'yearly'"),
    "rule_with_decimal": (12, "refund.eligible: 0.1 is no whole number"),
    "rule_with_division": (12, "refund.eligible: '/' is refused"),
    "tab_in_front_matter": (8, "a tab in YAML"),
    "tab_in_text": (9, "a tab"),
    "term_is_a_fact": (12, "order.plan is a fact of facts.yaml"),
    "term_twice": (13, "the key 'refund.window_days' stands twice"),
    "term_unknown_key": (12, "refund.window_days: unknown key 'beter'"),
    "term_with_value_and_rule": (12, "refund.window_days: needs either a value or a rule"),
    "term_without_dot": (12, "'window_days' is no term name"),
    "term_without_value": (12, "refund.window_days: needs either a value or a rule"),
    "terms_no_mapping": (12, "the terms are no mapping"),
    "terms_without_text": (11, "refund.window_days: no passage of the clause 'window' states it"),
    "text_for_days": (12, "refund.window_days: 'fortnight' is not a whole number"),
    "transition_unknown_fact": (7, "transition: 'order.bought_at' is no fact and no term"),
    "transition_without_take": (7, "transition: not understood"),
    "unclosed_front_matter": (1, "the front matter has no end"),
    "unknown_audience": (7, "audience: 'partners' is not known"),
    "unknown_authority": (4, "authority: the ladder has no rank 'king'"),
    "unknown_dimension": (7, "unknown key 'countries'"),
    "unknown_effect": (7, "effect: 'strict' is not known"),
    "unknown_key": (7, "unknown key 'audiance'"),
    "unknown_region": (7, "the region 'Europe' is not known"),
    "unknown_zone": (7, "time_zone: 'Europe/Atlantis' is no time zone"),
    "year_0001": (5, "effective_from: the year 0001"),
    "year_9999": (7, "effective_to: the year 9999"),
}
