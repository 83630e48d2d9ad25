"""Findings concern the phase and the task that they name: other phases, tasks or limits cause none."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.declarations.check import check_phases
from tests.declarations.competition_folder import HISTORIC, NOW, Competition, make_competition

Change = tuple[str, str]

LIMITS = "limits: {per_day: 5, total: 10}"
PRACTICE = '        start: "2026-01-01 00:00 UTC"\n'
ENTRY = "        entry: last\n"
ITEMS, PRACTISED = "            items: items.csv\n", "            items: practice.csv\n"
#: Another task, of the evaluation alone unless said otherwise.
OTHER = '      - {name: other, type: idiom-detection, title: "Other", options: {languages: [pt]}}\n    boards:\n'


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def with_other(*phases: str) -> list[Change]:
    """Add the other task to these phases, with gold and items of its own."""
    lines = "          other:\n            gold: demo/other.csv\n"
    places = {"practice": PRACTISED, "evaluation": '"Majority", file: majority.csv, method: "Always 1"}\n'}
    return [("    boards:\n", OTHER), *((places[phase], places[phase] + lines) for phase in phases)]


OVERLAP = "the phases 'practice' and 'evaluation' are open at the same time with the same"
SAME_GOLD: Change = ("gold: demo/practice.csv", "gold: demo/evaluation.csv")
ENDED: Change = (PRACTICE, PRACTICE + '        end: "2026-05-01 00:00 UTC"\n')
CARRIED: Change = (ENTRY, f"{ENTRY}        carry_over: practice\n")
PART, SOURCE = "{share: 0.5, seed: nobody guesses this one}", '            source: "A paper"\n'


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([ENDED], []),
        ([ENDED, ("2026-07-01 00:00 AoE", "2026-05-20 00:00 AoE")], ["every phase has ended"]),
        ([(LIMITS, "limits: {per_day: 5, per_week: 5, per_month: 5, total: 5}")], []),
        ([(LIMITS, "limits: {per_day: 5, per_week: 20, per_month: 30, total: 40}")], []),
        (
            [(LIMITS, "limits: {per_day: 5, per_week: 30, per_month: 20}")],
            ["per_week (30) is more than per_month (20)"],
        ),
        (
            [(PRACTISED, f"{PRACTISED}            limits: {{per_day: 20}}\n")],
            ["per_day (20) is more than total (10)"],
        ),
        ([(PRACTISED, f"{PRACTISED}            limits: {{per_day: 20, total: 30}}\n")], []),
        # The same items or gold of one task in two phases that are open at once, and of two tasks.
        ([SAME_GOLD], [f"{OVERLAP} gold of 'detection'"]),
        ([SAME_GOLD, ENDED], []),
        ([("items: practice.csv", "items: items.csv")], [f"{OVERLAP} items of 'detection'"]),
        ([*with_other("practice"), ("gold: demo/other.csv", "gold: demo/evaluation.csv")], []),
        ([*with_other("practice", "evaluation")], [f"{OVERLAP} gold of 'other'"]),
        # Public gold, hidden in another phase, of another task, or at another time.
        (
            [SAME_GOLD, (PRACTISED, f"{PRACTISED}            gold_is_public: true\n")],
            ["the phase 'evaluation' uses this gold for 'detection'", f"{OVERLAP} gold"],
        ),
        ([SAME_GOLD, ENDED, (PRACTISED, f"{PRACTISED}            gold_is_public: true\n")], []),
        (
            [
                *with_other("practice"),
                ("gold: demo/other.csv", "gold: demo/evaluation.csv\n            gold_is_public: true"),
            ],
            [],
        ),
        (
            [
                SAME_GOLD,
                (PRACTICE, PRACTICE + '        end: "2026-06-10 00:00 UTC"\n'),
                ("2026-05-01 00:00 UTC", "2026-06-15 00:00 UTC"),
                (PRACTISED, f"{PRACTISED}            gold_is_public: true\n"),
            ],
            ["teams of 'practice' see which items they got right"],
        ),
        # What is carried over was asked in the same way, in a phase before.
        ([SAME_GOLD, ENDED, CARRIED], []),
        ([SAME_GOLD, ENDED, CARRIED, ('start: "2026-05-01', 'start: "2026-01-01')], ["does not start before", OVERLAP]),
        (
            [SAME_GOLD, ENDED, CARRIED, (ITEMS, f'{ITEMS}            gold_version: "2"\n')],
            ["nothing of 'detection' can be carried over from 'practice': its gold_version differs there"],
        ),
        (
            [
                ENDED,
                CARRIED,
                ("            gold: demo/practice.csv\n", ""),
                ("            gold: demo/evaluation.csv\n", ""),
                (ITEMS, f'{ITEMS}            gold_version: "2"\n'),
            ],
            ["'detection' has no gold in phase 'evaluation'"],
        ),
        (
            [
                SAME_GOLD,
                ENDED,
                CARRIED,
                ('        end: "2026-07-01 00:00 AoE"\n', ""),
                *((one, f"{one}            private_part: {PART}\n") for one in (ITEMS, PRACTISED)),
            ],
            ["the phase 'evaluation' has no end: set 'shown_from'"],
        ),
        # What a phase does not say of options, its task says.
        (
            [
                (PRACTISED, f"{PRACTISED}            options: {{settings: [zero_shot]}}\n"),
                (SOURCE, f"{SOURCE}          - {{phase: practice, file: historic.csv, source: B}}\n"),
            ],
            [],
        ),
        # What a task does not say, its phase says.
        (
            [
                (ENTRY, f"{ENTRY}        visibility: {{board: public}}\n"),
                (ITEMS, f"{ITEMS}            visibility: {{public_from: close}}\n"),
            ],
            ["'public_from' has no effect on a public board"],
        ),
        ([(ENTRY, "        entry: chosen\n"), (ITEMS, f"{ITEMS}            choose_until: close\n")], []),
        ([(ITEMS, f"{ITEMS}            choose_until: close\n")], ["'choose_until' is for the entry rule 'chosen'"]),
        (
            [(ENTRY, f"{ENTRY}        visibility: {{board: hidden, public_from: close, own_scores: never}}\n")],
            [],
        ),
        ([(ENTRY, f"{ENTRY}        visibility: {{own_scores: never}}\n")], ["own_scores is 'never', but the public"]),
        ([(ENTRY, f"{ENTRY}        visibility: {{public_from: close, own_scores: never}}\n")], []),
        # A moment at the very start hides nothing; one at the end is in time.
        (
            [(ENTRY, f'{ENTRY}        visibility: {{board: hidden, public_from: "2026-05-01 00:00 UTC"}}\n')],
            ["'public_from' is not after the start of the phase"],
        ),
        (
            [(ENTRY, '        entry: chosen\n        choose_until: "2026-07-01 00:00 AoE"\n')],
            [],
        ),
        (
            [(ENTRY, '        entry: chosen\n        choose_until: "2026-07-01 00:01 AoE"\n')],
            ["'choose_until' is after the phase has closed"],
        ),
        # Official results of a board that shows ranks alone are seen by everybody.
        (
            [(ENTRY, f"{ENTRY}        snapshot: true\n        visibility: {{board: ranks_only}}\n")],
            ["shows only ranks"],
        ),
    ],
)
def test_a_finding_is_one_of_its_own_place(demo: Competition, changes: list[Change], said: list[str]) -> None:
    for old, new in changes:
        demo.change(old, new)
    found = [one.message for one in check_phases(demo.phases, now=NOW)]
    found = [one for one in found if "the board is shown nowhere" not in one]
    assert len(found) == len(said), found
    for part in said:
        assert any(part in one for one in found), (part, found)


@pytest.mark.parametrize("phase", ["practice", "evaluation"])
def test_gold_that_is_sealed_for_one_phase_is_none_of_another(demo: Competition, phase: str) -> None:
    for gold in ("practice", "evaluation"):
        demo.change(f"            gold: demo/{gold}.csv\n", "")
    found = check_phases(demo.phases, now=NOW, sealed={("demo", phase, "detection")})
    other = "evaluation" if phase == "practice" else "practice"
    assert [one.message.partition(":")[0] for one in found] == [f"'detection' has no gold in phase '{other}'"]


def test_published_results_are_read_by_the_options_of_their_own_phase(demo: Competition) -> None:
    """Check that a board's columns are those of its own task."""
    demo.change(PRACTISED, "            options: {languages: [pt]}\n")
    demo.change(
        '            source: "A paper"\n',
        '            source: "A paper"\n          - {phase: practice, file: more.csv, source: "Another"}\n',
    )
    demo.write("more.csv", HISTORIC.replace("zero_shot/en", "zero_shot/pt"))
    assert demo.said() == []
    demo.write("more.csv", HISTORIC)
    (said,) = demo.said()
    assert "more.csv does not hold published results" in said
    for old, new in with_other("evaluation"):
        demo.change(old, new)
    demo.write("more.csv", HISTORIC.replace("zero_shot/en", "zero_shot/pt"))
    assert demo.said() == []


def test_a_ranking_needs_one_phase_with_all_of_its_tasks(demo: Competition) -> None:
    for old, new in with_other("evaluation"):
        demo.change(old, new)
    board = '      - {name: second, title: "B", task: other, columns: [{metric: macro_f1, split: zero_shot/all}]}\n'
    parts = "[{board: zero-shot}, {board: second}]"
    ranking = f'    rankings: [{{name: all, title: "All", by: mean_rank, boards: {parts}}}]\n'
    demo.change("    phases:\n", f"{board}{ranking}    phases:\n")
    assert demo.said() == []
    text = demo.phases.read_text(encoding="utf-8")
    at = text.index("          other:\n")
    lines, rest = text[at:], text[:at]
    demo.write("phases.yaml", rest.replace(PRACTISED, PRACTISED + lines))
    assert demo.said() == []
    demo.write("phases.yaml", rest)
    assert any("no phase has" in one for one in demo.said())
