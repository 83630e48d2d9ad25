"""Leaderboards over the API: JSON, CSV, and answers that are only sent when they are new."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from app.base.db import writing
from app.models import Board, HistoricRow
from tests import world
from tests.rich_world import own
from tests.web.site import BOARD, BROWSER, Person, Site, csv_text
from tests.world import HOUR, NOW


@pytest.fixture
def scored(site: Site, ada: Person, eve: Person) -> Site:
    """Ada 0.5 and then 0.75, Eve only in the one-shot setting."""
    for content, value in (("a", 0.5), ("b", 0.75)):
        world.score(site.engine, world.submit(site.engine, ada.user, content=content).run_id, value)
    world.score(site.engine, world.submit(site.engine, eve.user, NOW + HOUR, content="c").run_id, None, 0.625)
    return site


def board(site: Site, path: str = BOARD, **headers: str) -> Any:
    with site.client(**headers) as reader:
        return reader.get(path)


def test_a_board_shows_each_teams_best(scored: Site) -> None:
    document = board(scored).json()
    assert (document["competition"], document["phase"], document["task"]) == ("idioms", "evaluation", "detection")
    assert document["rank_by"] == 0
    assert [column["split"] for column in document["columns"]] == ["zero_shot/all", "zero_shot/all"]
    [row] = document["rows"]
    assert (row["rank"], row["team"], row["entries"], row["kind"]) == (1, "Ada", 2, "team")
    assert [cell["value"] for cell in row["cells"]] == [0.75, 0.375]
    assert row["cells"][0]["signature"] == "idiom-detection:1|macro_f1|zero_shot/all"
    assert (row["submission"], row["is_mine"]) == (None, False)


def test_the_viewers_own_rows_are_marked_for_the_viewer_only(scored: Site, ada: Person) -> None:
    assert ada.client.get(BOARD).json()["rows"][0]["is_mine"] is True
    assert ada.client.get(BOARD).json()["rows"][0]["submission"] is not None
    assert board(scored).json()["rows"][0]["is_mine"] is False


@pytest.mark.parametrize("path", ["/boards/none", "/boards/none.csv"])
def test_an_unknown_board_is_told_with_what_there_is(site: Site, path: str) -> None:
    response = board(site, BOARD.replace("/boards/zero-shot", path))
    assert response.status_code == 404
    assert "'zero-shot', 'one-shot'" in response.json()["error"]["message"]


# ----------------------------------------------------------------------------------------------------------------- CSV


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        (BOARD, "text/csv"),
        (BOARD, "text/csv, application/json;q=0.5"),
        (BOARD + ".csv", "*/*"),
        (BOARD + "?format=csv", "application/json"),
    ],
)
def test_csv_can_be_asked_for_in_three_ways(scored: Site, path: str, accept: str) -> None:
    response = board(scored, path, Accept=accept)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    name = "idioms-evaluation-zero-shot-2026-01-10.csv"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    rows = list(csv.DictReader(io.StringIO(csv_text(response))))
    assert rows == [
        {
            "rank": "1",
            "team": "Ada",
            "kind": "team",
            "achieved_at": "2026-01-10T12:00:00+00:00",
            "method": "",
            "entries": "2",
            "source": "",
            "macro_f1 zero_shot/all": "0.75",
            "accuracy zero_shot/all": "0.375",
            "ranked_by": "macro_f1 zero_shot/all",
        }
    ]


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/csv", "text/html"])
def test_json_is_what_everybody_else_gets(scored: Site, accept: str) -> None:
    assert board(scored, Accept=accept).headers["Content-Type"] == "application/json"


def test_another_format_is_refused(site: Site) -> None:
    assert board(site, BOARD + "?format=xml").status_code == 422


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", '=HYPERLINK("http://x")'])
def test_no_text_becomes_a_formula(site: Site, evil: str) -> None:
    user = world.add_user(site.engine, "mallory", display_name=evil)
    world.score(site.engine, world.submit(site.engine, user, method=evil).run_id, 0.5)
    [row] = csv.DictReader(io.StringIO(csv_text(board(site, BOARD + ".csv"))))
    assert row["team"] == f"'{evil}"
    assert row["method"] == f"'{evil.strip()}"


@pytest.mark.parametrize(
    ("path", "accept"), [(BOARD, "text/csv"), (BOARD + ".csv", "*/*"), (BOARD + "?format=csv", "*/*")]
)
def test_programs_get_csv_without_the_mark_that_spreadsheets_need(scored: Site, path: str, accept: str) -> None:
    sign = "&" if "?" in path else "?"
    bare = board(scored, f"{path}{sign}bom=0", Accept=accept)
    assert bare.text == csv_text(board(scored, path, Accept=accept))
    assert int(bare.headers.get("Content-Length", len(bare.content))) == len(bare.content)
    assert board(scored, f"{path}{sign}bom=2", Accept=accept).status_code == 422


def test_full_precision_and_honest_gaps(site: Site) -> None:
    with writing(site.engine) as session:
        phase = world.the_phase_task(session).phase
        found = session.scalars(own(Board).where(Board.name == "zero-shot")).one()
        session.add(
            HistoricRow(
                phase_id=phase.id,
                board_id=found.id,
                team="-clay",
                achieved_at=None,
                scores={"macro_f1 zero_shot/all": 1 / 3},
                source="Table 5",
            )
        )
    [row] = csv.DictReader(io.StringIO(csv_text(board(site, BOARD + ".csv"))))
    assert (row["rank"], row["team"], row["kind"], row["source"]) == ("", "'-clay", "historic", "Table 5")
    assert float(row["macro_f1 zero_shot/all"]) == 1 / 3
    assert row["accuracy zero_shot/all"] == ""
    [row] = board(site).json()["rows"]
    assert row["cells"][1] == {"value": None, "reason": "not published", "signature": None, "interval": None}


def test_what_is_known_of_a_published_system_stands_on_page_and_in_json(site: Site) -> None:
    said = {"method": "CodaLab: sted97", "paper": "https://example.org/paper", "code": "https://example.org/code"}
    with writing(site.engine) as session:
        phase = world.the_phase_task(session).phase
        found = session.scalars(own(Board).where(Board.name == "zero-shot")).one()
        scores = {"macro_f1 zero_shot/all": 0.774}
        session.add(
            HistoricRow(phase_id=phase.id, board_id=found.id, team="NER4ID", scores=scores, source="Table 5", **said)
        )
    [row] = board(site).json()["rows"]
    assert {name: row["card"][name] for name in said} == said
    with site.client() as anonymous:
        page = anonymous.get(BOARD.removeprefix("/api/v1"), headers=BROWSER).text
    assert 'href="https://example.org/paper"' in page
    assert 'href="https://example.org/code"' in page
    assert "CodaLab: sted97" in page


# ------------------------------------------------------------------------------------------------------------- caching


def etag(site: Site, path: str = BOARD, **headers: str) -> str:
    found: str = board(site, path, **headers).headers["ETag"]
    assert found.startswith('"')  # a strong one
    return found


@pytest.mark.parametrize("path", [BOARD, BOARD + ".csv"])
def test_nothing_is_sent_twice(scored: Site, path: str) -> None:
    tag = etag(scored, path)
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        response = board(scored, path, **{"If-None-Match": known})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["ETag"] == tag
        assert response.headers["Cache-Control"] == "public, no-cache"
    assert board(scored, path, **{"If-None-Match": '"other"'}).status_code == 200


def test_a_new_score_is_a_new_tag(scored: Site, eve: Person) -> None:
    before = etag(scored)
    run_id = world.submit(scored.engine, eve.user, content="d").run_id
    assert etag(scored) == before  # a queued run shows nowhere
    world.score(scored.engine, run_id, 0.875)
    assert etag(scored) != before
    assert [row["team"] for row in board(scored).json()["rows"]] == ["Eve", "Ada"]


def test_every_representation_has_its_own_tag(scored: Site, ada: Person, eve: Person) -> None:
    tags = [
        etag(scored),
        etag(scored, BOARD + ".csv"),
        etag(scored, BOARD.replace("zero-shot", "one-shot")),
        etag(scored, **{"Accept-Encoding": "identity"}),
        ada.client.get(BOARD).headers["ETag"],
        eve.client.get(BOARD).headers["ETag"],
    ]
    assert len(set(tags)) == len(tags)


def test_what_is_marked_for_a_viewer_stays_with_the_viewer(scored: Site, ada: Person) -> None:
    response = ada.client.get(BOARD)
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert {"Authorization", "Cookie", "Accept"} <= {name.strip() for name in response.headers["Vary"].split(",")}


def test_a_wrong_token_is_no_anonymous_visit(scored: Site) -> None:
    assert board(scored, Authorization="Bearer evg_wrong").status_code == 401
