"""Published results on pages: the numbers of a measure to switch between, a page for each row, ranks of elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import update

from app.base.db import writing
from app.importers.ncimp import import_ncimp
from app.importers.semeval2022 import import_semeval2022
from app.importers.writing import read_published
from app.models import Phase, PhaseTask
from tests import official_shapes
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BROWSER, Site
from tests.whole import open_competition

BOARD = "/competitions/ncimp/phases/open/boards/{}"


@pytest.fixture
def ncimp(empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    import_ncimp(official_shapes.ncimp(tmp_path / "checkout"), tmp_path / "competition", tmp_path / "gold")
    open_competition(empty_site, tmp_path / "competition" / "competition.yaml", tmp_path / "gold", monkeypatch)
    return empty_site


def page(site: Site, path: str, **parameters: str) -> str:
    with site.client() as anonymous:
        found = anonymous.get(path, params=parameters, headers=BROWSER)
    assert found.status_code == 200
    markup.check(found.text)
    return found.text


def headings(text: str) -> list[str]:
    return re.findall(r'id="sort-\d+" href="[^"]*">([^<]+)</a>', text)


MEASURES = ["A(Syn|WordsSyn)", "SimR(Syn)", "SimR(WordsSyn)", "Sim(Syn)", "Sim(Comp)", "Sim(WordsSyn)", "Sim(Rand)"]


def test_a_board_shows_one_number_of_each_measure_and_switches_to_the_others(ncimp: Site) -> None:
    path = BOARD.format("pt-neut-nc")
    ranking = "A(Syn|Rand)"
    assert headings(page(ncimp, path)) == [ranking, *MEASURES]
    assert headings(page(ncimp, path, aspect="sd")) == [ranking, *(f"{name} sd" for name in [ranking, *MEASURES])]
    assert headings(page(ncimp, path, aspect="rho")) == [ranking, *(f"{name} ρ" for name in [ranking, *MEASURES])]
    assert len(headings(page(ncimp, path, aspect="all"))) == 24
    switch = re.search(r'<nav class="segments" aria-label="Numbers">(.*?)</nav>', page(ncimp, path, aspect="rho"))
    assert switch is not None
    assert re.findall(r"<bdi>(.*?)</bdi>", switch[1]) == ["Mean", "sd", "ρ", "All"]
    assert 'href="?aspect=rho" aria-current="page"' in switch[1]


def test_an_unknown_number_is_told(ncimp: Site) -> None:
    found = page(ncimp, BOARD.format("pt-neut-nc"), aspect="median")
    assert "This board has no numbers called &#39;median&#39;" in found
    with ncimp.client() as anonymous:
        answer = anonymous.get(f"/api/v1{BOARD.format('pt-neut-nc')}", params={"aspect": "sd"}).json()
        assert {column["aspect"] for column in answer["columns"][1:]} == {"sd"}
        assert len(anonymous.get(f"/api/v1{BOARD.format('pt-neut-nc')}").json()["columns"]) == 24


def test_every_value_of_the_papers_tables_is_seen_on_its_boards(ncimp: Site) -> None:
    """Check all 1,053, with four digits as boards show them, in the rows of their models, by the switch's own
    addresses.
    """
    wanted: dict[str, dict[str, list[str]]] = {}
    for one in read_published("published_ncimp.csv"):
        aspect = {"_sd": "sd", "rho": "rho"}.get(one["metric"][-3:], "mean")
        values = wanted.setdefault(f"{one['split'].replace('/', '-')} {aspect}", {}).setdefault(one["team"], [])
        values.append(f"{float(one['value']):.4f}".replace("-", "\N{MINUS SIGN}"))
    seen = 0
    for place, teams in wanted.items():
        name, aspect = place.split()
        found = page(ncimp, BOARD.format(name), aspect=aspect)
        rows = [text_of(row) for row in re.findall(r'<tr class="historic.*?</tr>', found, re.DOTALL)]
        for team, values in teams.items():
            (row,) = [text for text in rows if re.search(rf"(^|\s|ranked){re.escape(team)}\s*published", text)]
            cells = row.split()
            for value in values:
                assert value in cells, (place, team, value, row)
                cells.remove(value)
                seen += 1
    assert seen == 1053


def test_the_row_of_a_published_result_opens_with_all_its_values(ncimp: Site) -> None:
    board = page(ncimp, BOARD.format("en-nat-nc"))
    (address,) = re.findall(r'href="([^"]*)" aria-label="Details of SBERT ML"', board)
    found = page(ncimp, address)
    told = text_of(found)
    assert "Not ranked" in told
    assert "Published: He et al. (2025)" in told
    wanted = ("SBERT ML", "en/nat/nc")
    printed = [one for one in read_published("published_ncimp.csv") if (one["team"], one["split"]) == wanted]
    assert len(printed) == 23, "one correlation is a dash in table 6"
    assert "Every published score" in told
    for one in printed:
        assert f"{float(one['value']):.4f}".replace("-", "\N{MINUS SIGN}") in told


def test_a_published_value_without_a_column_is_on_its_rows_page(
    empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "paper.csv"
    values = {"Mine": 0.4321, "Yours": 0.1234}
    lines = [f"14,{team},sim_syn,pt/neut/nc/standardised,{value}" for team, value in values.items()]
    table.write_text("\n".join(["table,team,metric,split,value", *lines, ""]), encoding="utf-8")
    import_ncimp(official_shapes.ncimp(tmp_path / "checkout"), tmp_path / "competition", tmp_path / "gold", table)
    open_competition(empty_site, tmp_path / "competition" / "competition.yaml", tmp_path / "gold", monkeypatch)
    board = page(empty_site, BOARD.format("pt-neut-nc"))
    (address,) = re.findall(r'href="([^"]*)" aria-label="Details of Mine"', board)
    assert "0.4321" not in board
    assert "0.4321" in text_of(page(empty_site, address))
    (other,) = re.findall(r'href="([^"]*)" aria-label="Details of Yours"', board)
    compared = f"{BOARD.format('pt-neut-nc')}/compare?row={address.split('/')[-1]}&row={other.split('/')[-1]}"
    assert {"0.4321", "0.1234"} <= set(text_of(page(empty_site, compared)).split())
    with writing(empty_site.engine) as session:
        session.execute(update(Phase).values(visibility={"slices": "none"}))
        session.execute(update(PhaseTask).values(visibility={}, board_version=PhaseTask.board_version + 1))
    assert "0.4321" not in text_of(page(empty_site, address)), "a board of ranking scores alone shows no others"
    assert "0.4321" not in text_of(page(empty_site, compared)), "nor side by side"


def test_published_rows_show_the_rank_that_they_had_in_the_paper(
    empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = official_shapes.semeval2022(tmp_path / "checkout")
    import_semeval2022(source, tmp_path / "competition", tmp_path / "gold")
    open_competition(empty_site, tmp_path / "competition" / "competition.yaml", tmp_path / "gold", monkeypatch)
    path = "/competitions/semeval2022-task2/phases/post-evaluation/boards/zero-shot"
    board = page(empty_site, path)
    pattern = r'<td class="rank">(.*?)</td>\s*<td class="paper">(.*?)</td>.*?aria-label="Details of (.*?)"'
    ranks = {team: (text_of(rank), paper) for rank, paper, team in re.findall(pattern, board, re.DOTALL)}
    assert 'title="Rank in the publication">In paper</abbr>' in board
    assert ranks["NER4ID"] == ("not ranked", "3")
    assert ranks["JARVix"] == ("not ranked", "")
    assert "dual encoder of expression and context" in board
    with empty_site.client() as anonymous:
        rows = {row["team"]: row for row in anonymous.get(f"/api/v1{path}").json()["rows"]}
        text = anonymous.get(f"/api/v1{path}.csv").text
    assert (rows["NER4ID"]["rank"], rows["NER4ID"]["published_rank"]) == (None, 3)
    assert rows["JARVix"]["published_rank"] is None
    assert "published_rank" in text.splitlines()[0]
    (address,) = re.findall(r'href="([^"]*)" aria-label="Details of NER4ID"', board)
    assert "Rank in the publication: 3" in text_of(page(empty_site, address))


def test_columns_that_were_picked_from_other_numbers_are_shown(ncimp: Site) -> None:
    found = page(ncimp, BOARD.format("pt-neut-nc"), column="sim_syn_sd pt/neut/nc")
    assert headings(found) == ["A(Syn|Rand)", "Sim(Syn) sd"]
