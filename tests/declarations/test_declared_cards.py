"""Method cards and ranked baselines as phases.yaml declares them: checked by line, applied, and changed again."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.db import reading
from app.cards.form import CardKind, CardPart, card_form
from app.models import Competition as CompetitionRow, PhaseTask, Team
from tests.declarations.applying import apply, made, phase_task
from tests.declarations.competition_folder import Competition, make_competition
from tests.rich_world import fresh

CARD = """\
    method_card:
      required: [code]
      fields:
        - {name: parameters, title: "Parameters", kind: number, on_board: true}
        - {name: family, title: "Family", kind: choice, choices: [encoder, "no"], required: true, help: "Which."}
"""
BASELINE = '{name: "Majority", file: majority.csv, method: "Always 1"}'


@pytest.fixture
def demo(tmp_path: Path) -> Competition:
    return make_competition(tmp_path / "demo")


@pytest.fixture
def engine(sqlite_engine: Engine) -> Engine:
    return sqlite_engine


def declare(demo: Competition, card: str) -> None:
    demo.change('    title: "Demo"\n', f'    title: "Demo"\n{card}')


# -------------------------------------------------------------------------------------------------------------- checked


def test_a_sound_card_is_found_sound(demo: Competition) -> None:
    declare(demo, CARD)
    assert demo.said() == []


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (
            "    method_card: {required: [licence]}\n",
            "6 error: 'required' must be one of method, summary, paper, code, data, languages, but is 'licence'",
        ),
        (
            "    method_card: {fields: [{name: a, title: A}, {name: a, title: B}]}\n",
            "6 error: the field 'a' is declared twice; first on line 6",
        ),
        (
            "    method_card: {fields: [{name: a, title: A, kind: choice}]}\n",
            "6 error: a field of the kind 'choice' needs 'choices'",
        ),
        (
            "    method_card: {fields: [{name: a, title: A, choices: [x]}]}\n",
            "6 error: 'choices' need the kind 'choice'; answers of this kind are free text",
        ),
        (
            "    method_card: {fields: [{name: a, title: A, kind: choice, choices: [x, y, x]}]}\n",
            "6 error: the choice 'x' is listed twice; first on line 6",
        ),
        (
            "    method_card: {fields: [{name: a}]}\n",
            "6 error: the field that begins here needs the key 'title'",
        ),
        (
            "    method_card: {fields: [{name: a, title: A, kind: date}]}\n",
            "6 error: 'kind' must be one of text, number, choice, yes_no, but is 'date'",
        ),
        (
            "    method_card: {fields: [{name: a, title: A, required: 1}]}\n",
            "6 error: 'required' must be true or false, but is the number 1",
        ),
    ],
)
def test_what_is_wrong_with_a_card_is_told_at_its_line(demo: Competition, card: str, said: str) -> None:
    declare(demo, card)
    assert [line.split("; did you mean")[0] for line in demo.said()] == [said]


# -------------------------------------------------------------------------------------------------------------- applied


def test_a_card_is_applied_and_boards_follow(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)
    with reading(engine) as session:
        assert session.scalars(fresh(CompetitionRow)).one().method_card == {}
    before = phase_task(engine, "evaluation").board_version
    declare(demo, CARD)
    assert any("method_card of 'demo'" in change for change in made(apply(engine, demo)))
    assert made(apply(engine, demo)) == [], "twice is as good as once"
    assert phase_task(engine, "evaluation").board_version == before + 1
    with reading(engine) as session:
        form = card_form(session.scalars(fresh(CompetitionRow)).one().method_card)
    assert form.required == (CardPart.CODE,)
    assert [(field.name, field.kind, field.required, field.on_board) for field in form.fields] == [
        ("parameters", CardKind.NUMBER, False, True),
        ("family", CardKind.CHOICE, True, False),
    ]
    assert (form.fields[1].choices, form.fields[1].help) == (("encoder", "no"), "Which.")


def test_a_baseline_gets_its_rank_and_loses_it(engine: Engine, demo: Competition) -> None:
    apply(engine, demo)

    def ranked() -> list[str]:
        with reading(engine) as session:
            found = session.scalars(select(PhaseTask.ranked_baselines)).all()
            return list(session.scalars(select(Team.name).where(Team.id.in_(sum(found, [])))))

    assert ranked() == []
    before = phase_task(engine, "evaluation").board_version
    demo.change(BASELINE, BASELINE.replace("}", ", ranked: true}"))
    assert demo.said() == []
    what = "baseline 'Majority' of 'detection' in phase 'evaluation' of 'demo'"
    assert made(apply(engine, demo)) == [f"{what} has a rank now"]
    assert (ranked(), phase_task(engine, "evaluation").board_version) == (["Majority"], before + 1)
    assert made(apply(engine, demo)) == []
    demo.change(", ranked: true", "")
    assert made(apply(engine, demo)) == [f"{what} no longer has a rank"]
    assert ranked() == []
