"""The page of a board's pictures and the numbers behind them: the same in both, and never more than the board has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from sqlalchemy import update

from app.base.db import writing
from app.models import Team
from app.web.boards import pages as page_of_pictures
from app.web.html.rendering import render_page
from app.web.http.visit import Visit
from evergold.moments import moment_words
from tests import world
from tests.competitions.embargo import hide
from tests.web import markup, paraphrase_world, pictures_world
from tests.web.reading import BOARD_PAGE, text_of, visit
from tests.web.site import BOARD, BROWSER, Person, Site
from tests.world import NOW

PAGE, API = f"{BOARD_PAGE}/pictures", f"{BOARD}/pictures"


@pytest.fixture
def parseme(site: Site) -> Site:
    """Three teams and a baseline in four languages."""
    pictures_world.fill(site.engine)
    return site


@pytest.fixture
def nobody(site: Site) -> Iterator[httpx.Client]:
    with site.client() as client:
        yield client


def numbers(client: httpx.Client, name: str, query: str = "") -> dict[str, Any]:
    answer = client.get(f"{API}/{name}{query}")
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def table_of(page: str, name: str) -> list[list[str]]:
    """Return the rows of the table behind a picture."""
    body = page.split(f'id="{name}-numbers"')[1].split("<tbody>")[1].split("</tbody>")[0]
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in body.split("<tr>")[1:]
    ]


def told(axis: dict[str, Any], value: float | None) -> str:
    """A number as a page should write it."""
    if value is None:
        return "–"
    return f"{100 * value:.{axis['decimals']}f} %" if axis["percent"] else f"{value:.{axis['decimals']}f}"


# ------------------------------------------------------------------------------------------------- what there is to see


def test_a_board_lists_its_pictures(parseme: Site, nobody: httpx.Client) -> None:
    document = nobody.get(API).json()
    names = [one["name"] for one in document["pictures"]]
    assert names == ["progress", "distribution", "seen-unseen", "languages", "categories", "submissions"]
    assert all(nobody.get(one["link"]).json()["summary"] == one["summary"] for one in document["pictures"])
    page = visit(parseme, PAGE)
    markup.check(page)
    assert re.findall(r'<h2 id="([^"]+)"', page) == names
    assert f'href="{PAGE}#pictures"' in visit(parseme, BOARD_PAGE)


def test_seen_and_unseen_are_the_axes_of_a_plane(parseme: Site, nobody: httpx.Client) -> None:
    document = numbers(nobody, "seen-unseen")
    found = {point["label"]: (point["x"], point["y"]) for one in document["series"] for point in one["points"]}
    assert found == {name: both[:2] for name, both in pictures_world.TEAMS.items()}
    assert {one["name"]: [point["label"] for point in one["points"]] for one in document["series"]}["Baselines"] == [
        "Lexicon"
    ]
    assert document["splits"] == ["macro", *pictures_world.LANGUAGES]
    assert document["diagonal"] is True


def test_another_part_of_the_items_can_be_asked_for(parseme: Site, nobody: httpx.Client) -> None:
    """Check that in French Magpie has (0.72 + 0.84) / 2 and (0.72 + 0.36) / 2."""
    document = numbers(nobody, "seen-unseen", "?split=fr")
    magpie = next(point for point in document["series"][0]["points"] if point["label"] == "Magpie")
    assert (magpie["x"], magpie["y"]) == pytest.approx((0.78, 0.54))
    assert nobody.get(f"{API}/seen-unseen?split=xx").status_code == 404
    with parseme.client(**BROWSER) as browser:
        assert "This board has no split 'xx'" in text_of(browser.get(f"{PAGE}?split=xx").text)


def test_profiles_are_of_the_first_teams_or_of_those_asked_for(parseme: Site, nobody: httpx.Client) -> None:
    document = numbers(nobody, "languages")
    assert [one["name"] for one in document["series"]] == ["Magpie", "Saudade Lab", "Loureiro", "Lexicon"]
    chosen = numbers(nobody, "languages", "?teams=Saudade+Lab&teams=Lexicon")["series"]
    assert [(one["name"], one["look"]) for one in chosen] == [("Saudade Lab", "team"), ("Lexicon", "baseline")]
    assert [(point["y"], point["x"]) for point in chosen[0]["points"]] == [
        ("FR", 0.70), ("HR", 0.64), ("GA", None), ("PL", 0.69)
    ]  # fmt: skip
    assert chosen[0]["points"][2]["reason"] == "not submitted"
    assert nobody.get(f"{API}/languages?teams=Nobody").status_code == 404


def test_every_language_has_a_dot_in_every_category(parseme: Site, nobody: httpx.Client) -> None:
    """A category has 0.1 less than the one before it, and Irish has no IRV."""
    document = numbers(nobody, "categories")
    dots = {(one["name"], point["y"]): point["x"] for one in document["series"] for point in one["points"]}
    assert dots["FR", "VID"] == pytest.approx(0.72)
    assert dots["FR", "IRV"] == pytest.approx(0.52)
    assert dots["GA", "IRV"] is None
    assert len(dots) == 4 * 3
    assert document["teams"] == ["Magpie", "Saudade Lab", "Loureiro", "Lexicon"]
    other = numbers(nobody, "categories", "?teams=Saudade+Lab")
    assert [one["name"] for one in other["series"]] == ["FR", "HR", "PL"], "it did not send Irish"


def test_paraphrasing_has_its_plane_with_the_references_as_lines(site: Site, nobody: httpx.Client) -> None:
    paraphrase_world.become_paraphrasing(site.engine)
    paraphrase_world.enter(site.engine, "Ada", {"en": (0.8, 3.0), "pt": (0.7, 2.0)})
    document = numbers(nobody, "bertscore-entropy")
    assert [(point["x"], point["y"]) for point in document["series"][0]["points"]] == [(2.5, 0.75)]
    assert [(line["label"], line["value"]) for line in document["lines"]] == [
        ("Creative references", 4.5),
        ("Minimal references", 2.5),
    ]


# ------------------------------------------------------------------------------------------------- table and numbers


def test_every_table_says_what_the_numbers_say(parseme: Site, nobody: httpx.Client) -> None:
    page = visit(parseme, PAGE)
    progress = numbers(nobody, "progress")
    records = progress["series"][1]["points"]
    rows = [
        [point["label"], moment_words(datetime.fromisoformat(point["x"])), told(progress["y"], point["y"]),
         "record" if point in records else ""]
        for point in progress["series"][0]["points"]
    ]  # fmt: skip
    lines = [[line["label"], "", told(progress["y"], line["value"]), ""] for line in progress["lines"]]
    assert table_of(page, "progress") == rows + lines
    spread = numbers(nobody, "distribution")
    counted = [f"{point['y']:.0f}" for point in spread["series"][0]["points"]]
    assert [row[1] for row in table_of(page, "distribution")] == [*counted, ""]
    plane = numbers(nobody, "seen-unseen")
    points = {point["label"]: point for one in plane["series"] for point in one["points"]}
    assert {row[0]: row[2:] for row in table_of(page, "seen-unseen")} == {
        name: [told(plane["y"], point["y"]), told(plane["x"], point["x"])] for name, point in points.items()
    }
    profile = numbers(nobody, "languages")
    assert table_of(page, "languages") == [
        [one["name"], *(told(profile["x"], point["x"]) for point in one["points"])] for one in profile["series"]
    ]
    parts = numbers(nobody, "categories")
    assert table_of(page, "categories") == [
        [one["name"], *(told(parts["x"], point["x"]) for point in one["points"])] for one in parts["series"]
    ]
    days = numbers(nobody, "submissions")
    assert table_of(page, "submissions") == [[point["x"], f"{point['y']:.0f}"] for point in days["series"][0]["points"]]


def test_numbers_are_sent_again_only_when_they_changed(parseme: Site, nobody: httpx.Client) -> None:
    first = nobody.get(f"{API}/progress")
    known = {"If-None-Match": first.headers["ETag"]}
    assert nobody.get(f"{API}/progress", headers=known).status_code == 304
    pictures_world.TEAMS["Late"] = (0.9, 0.5, (0.9, 0.9, 0.9, 0.9))
    try:
        pictures_world.enter(parseme.engine, "Late")
    finally:
        del pictures_world.TEAMS["Late"]
    again = nobody.get(f"{API}/progress", headers=known)
    assert again.status_code == 200
    assert "Late" in {point["label"] for point in again.json()["series"][1]["points"]}


def test_the_page_is_made_once_for_everybody_but_not_for_every_choice(
    parseme: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def counted(shown: Visit, *arguments: Any, **context: Any) -> Any:
        made.append(str(shown.request.url.query))
        return render_page(shown, *arguments, **context)

    monkeypatch.setattr(page_of_pictures, "render_page", counted)
    for query in ("", "", "?split=fr", "?split=fr", "?teams=Lexicon", "?teams=Lexicon"):
        visit(parseme, f"{PAGE}{query}")
    assert made == ["", "split=fr", "teams=Lexicon", "teams=Lexicon"], "what is chosen freely would fill the memory"


def test_a_split_where_there_are_none_is_not_there(site: Site, nobody: httpx.Client) -> None:
    world.score(site.engine, world.submit(site.engine, world.add_user(site.engine, "ada")).run_id, 0.5)
    assert nobody.get(f"{API}/progress?split=anything").status_code == 404
    assert nobody.get(f"{API}/anything").json()["error"]["message"].startswith("This board has no such picture")


def test_every_picture_stands_in_the_page_drawn_and_is_a_file(parseme: Site, nobody: httpx.Client) -> None:
    page = visit(parseme, PAGE)
    names = [one["name"] for one in nobody.get(API).json()["pictures"]]
    for size in ("wide", "narrow"):
        assert re.findall(rf'<title id="([^"]+)-{size}-title">', page) == names
    for name in names:
        answer = nobody.get(f"{PAGE}/{name}.svg")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
        assert answer.headers["Content-Disposition"] == f'attachment; filename="idioms-evaluation-zero-shot-{name}.svg"'
        texts = [text.text for text in ElementTree.fromstring(answer.text).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
        assert "Idioms · zero-shot · Evaluation" in texts
    assert f'href="{PAGE}/languages.svg?teams=Lexicon"' in visit(parseme, f"{PAGE}?teams=Lexicon")
    assert "Magpie" not in nobody.get(f"{PAGE}/languages.svg?teams=Lexicon").text
    assert nobody.get(f"{PAGE}/anything.svg").status_code == 404


def test_texts_of_teams_are_only_texts(parseme: Site) -> None:
    with writing(parseme.engine) as session:
        session.execute(update(Team).where(Team.name == "Magpie").values(name='<img src=x onerror="a">&"'))
    page = visit(parseme, PAGE)
    markup.check(page)
    assert "<img" not in page


# -------------------------------------------------------------------------------------------------- what must be hidden


@pytest.mark.parametrize("shown", ["hidden", "ranks_only"])
def test_a_board_without_scores_has_no_picture_and_no_count(parseme: Site, nobody: httpx.Client, shown: str) -> None:
    hide(parseme.engine, board=shown)
    assert nobody.get(API).json()["pictures"] == []
    assert {nobody.get(f"{API}/{name}").status_code for name in ("progress", "submissions", "languages")} == {404}
    page = visit(parseme, PAGE)
    assert "<figure" not in page
    assert nobody.get(f"{PAGE}/progress.svg").status_code == 404
    assert "Magpie" not in page
    assert visit(parseme, BOARD_PAGE).count("/pictures") == 1, "the tab alone"


def test_organisers_see_them_and_can_look_with_other_eyes(parseme: Site) -> None:
    hide(parseme.engine, board="hidden")
    olga = parseme.person("olga", is_administrator=True)
    with olga.client as client:
        assert len(client.get(API).json()["pictures"]) == 6
        assert client.get(f"{API}?as=participant").json()["pictures"] == []
        assert client.get(f"{API}/progress?as=public").status_code == 404


def test_hidden_names_are_hidden_in_pictures(parseme: Site, nobody: httpx.Client) -> None:
    hide(parseme.engine, names_from="close")
    texts = [visit(parseme, PAGE), *(nobody.get(one["link"]).text for one in nobody.get(API).json()["pictures"])]
    for name in ("Magpie", "Saudade", "Loureiro", "The system of Magpie"):
        assert not [text for text in texts if name in text], name
    assert nobody.get(f"{API}/languages?teams=Magpie").status_code == 404


def test_scores_that_the_board_does_not_show_are_not_drawn(parseme: Site, nobody: httpx.Client) -> None:
    hide(parseme.engine, slices="columns")
    assert [one["name"] for one in nobody.get(API).json()["pictures"]] == ["progress", "distribution", "submissions"]


def test_a_reports_digits_are_those_of_the_board(parseme: Site, nobody: httpx.Client) -> None:
    """0.62 - 0.1 with one decimal is 0.5, and 0.72 is 0.7."""
    hide(parseme.engine, precision=1)
    found = [numbers(nobody, name) for name in ("categories", "languages", "seen-unseen", "progress")]
    values = {point[key] for one in found for line in one["series"] for point in line["points"] for key in "xy"}
    assert {value for value in values if isinstance(value, float) and round(value, 1) != value} == set()
    assert 0.7 in values


def test_a_teams_own_points_are_marked_for_it_alone(site: Site, ada: Person, nobody: httpx.Client) -> None:
    world.score(site.engine, world.submit(site.engine, ada.user, NOW).run_id, 0.5)
    assert numbers(ada.client, "progress")["series"][0]["points"][0]["is_mine"] is True
    assert numbers(nobody, "progress")["series"][0]["points"][0]["is_mine"] is False
