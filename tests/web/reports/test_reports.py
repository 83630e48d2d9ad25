"""The full report of a submission: as JSON, CSV and the official text, and as tables that sort by links."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import event, select

from app.base.db import reading, writing
from app.models import ScoringRun, User
from app.runs.report import read_report
from evergold.scoring.task import Score
from tests import world
from tests.competitions.embargo import hide
from tests.rich_world import fresh
from tests.web import markup
from tests.web.mwe_world import only_board, scored_submission, seventeen_languages
from tests.web.reading import text_of
from tests.web.site import Person, Site, csv_text, log_in


@pytest.fixture
def scored(site: Site, ada: Person) -> UUID:
    """Ada's submission: French submitted, Croatian not."""
    return scored_submission(site.engine, ada.user)


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    """Yield the browser of somebody logged in, whose submission is scored, too: see `page`."""
    with log_in(site, "bob") as found:
        yield found


@pytest.fixture
def page(site: Site, browser: httpx.Client) -> str:
    """The address of the report of who is logged in."""
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    return f"/submissions/{scored_submission(site.engine, bob)}/report"


def api(submission_id: UUID) -> str:
    return f"/api/v1/submissions/{submission_id}/report"


def table_of(page: str) -> list[list[str]]:
    """The cells of the first table, row by row, as a reader sees them."""
    rows = re.findall(r"<tr>(.*?)</tr>", page.split("<table")[1].split("</table>")[0], re.DOTALL)
    return [[_read(cell) for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]


def _read(cell: str) -> str:
    without_hidden = re.sub(r'<span class="visually-hidden">.*?</span>', "", cell)
    return " ".join(re.sub(r"<[^>]+>", " ", without_hidden).split())


def columns_of(page: str) -> list[str]:
    return [re.sub(r" [▾▴]$", "", heading) for heading in table_of(page)[0]]


def column(page: str, title: str) -> dict[str, str]:
    """The cells of one column, by row."""
    place = columns_of(page).index(title)
    return {row[0]: row[place] for row in table_of(page)[1:]}


# --------------------------------------------------------------------------------------------------------------- API


def test_json_has_every_score_and_the_aggregates(ada: Person, scored: UUID) -> None:
    document = ada.client.get(api(scored)).json()
    scores = {(score["metric"], score["split"]): score for score in document["scores"]}
    assert scores["token_f1", "fr"]["value"] == pytest.approx(20 / 23)
    assert scores["mwe_f1", "fr/category/VID"]["value"] == pytest.approx(1 / 3)  # 1 right of 3 in gold, 3 predicted
    assert scores["mwe_f1", "hr"]["reason"] == "not entered"
    assert scores["mwe_f1", "fr"]["signature"].startswith("mwe-identification:2|mwe_f1|fr|")
    assert document["aggregates"]["languages"]["fr"]["views"]["unseen"] == [1, 2, 4]
    assert (document["task_type"], document["task_version"]) == ("mwe-identification", 2)
    assert document["links"]["texts"] == {"parseme": f"{api(scored)}/parseme.txt"}


def test_csv_has_a_line_for_each_score(ada: Person, scored: UUID) -> None:
    response = ada.client.get(f"{api(scored)}.csv")
    table = list(csv.DictReader(io.StringIO(csv_text(response))))
    assert list(table[0]) == ["metric", "split", "value", "reason", "signature"]
    assert len(table) == len(ada.client.get(api(scored)).json()["scores"])
    found = {(line["metric"], line["split"]): line for line in table}
    assert float(found["mwe_f1", "fr/unseen"]["value"]) == float(Fraction(1, 3))
    assert (found["mwe_f1", "hr"]["value"], found["mwe_f1", "hr"]["reason"]) == ("", "not entered")
    assert response.headers["Content-Disposition"].endswith('.csv"')


def test_the_text_is_the_official_report_of_each_language(ada: Person, scored: UUID) -> None:
    response = ada.client.get(f"{api(scored)}/parseme.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "# FR\n\n## Global evaluation\n* MWE-based: P=2/5=0.4000 R=2/5=0.4000 F=0.4000\n" in response.text
    assert response.text.endswith("# HR\n\nnot entered\n")


def test_an_unknown_text_is_not_found_and_the_known_ones_are_said(ada: Person, scored: UUID) -> None:
    response = ada.client.get(f"{api(scored)}/official.txt")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    assert "it has 'parseme'" in response.json()["error"]["message"]


@pytest.mark.parametrize("form", ["", ".csv", "/parseme.txt"])
def test_nobody_else_finds_the_report(site: Site, eve: Person, scored: UUID, form: str) -> None:
    theirs = eve.client.get(f"{api(scored)}{form}")
    none = eve.client.get(f"{api(UUID(int=0))}{form}")
    assert (theirs.status_code, theirs.json()) == (none.status_code, none.json())
    assert theirs.json()["error"]["code"] == "not_found"
    with site.client() as anonymous:
        assert anonymous.get(f"{api(scored)}{form}").status_code == 401


def test_administrators_find_it(site: Site, scored: UUID) -> None:
    boss = site.person("boss", is_administrator=True)
    with boss.client:
        assert boss.client.get(api(scored)).status_code == 200


@pytest.mark.parametrize("form", ["", ".csv", "/parseme.txt"])
def test_what_was_not_scored_has_no_report_yet(ada: Person, form: str) -> None:
    document = ada.submitted()
    assert document["links"]["report"] is None
    response = ada.client.get(f"{document['links']['self']}/report{form}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "no_report")
    assert "it is queued" in response.json()["error"]["message"]


def test_a_scored_submission_links_to_its_report(ada: Person, scored: UUID) -> None:
    assert ada.client.get(f"/api/v1/submissions/{scored}").json()["links"]["report"] == api(scored)


@pytest.mark.parametrize("form", ["", ".csv", "/parseme.txt"])
def test_who_has_the_report_is_told_so(ada: Person, scored: UUID, form: str) -> None:
    first = ada.client.get(f"{api(scored)}{form}")
    again = ada.client.get(f"{api(scored)}{form}", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["Cache-Control"] == "private, no-cache"


def test_task_types_without_aggregates_or_texts_have_their_scores(site: Site, ada: Person) -> None:
    document = ada.submitted()
    with reading(site.engine) as session:
        run_id = session.scalars(fresh(ScoringRun)).one().id
    world.score(site.engine, run_id, 0.5)
    report = ada.client.get(f"{document['links']['self']}/report").json()
    assert (report["aggregates"], report["links"]["texts"]) == ({}, {})
    assert [score["value"] for score in report["scores"]] == [0.5, 0.25, None, None]


# -------------------------------------------------------------------------------------------------------------- page


def test_the_overview_has_f1_of_every_view_by_language_and_in_the_mean(browser: httpx.Client, page: str) -> None:
    found = browser.get(page).text
    markup.check(found)
    assert column(found, "MWE-based")["FR"] == "40.0"
    assert column(found, "Token-based") == {"FR": "87.0", "HR not submitted": "–", "Macro mean": "43.5"}  # 50/115
    assert column(found, "Unseen")["FR"] == "33.3"
    assert len(columns_of(found)) == 1 + 2 + 8
    assert "1 of 2 languages were submitted" in found


def test_a_view_has_precision_recall_f1_and_the_counts(browser: httpx.Client, page: str) -> None:
    found = browser.get(page, params={"view": "unseen"}).text
    markup.check(found)
    assert columns_of(found) == ["Language", "P %", "R %", "F1 %", "Right", "In gold", "Predicted"]
    rows = {row[0]: row[1:] for row in table_of(found)[1:]}
    assert rows["FR"] == ["25.00", "50.00", "33.33", "1", "2", "4"]
    assert rows["HR not submitted"] == ["–", "–", "–", "", "", ""]
    assert rows["Macro mean"][3:] == ["", "", ""], "a mean counts nothing"


def test_categories_are_a_heat_map_whose_numbers_stand_in_its_cells(browser: httpx.Client, page: str) -> None:
    found = browser.get(page, params={"view": "categories"}).text
    markup.check(found)
    assert columns_of(found) == ["Language", "&lt;unlabeled&gt;", "IRV", "LVC.full", "VID"]
    rows = {row[0]: row[1:] for row in table_of(found)[1:]}
    assert rows["FR"] == ["0.0", "", "66.7", "33.3"], "nothing where neither gold nor prediction has any"
    assert '<td class="num tone-7" title="1 right, 2 in gold, 1 predicted">66.7</td>' in found
    tokens = browser.get(page, params={"view": "categories-token"}).text
    assert column(tokens, "VID")["FR"] == "85.7"  # 6 of 8, 6 predicted


@pytest.mark.parametrize(
    ("macro", "view", "words"),
    [
        ("languages-with-gold", "overview", "and one whose gold has nothing of the kind is left out."),
        ("languages-with-gold", "categories", "the official average counts it as 0 where the prediction"),
        ("all-languages", "unseen", "and so does one whose gold has nothing of the kind."),
        ("all-languages", "categories-token", "the divisor is the same for everybody"),
        ("all-languages", "diversity", "and so does what is undefined."),
    ],
)
def test_the_report_says_how_what_is_undefined_counts_in_the_mean(
    browser: httpx.Client, site: Site, macro: str, view: str, words: str
) -> None:
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    submission = scored_submission(site.engine, bob, macro=macro)
    page = f"/submissions/{submission}/report"
    found = browser.get(page, params={"view": view}).text
    markup.check(found)
    assert "In the mean, a language that was not submitted counts as 0, " in found
    assert words in found


def test_diversity_is_a_table_of_its_own(browser: httpx.Client, page: str) -> None:
    found = browser.get(page, params={"view": "diversity"}).text
    markup.check(found)
    assert columns_of(found) == ["Language", "Richness", "Entropy", "Evenness"]
    assert table_of(found)[1] == ["FR", "2", "0.69", "1.0000"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", ["FR", "HR", "IT"]),
        ("language", ["FR", "HR", "IT"]),
        ("-language", ["IT", "HR", "FR"]),
        ("-f1", ["FR", "IT", "HR"]),
        ("f1", ["IT", "FR", "HR"]),
        ("nonsense", ["FR", "HR", "IT"]),
    ],
)
def test_tables_sort_by_the_address_and_undefined_ones_come_last(
    site: Site, browser: httpx.Client, page: str, sort: str, expected: list[str]
) -> None:
    """IT is found in the middle, HR was not submitted."""
    _edit_report(site, page, "it", 0.3)
    found = browser.get(page, params={"view": "mwe", "sort": sort}).text
    assert [row[0].split()[0] for row in table_of(found)[1:]] == [*expected, "Macro"]
    sorted_headings = re.findall(r'aria-sort="(\w+)"', found)
    names = {"language": "ascending", "f1": "ascending", "-language": "descending", "-f1": "descending"}
    assert sorted_headings == ([names[sort]] if sort in names else [])


def _edit_report(site: Site, page: str, language: str, f1: float) -> None:
    """Another language with this F1 in the stored report."""
    with writing(site.engine) as session:
        run = session.scalars(select(ScoringRun).where(ScoringRun.submission_id == UUID(page.split("/")[2]))).one()
        assert run.report is not None
        document = read_report(run.report)
        score = {"metric": "mwe_f1", "split": language, "value": f1, "reason": None, "signature": "s"}
        document["scores"].append(score)
        document["aggregates"]["languages"][language] = document["aggregates"]["languages"]["fr"]
        run.report = zlib.compress(json.dumps(document).encode())


def test_headings_link_to_the_other_order_of_the_same_view(browser: httpx.Client, page: str) -> None:
    found = browser.get(page, params={"view": "mwe", "sort": "-f1"}).text
    addresses = re.findall(r'<th scope="col"[^>]*><a href="([^"]+)"', found)
    assert [address.partition("?")[2].replace("&amp;", "&") for address in addresses[:4]] == [
        "view=mwe&sort=language#mwe",
        "view=mwe&sort=-precision#mwe",
        "view=mwe&sort=-recall#mwe",
        "view=mwe&sort=f1#mwe",
    ]
    for address in addresses:
        assert browser.get(address.replace("&amp;", "&")).status_code == 200


def test_an_unknown_view_is_the_first_one(browser: httpx.Client, page: str) -> None:
    assert table_of(browser.get(page, params={"view": "nonsense"}).text) == table_of(browser.get(page).text)


def test_every_score_is_on_the_page_of_all_scores(browser: httpx.Client, page: str) -> None:
    found = browser.get(page, params={"view": "scores", "sort": "-token_f1"}).text
    markup.check(found)
    assert columns_of(found)[:4] == ["Split", "MWE-based P %", "MWE-based R %", "MWE-based F1 %"]
    assert table_of(found)[1][0] == "French"
    assert "mwe-identification:2|matching:assignment|lemmas:gold" in found


@pytest.mark.parametrize(("precision", "decimals"), [(1, {0}), (3, {1}), (6, {2})])
def test_no_more_digits_are_shown_than_the_phase_does(
    site: Site, browser: httpx.Client, page: str, precision: int, decimals: set[int]
) -> None:
    """Scores in percent: with a precision of three digits 0.2564 is 25.6 %."""
    hide(site.engine, precision=precision)
    cells = [cell for row in table_of(browser.get(page, params={"view": "scores"}).text)[1:] for cell in row[1:4]]
    numbers = [cell for cell in cells if cell != "–"]
    assert numbers
    assert {len(cell.partition(".")[2]) for cell in numbers} == decimals


def test_a_score_of_a_metric_that_its_task_has_no_more_is_shown(site: Site, browser: httpx.Client) -> None:
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    accepted = world.submit(site.engine, bob)
    held = world.sure(world.claim(site.engine, accepted.run_id))
    assert world.finish(
        site.engine, held, [*world.scores_of(world.ZERO_SHOT, 0.5), Score("micro", "all", 0.25, None, "s")]
    )
    found = browser.get(f"/submissions/{accepted.submission.id}/report").text
    assert columns_of(found)[-1] == "micro"
    assert table_of(found)[-1] == ["all", "", "", "0.2500"]


def test_a_task_type_without_a_page_of_its_own_has_the_plain_table(site: Site, browser: httpx.Client) -> None:
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    accepted = world.submit(site.engine, bob)
    world.score(site.engine, accepted.run_id, 0.5)
    found = browser.get(f"/submissions/{accepted.submission.id}/report").text
    markup.check(found)
    assert columns_of(found) == ["Split", "Macro F1", "Accuracy"]
    assert table_of(found)[1:] == [["zero-shot · all", "0.5000", "0.2500"], ["one-shot · all", "–", "–"]]


def test_the_first_language_need_not_have_been_sent(site: Site, browser: httpx.Client, tmp_path: Path) -> None:
    folder = seventeen_languages(tmp_path)
    shutil.rmtree(folder / "prediction" / "XA")
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    found = browser.get(f"/submissions/{scored_submission(site.engine, bob, folder)}/report")
    assert found.status_code == 200
    assert "16 of 17" in text_of(found.text)


def test_without_training_data_nothing_is_called_unseen(site: Site, browser: httpx.Client, tmp_path: Path) -> None:
    folder = seventeen_languages(tmp_path)
    for train in (*folder.glob("gold/*/train.cupt"), *folder.glob("gold/*/dev.cupt")):
        train.unlink()
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    found = browser.get(f"/submissions/{scored_submission(site.engine, bob, folder)}/report").text
    assert columns_of(found)[1:] == [
        "MWE-based",
        "Token-based",
        "Continuous",
        "Discontinuous",
        "Multi-token",
        "Single-token",
    ]


def test_texts_in_any_script_are_shown_as_texts(site: Site, browser: httpx.Client, page: str) -> None:
    _edit_report(site, page, "<b>עברית</b>", 0.5)
    found = browser.get(page, params={"view": "mwe"}).text
    markup.check(found)
    assert "<bdi>&lt;B&gt;עברית&lt;/B&gt;</bdi>" in found


def test_downloads_stand_on_the_page(browser: httpx.Client, page: str) -> None:
    found = browser.get(page).text
    for end in ("/parseme.txt", ".csv", ""):
        assert browser.get(f"/api/v1{page}{end}").status_code == 200
        assert f'href="/api/v1{page}{end}"' in found


def test_the_track_and_the_method_stand_on_the_page(browser: httpx.Client, page: str) -> None:
    found = browser.get(page).text
    assert "Track: Closed" in found
    assert "Lexicon" in found


def test_who_is_not_logged_in_logs_in_first_and_strangers_find_nothing(
    site: Site, browser: httpx.Client, ada: Person, scored: UUID
) -> None:
    with site.client(Accept="text/html") as anonymous:
        response = anonymous.get(f"/submissions/{scored}/report")
    assert (response.status_code, response.headers["Location"].split("?")[0]) == (303, "/login")
    assert browser.get(f"/submissions/{scored}/report").status_code == 404


def test_the_report_of_what_waits_leads_to_its_page(site: Site, browser: httpx.Client) -> None:
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    accepted = world.submit(site.engine, bob)
    answer = browser.get(f"/submissions/{accepted.submission.id}/report")
    assert answer.url.path == f"/submissions/{accepted.submission.id}"


def test_the_submission_page_links_to_the_report_and_shows_what_boards_show(browser: httpx.Client, page: str) -> None:
    found = browser.get(page.removesuffix("/report")).text
    markup.check(found)
    assert f'href="{page}"' in found
    assert "The scores that boards show" in found
    assert found.count("<summary>Full precision and signatures</summary>") == 1


# ------------------------------------------------------------------------------------------------------------- speed


def test_seventeen_languages_are_read_from_one_row(site: Site, browser: httpx.Client, tmp_path: Path) -> None:
    with reading(site.engine) as session:
        bob = session.scalars(select(User).where(User.username == "bob")).one()
    page = f"/submissions/{scored_submission(site.engine, bob, seventeen_languages(tmp_path))}/report"
    asked: list[str] = []
    event.listen(site.app.state.server.engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
    found = browser.get(page, params={"view": "categories"}).text
    assert len(table_of(found)) == 1 + 17 + 1
    assert not [statement for statement in asked if "FROM scores" in statement]
    assert len(asked) < 20  # six are those of the head and its tabs


def test_the_board_shows_how_many_languages_each_team_sent(site: Site, ada: Person, scored: UUID) -> None:
    board = f"/competitions/idioms/phases/evaluation/boards/{only_board(site.engine)}"
    document: dict[str, Any] = ada.client.get(f"/api/v1{board}").json()
    assert [(column["title"], column["out_of"]) for column in document["columns"]] == [("Languages", 2), ("F1", None)]
    assert [cell["value"] for cell in document["rows"][0]["cells"]] == [1.0, pytest.approx(1 / 5)]  # P and R 2/5 and 0
    with site.client(Accept="text/html") as anyone:
        assert re.search(r'<td class="num[^>]*>1/2<', anyone.get(board).text)
