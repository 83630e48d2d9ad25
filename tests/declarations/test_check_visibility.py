"""`check_phases` on who sees what when: contradictions, each at its line; and what apply makes of the declaration."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.db import reading
from app.competitions.visibility import declared_of
from app.models import BoardShown, EntryRule, OwnScores, Phase, Slices
from tests.declarations.applying import apply, made, noted, phase_task
from tests.declarations.competition_folder import Competition, make_competition
from tests.rich_world import fresh

#: Of tests/declarations/competition_folder.py: the last line of the head of the phase 'evaluation'.
ENTRY = "        entry: last\n"


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path)


def evaluation(demo: Competition, *lines: str) -> None:
    """Put these lines, from line 36 on, below `entry: last` of the phase 'evaluation'."""
    demo.change(ENTRY, ENTRY + "".join(f"        {line}\n" for line in lines))


def practice(demo: Competition, *lines: str) -> None:
    """Add the same, from line 27 on, to the phase 'practice', which has no end."""
    limits = "        limits: {per_day: 5, total: 10}\n"
    demo.change(limits, limits + "".join(f"        {line}\n" for line in lines))


def test_the_usual_story_has_no_findings(demo: Competition) -> None:
    evaluation(demo, "visibility: {board: hidden, public_from: close, own_scores: after_close, names_from: close}")
    demo.change(
        "    phases:\n",
        "    phases:\n"
        "      - name: post\n"
        '        title: "Post"\n'
        "        start: 2026-07-01 00:00 AoE\n"
        "        carry_over: evaluation\n"
        "        tasks: {detection: {gold: demo/evaluation.csv, items: items.csv}}\n",
    )
    assert demo.said() == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ("visibility: {public_from: 2026-05-01 00:00 UTC}",),
            "36 error: 'public_from' is not after the start of the phase, so nothing would be hidden: "
            "2026-05-01 00:00 UTC, 2026-05-01 00:00 UTC",
        ),
        (
            ("visibility:", "  names_from: 2026-04-01 00:00 UTC"),
            "37 error: 'names_from' is not after the start of the phase, so nothing would be hidden: "
            "2026-04-01 00:00 UTC, 2026-05-01 00:00 UTC",
        ),
        (
            ("visibility: {board: public, public_from: close}",),
            "36 error: 'public_from' has no effect on a public board: "
            "remove it, or set 'board' to hidden or ranks_only",
        ),
        (
            ("visibility: {board: hidden}",),
            "36 warning: without 'public_from' the board is hidden for ever: write a moment, or 'close'",
        ),
        (
            ("visibility: {board: ranks_only}",),
            "36 warning: without 'public_from' the board shows only ranks for ever: write a moment, or 'close'",
        ),
        (
            ("visibility: {own_scores: never}",),
            "36 warning: own_scores is 'never', but the public board shows these scores to everybody",
        ),
        (
            ("visibility: {slices: colums}",),
            "36 error: 'slices' must be one of none, ranked, columns, all, but is 'colums'",
        ),
        (("visibility: {board: hiden, public_from: close}",), "36 error: 'board' must be one of hidden, ranks_only"),
        (
            ("visibility: {precision: 11}",),
            "36 error: 'precision' is not right: this must be a whole number from 0 to 10, or 'full' for all decimals",
        ),
        (
            ("visibility: {public_from: tomorrow}",),
            "36 error: 'public_from' is not right: 'tomorrow' is not a date and time",
        ),
        (("visibility: {boards: hidden}",), "36 error: there is no key 'boards' here; did you mean 'board'?"),
        (
            ("choose_until: 2026-06-01 00:00 UTC",),
            "36 error: 'choose_until' is for the entry rule 'chosen': here teams do not choose",
        ),
        (("without_choice: best",), "36 error: 'without_choice' is for the entry rule 'chosen'"),
        (("carry_over: practise",), "36 error: there is no phase 'practise'; did you mean 'practice'?; the phases are"),
        (("carry_over: evaluation",), "36 error: entries are carried over in a circle: evaluation > evaluation"),
    ],
)
def test_contradictions_of_a_phase(demo: Competition, lines: tuple[str, ...], expected: str) -> None:
    evaluation(demo, *lines)
    (said,) = demo.said()
    assert said.startswith(expected)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ("visibility: {own_scores: after_close, board: hidden, public_from: 2027-01-01 00:00 UTC}",),
            "27 error: 'after_close' is never: the phase 'practice' has no end; write 'never' or give it one",
        ),
        (
            ("visibility: {public_from: close}",),
            "27 error: 'public_from' is 'close', but the phase 'practice' has no end",
        ),
        (
            ("snapshot: true",),
            "27 error: the phase 'practice' has no end, so no official results will ever be frozen",
        ),
        (
            ("entry: chosen", "choose_until: close"),
            "28 error: 'choose_until' is 'close', but the phase 'practice' has no end",
        ),
        (
            ("carry_over: evaluation",),
            "27 error: 'evaluation' does not start before 'practice': entries come from an earlier phase",
        ),
    ],
)
def test_contradictions_of_a_phase_without_an_end(demo: Competition, lines: tuple[str, ...], expected: str) -> None:
    practice(demo, *lines)
    (said,) = demo.said()
    assert said.startswith(expected)


def test_a_circle_of_two_is_told_at_both(demo: Competition) -> None:
    practice(demo, "carry_over: evaluation")
    demo.change(ENTRY, ENTRY + "        carry_over: practice\n")
    assert demo.said() == [
        "27 error: entries are carried over in a circle: practice > evaluation > practice",
        "37 error: entries are carried over in a circle: evaluation > practice > evaluation",
    ]


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (
            "2026-08-01 00:00 UTC",
            "'choose_until' is after the phase has closed, when its boards are frozen: 2026-08-01",
        ),
        ("2026-05-01 00:00 UTC", "'choose_until' is not after the start of the phase: 2026-05-01 00:00 UTC"),
    ],
)
def test_a_choice_ends_within_the_phase(demo: Competition, until: str, expected: str) -> None:
    demo.change(ENTRY, f"        entry: chosen\n        choose_until: {until}\n        without_choice: best\n")
    (said,) = demo.said()
    assert said.startswith(f"36 error: {expected}")


def test_official_results_that_nobody_could_see(demo: Competition) -> None:
    evaluation(demo, "visibility: {board: hidden}", "snapshot: true")
    assert demo.said() == [
        "36 warning: without 'public_from' the board is hidden for ever: write a moment, or 'close'",
        "37 error: the board is hidden for ever, and its official results with it: set 'public_from'",
    ]


def test_entries_that_would_not_be_carried_over(demo: Competition) -> None:
    """Check with the gold of both phases present, and another one."""
    evaluation(demo, "carry_over: practice")
    assert demo.said() == [
        "38 warning: nothing of 'detection' can be carried over from 'practice': its gold differs there"
    ]


def test_a_task_contradicts_itself_or_its_phase(demo: Competition) -> None:
    evaluation(demo, "visibility: {board: hidden, public_from: close}")
    items = "            items: items.csv\n"
    demo.change(
        items,
        items + "            visibility: {board: public}\n"
        "            limits: {per_day: 5, per_month: 7, per_week: 8, total: 3}\n"
        "            choose_until: close\n",
    )
    assert demo.said() == [
        "41 error: 'public_from' has no effect on a public board: remove it, or set 'board' to hidden or ranks_only",
        "42 error: per_month (7) is more than total (3)",
        "42 error: per_week (8) is more than per_month (7)",
        "43 error: 'choose_until' is for the entry rule 'chosen': here teams do not choose",
    ]


# --------------------------------------------------------------------------------------------------------------- apply


def test_apply_keeps_what_was_said_and_reads_it_back(engine: Engine, demo: Competition) -> None:
    demo.change(ENTRY, "        entry: chosen\n        choose_until: 2026-06-20 00:00 UTC\n")
    evaluation_head = "        without_choice: best\n        carry_over: practice\n        snapshot: false\n"
    until = "        choose_until: 2026-06-20 00:00 UTC\n"
    visibility = (
        "        visibility: {board: ranks_only, public_from: 2026-07-02 00:00 UTC, own_scores: never, "
        "names_from: close, slices: columns, precision: 3}\n"
    )
    demo.change(until, until + evaluation_head + visibility)
    items = "            items: items.csv\n"
    demo.change(
        items,
        items + '            gold_version: "1.1"\n'
        "            visibility: {precision: 2}\n"
        "            limits: {total: 4}\n"
        "            entry: best\n",
    )
    apply(engine, demo)
    with reading(engine) as session:
        phase = session.scalars(fresh(Phase).where(Phase.name == "evaluation")).one()
    assert (phase.entry_rule, phase.choose_until) == (EntryRule.CHOSEN, datetime(2026, 6, 20, tzinfo=UTC))
    assert (phase.without_choice, phase.carry_over, phase.has_snapshot) == (EntryRule.BEST, "practice", False)
    asked = phase_task(engine, "evaluation")
    assert (asked.gold_version, asked.limits, asked.entry) == ("1.1", {"total": 4}, {"entry": "best"})
    found = declared_of(phase, asked)
    assert (found.board, found.public_from) == (BoardShown.RANKS_ONLY, datetime(2026, 7, 2, tzinfo=UTC))
    assert (found.own_scores, found.slices, found.precision) == (OwnScores.NEVER, Slices.COLUMNS, 2)
    assert found.names_from == phase.ends_at
    assert declared_of(phase).precision == 3
    assert made(apply(engine, demo)) == [], "twice is as good as once"


def test_apply_says_what_changed(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)
    before = phase_task(engine, "evaluation").board_version
    evaluation(demo, "visibility: {board: hidden, public_from: close}")
    changes = apply(engine, demo)
    assert made(changes) == [
        'changed visibility of phase \'evaluation\' of \'demo\' from {} to {"board": "hidden", "public_from": "close"}'
    ]
    assert noted(changes) == []
    assert phase_task(engine, "evaluation").board_version == before + 1


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["entry: ladder"], "35 error: the entry rule 'ladder' needs a 'ladder_step', such as 0.01"),
        (
            ["entry: last", "ladder_step: 0.01"],
            "36 error: 'ladder_step' is for the entry rule 'ladder': here scores are shown unchanged",
        ),
        (["entry: ladder", "ladder_step: 0"], "36 error: 'ladder_step' must be above 0, but is 0"),
    ],
)
def test_a_ladder_and_its_step_belong_together(demo: Competition, lines: list[str], expected: str) -> None:
    demo.change(ENTRY, "".join(f"        {line}\n" for line in lines))
    assert any(said.startswith(expected) for said in demo.said())


def test_a_ladder_is_applied(demo: Competition, engine: Engine) -> None:
    demo.change(ENTRY, "        entry: ladder\n        ladder_step: 0.005\n")
    apply(engine, demo)
    with reading(engine) as session:
        phase = session.scalars(fresh(Phase).where(Phase.name == "evaluation")).one()
    assert (phase.entry_rule, phase.ladder_step) == (EntryRule.LADDER, 0.005)
