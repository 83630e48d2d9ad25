"""A task's results side by side: who is where, what is missing, how it is sorted, on the page and over the API."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.base.db import writing
from app.boards.side_by_side import short_titles
from app.models import Board, Competition, CompetitionTask, HistoricRow, Phase, PhaseTask, TeamKind
from tests import world
from tests.rich_world import leave_alone_what_is_prepared, own
from tests.web import markup
from tests.web.reading import COMPETITION_PAGE, rows_of, text_of, visit
from tests.web.site import Person, Site, csv_text
from tests.world import DAY, HOUR, NOW, ONE_SHOT, ZERO_SHOT

PAGE = f"{COMPETITION_PAGE}/tasks/{world.TASK}/results"
API = f"/api/v1{PAGE}"
PUBLISHED = "A paper, table 4"


def add_phase(site: Site, name: str, starts_at: Any = NOW - 2 * DAY) -> None:
    """Add another phase with the same task, after the existing one."""
    with writing(site.engine) as session:
        competition = session.scalars(own(Competition)).one()
        task = session.scalars(own(CompetitionTask)).one()
        first = session.scalars(own(Phase)).one()
        phase = Phase(
            competition_id=competition.id,
            name=name,
            title=name.capitalize(),
            starts_at=starts_at,
            entry_rule=first.entry_rule,
            rejected_per_hour=60,
            upload_limit_bytes=1_000_000,
            position=1,
            visibility=dict(world.SHOWN_WHOLE),
        )
        session.add(phase)
        session.flush()
        session.add(PhaseTask(phase_id=phase.id, task_id=task.id, gold="gold.csv"))


def add_published(site: Site, team: str, phase: str, board: str, scores: dict[str, float]) -> None:
    with writing(site.engine) as session:
        session.add(
            HistoricRow(
                phase_id=session.scalars(own(Phase).where(Phase.name == phase)).one().id,
                board_id=session.scalars(own(Board).where(Board.name == board)).one().id,
                team=team,
                achieved_at=None,
                scores=scores,
                source=PUBLISHED,
            )
        )


@pytest.fixture
def empty_site(empty_site: Site) -> Site:
    """Return a server on which all phases of a task can be counted: there are only the test's own."""
    leave_alone_what_is_prepared(empty_site.engine)
    return empty_site


@pytest.fixture
def scored(site: Site, ada: Person, eve: Person) -> Site:
    """Ada in both settings, in zero-shot twice; Eve in zero-shot; a paper in both phases; the second phase is empty."""
    add_phase(site, "test")
    world.score(site.engine, world.submit(site.engine, ada.user, content="a").run_id, 0.5, 0.25)
    world.score(site.engine, world.submit(site.engine, ada.user, NOW + HOUR, content="b").run_id, 0.75)
    world.score(site.engine, world.submit(site.engine, eve.user, content="c").run_id, 0.625)
    for phase, value in (("evaluation", 0.7), ("test", 0.65)):
        add_published(site, "BERT", phase, "zero-shot", {f"macro_f1 {ZERO_SHOT}": value})
    add_published(site, "BERT", "evaluation", "one-shot", {f"macro_f1 {ONE_SHOT}": 0.8})
    return site


def document(site: Site, path: str = API) -> Any:
    with site.client() as reader:
        return reader.get(path).json()


def cells(site: Site) -> dict[str, list[float | None]]:
    return {row["team"]: [cell["value"] for cell in row["cells"]] for row in document(site)["rows"]}


# ---------------------------------------------------------------------------------------------------------------- what


def test_every_phase_and_board_is_a_column(scored: Site) -> None:
    found = document(scored)
    assert [(column["phase"], column["board"], column["split"]) for column in found["columns"]] == [
        ("evaluation", "zero-shot", ZERO_SHOT),
        ("evaluation", "one-shot", ONE_SHOT),
        ("test", "zero-shot", ZERO_SHOT),
        ("test", "one-shot", ONE_SHOT),
    ]
    assert (found["competition"], found["task"], found["page"]) == ("idioms", "detection", PAGE)
    boards = [document(scored, column["link"]) for column in found["columns"]]
    assert [(board["phase"], board["name"]) for board in boards] == [
        (column["phase"], column["board"]) for column in found["columns"]
    ]


def test_a_cell_is_what_stands_on_the_board(scored: Site) -> None:
    """Ada's best in each setting, from different submissions."""
    assert cells(scored) == {
        "BERT": [0.7, 0.8, 0.65, None],
        "Ada": [0.75, 0.25, None, None],
        "Eve": [0.625, None, None, None],
    }


def test_what_is_missing_says_why(scored: Site) -> None:
    by_team = {row["team"]: row for row in document(scored)["rows"]}
    assert by_team["Eve"]["cells"][1] == {"value": None, "reason": "not entered", "signature": None, "interval": None}
    assert by_team["BERT"]["cells"][3]["reason"] == "not published"
    assert (by_team["BERT"]["kind"], by_team["BERT"]["source"]) == ("historic", PUBLISHED)
    assert by_team["Ada"]["cells"][0]["signature"] == f"idiom-detection:1|macro_f1|{ZERO_SHOT}"


def test_an_undefined_score_keeps_its_reason(site: Site, ada: Person) -> None:
    run_id = world.submit(site.engine, ada.user).run_id
    undefined = world.scores_of(ZERO_SHOT, None, "the predictions are constant")
    world.finish(site.engine, world.sure(world.claim(site.engine, run_id)), undefined)
    [row] = document(site)["rows"]
    assert row["cells"][0]["reason"] == "the predictions are constant"


def test_baselines_stand_there_too(site: Site, ada: Person) -> None:
    world.add_team(site.engine, ada.user, name="Majority class", kind=TeamKind.BASELINE)
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.5)
    [row] = document(site)["rows"]
    assert (row["team"], row["kind"]) == ("Majority class", "baseline")


def test_a_phase_that_has_not_begun_is_no_column(site: Site) -> None:
    add_phase(site, "later", NOW + DAY)
    assert {column["phase"] for column in document(site)["columns"]} == {"evaluation"}
    site.set_clock(NOW + DAY + timedelta(seconds=1))
    assert {column["phase"] for column in document(site)["columns"]} == {"evaluation", "later"}


def test_boards_that_rank_by_the_same_are_one_column(site: Site) -> None:
    with writing(site.engine) as session:
        board = session.scalars(own(Board).where(Board.name == "one-shot")).one()
        board.rank_split = ZERO_SHOT
        board.columns = [{**column, "split": ZERO_SHOT} for column in board.columns]
    assert [column["board"] for column in document(site)["columns"]] == ["zero-shot"]


def test_an_unknown_task_is_told_with_what_there_is(site: Site) -> None:
    with site.client() as reader:
        response = reader.get(API.replace("detection", "detectoin"))
    assert response.status_code == 404
    assert "did you mean 'detection'?" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("titles", "short"),
    [
        (["Idioms, English, zero-shot", "Idioms, English, one-shot"], ["zero-shot", "one-shot"]),
        (["Zero-shot", "One-shot"], ["Zero-shot", "One-shot"]),
        (["A, b", "A"], ["A, b", "A"]),
        (["A, b", "A, b, c"], ["b", "b, c"]),
        (["Only, one", "Only, one"], ["Only, one", "Only, one"]),
        ([], []),
    ],
)
def test_titles_lose_what_all_begin_with(titles: list[str], short: list[str]) -> None:
    assert short_titles(titles) == short


# ----------------------------------------------------------------------------------------------------------- in order


def test_rows_are_sorted_by_the_last_phase_that_has_results(scored: Site) -> None:
    assert document(scored)["sorted_by"] == 2
    assert list(cells(scored)) == ["BERT", "Ada", "Eve"]


@pytest.mark.parametrize(
    ("sort", "teams"),
    [
        ("evaluation/zero-shot", ["Ada", "BERT", "Eve"]),
        ("evaluation/one-shot", ["BERT", "Ada", "Eve"]),
        ("none/such", ["BERT", "Ada", "Eve"]),
    ],
)
def test_a_link_sorts_the_page_by_another_column(scored: Site, sort: str, teams: list[str]) -> None:
    shown = visit(scored, f"{PAGE}?sort={sort}")
    rows = [text_of(row) for row in rows_of(shown)]
    assert [next(team for team in teams if team in row) for row in rows] == teams
    assert 'href="?sort=evaluation/one-shot"' in shown


def test_lower_is_better_where_the_metric_says_so(scored: Site) -> None:
    """Check the same numbers as errors: the best is the smallest."""
    with writing(scored.engine) as session:
        session.scalars(own(CompetitionTask)).one().task_type = "table"
        for board in session.scalars(own(Board)):
            board.columns = [{**board.columns[0], "metric": "rmse"}]
            board.rank_metric = "rmse"
        for row in session.scalars(select(HistoricRow)):
            row.scores = {name.replace("macro_f1", "rmse"): value for name, value in row.scores.items()}
    add_published(scored, "Older", "evaluation", "zero-shot", {f"rmse {ZERO_SHOT}": 0.9})
    shown = visit(scored, f"{PAGE}?sort=evaluation/zero-shot")
    assert text_of(shown).index("BERT") < text_of(shown).index("Older")
    assert "<strong>0.7000</strong>" in shown


# ------------------------------------------------------------------------------------------------------------ on a page


def test_the_page_shows_all_of_it(scored: Site) -> None:
    shown = visit(scored, PAGE)
    markup.check(shown)
    text = text_of(shown)
    assert "BERT published 0.7000 0.8000 0.6500 – not published" in text
    assert "Ada 0.7500 0.2500 – not entered – not entered" in text
    assert f"Published results: {PUBLISHED}" in text
    assert shown.count("<strong>") == 3  # the best of each column that has values


def test_ones_own_row_is_marked_for_oneself_only(scored: Site, ada: Person) -> None:
    mine = ada.client.get(API).json()["rows"]
    assert [row["team"] for row in mine if row["is_mine"]] == ["Ada"]
    assert not [row for row in document(scored)["rows"] if row["is_mine"]]


def test_an_empty_task_says_so(site: Site) -> None:
    shown = visit(site, PAGE)
    markup.check(shown)
    assert "No entries yet" in text_of(shown)


def test_boards_lead_there(site: Site) -> None:
    assert f'href="{PAGE}"' in visit(site, f"{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot")


# -------------------------------------------------------------------------------------------------------- over the API


def test_csv_has_full_precision_and_no_formulas(scored: Site) -> None:
    add_published(scored, "=1+1", "test", "one-shot", {f"macro_f1 {ONE_SHOT}": 1 / 3})
    with scored.client() as reader:
        response = reader.get(f"{API}.csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="idioms-detection.csv"'
    rows = {row["team"]: row for row in csv.DictReader(io.StringIO(csv_text(response)))}
    assert float(rows["'=1+1"]["test/one-shot"]) == 1 / 3
    assert rows["Ada"] == {
        "team": "Ada",
        "kind": "team",
        "source": "",
        "evaluation/zero-shot": "0.75",
        "evaluation/one-shot": "0.25",
        "test/zero-shot": "",
        "test/one-shot": "",
    }


@pytest.mark.parametrize("path", [API, f"{API}.csv"])
def test_nothing_is_sent_twice_until_something_changes(scored: Site, eve: Person, path: str) -> None:
    with scored.client() as reader:
        tag = reader.get(path).headers["ETag"]
        again = reader.get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        world.score(scored.engine, world.submit(scored.engine, eve.user, content="d").run_id, 0.875)
        assert reader.get(path, headers={"If-None-Match": tag}).status_code == 200
        assert eve.client.get(path).headers["ETag"] != reader.get(path).headers["ETag"]
