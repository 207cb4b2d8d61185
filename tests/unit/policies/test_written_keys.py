from __future__ import annotations

from policies.written_keys import restarted, stated_keys

OURS = "---\npolicy: refund\neffective_from: 2024-01-01\neffective_to: 2025-01-01\n---\n## Window\n"
#: A template of somebody else's site: what stands in it is no YAML.
FOREIGN = "---\nlayout: {{ page.layout }}\neffective_from: 2024-01-01\n---\n## Window\n"


def test_own_head_and_sidecar_state_keys() -> None:
    sidecar = "front_matter: {owner: legal}\nwindow: {refund.window_days: 14}\n"

    assert stated_keys(OURS, sidecar) == {"policy", "effective_from", "effective_to", "owner"}


def test_foreign_head_states_no_keys() -> None:
    assert stated_keys(FOREIGN, None) == frozenset()


def test_new_start_takes_the_end_away() -> None:
    assert restarted(OURS, start="2026-01-01") == "---\npolicy: refund\neffective_from: 2026-01-01\n---\n## Window\n"


def test_foreign_head_keeps_every_letter() -> None:
    assert restarted(FOREIGN, start="2026-01-01") == FOREIGN
