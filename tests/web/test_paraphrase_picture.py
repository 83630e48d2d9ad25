"""The picture of a paraphrasing board: every system that the board shows, and nothing that it hides."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from app.models import TeamKind
from tests import world
from tests.web import markup
from tests.web.paraphrase_world import become_paraphrasing, enter, publish, set_visibility
from tests.web.reading import BOARD_PAGE, text_of, visit
from tests.web.site import BROWSER, Site, register
from tests.whole import page

SVG = "{http://www.w3.org/2000/svg}"
FIGURE = f"{BOARD_PAGE}/figures/bertscore-entropy.svg"


@pytest.fixture
def board(site: Site) -> Site:
    """Ada is good and plain, Bo is poor and various, the baseline changes nothing in English."""
    become_paraphrasing(site.engine)
    enter(site.engine, "Ada", {"en": (0.8, 3.0), "pt": (0.7, 2.0)})
    enter(site.engine, "Bo", {"en": (0.5, 5.0), "pt": (0.4, 4.5)})
    enter(site.engine, "Copy", {"en": (0.0, None), "pt": (0.1, 1.0)}, kind=TeamKind.BASELINE)
    return site


def points_of(shown: str) -> list[str]:
    """What the points of the picture on a page say."""
    return re.findall(r'class="fig-point"[^>]*aria-label="([^"]+)"', shown)


def drawing_of(site: Site, split: str) -> ElementTree.Element:
    with site.client(**BROWSER) as visitor:
        response = visitor.get(f"{FIGURE}?split={split}")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "image/svg+xml"
    return ElementTree.fromstring(response.text)  # noqa: S314 - our own text


def test_it_has_a_point_for_every_system_of_the_board_and_the_references_as_lines(board: Site) -> None:
    """Means: Ada (0.8 + 0.7) / 2 and (3 + 2) / 2; Bo 0.45 and 4.75; Copy 0.05 and (0 + 1) / 2, undefined counting 0."""
    shown = page(board, BOARD_PAGE)
    markup.check(shown)
    assert points_of(shown) == [
        "Ada: BERTScore 75.0 %, Entropy 2.50",
        "Bo: BERTScore 45.0 %, Entropy 4.75",
        "Copy: BERTScore 5.0 %, Entropy 0.50",
    ]
    assert re.findall(r'class="fig-ideal-text"[^>]*>([^<]+)<', shown) == ["Minimal references", "Creative references"]


def test_the_table_behind_it_tells_the_same(board: Site) -> None:
    text = text_of(page(board, BOARD_PAGE))
    assert "Ada team 75.0 % 2.50 Bo team 45.0 % 4.75 Copy baseline 5.0 % 0.50" in text
    assert "Creative references reference 4.50 Minimal references reference 2.50" in text


def test_each_language_has_its_own_though_the_board_has_no_column_for_it(board: Site) -> None:
    shown = page(board, f"{BOARD_PAGE}?split=en")
    markup.check(shown)
    assert points_of(shown) == ["Ada: BERTScore 80.0 %, Entropy 3.00", "Bo: BERTScore 50.0 %, Entropy 5.00"]
    assert [title for title, _ in links_of(shown)] == ["Mean", "EN", "PT"]
    assert [title for title, chosen in links_of(shown) if chosen] == ["EN"]
    with board.client() as client:
        columns = client.get(f"/api/v1{BOARD_PAGE}").json()["columns"]
    head = shown.split("<thead")[1].split("</thead>")[0]
    assert head.count('scope="col" class="num') == len(columns) + 1, "the board itself stays as declared, with Entries"


def links_of(shown: str) -> list[tuple[str, bool]]:
    found = re.findall(r'href="\?split=[^#"]+#picture"( aria-current="true")?>([^<]+)<', shown)
    return [(title, bool(current)) for current, title in found]


def test_a_system_without_a_place_is_named_with_the_reason(board: Site) -> None:
    text = text_of(page(board, f"{BOARD_PAGE}?split=en"))
    assert "Not drawn: Copy (there is no new word)." in text
    assert "Copy baseline 0.0" in text


def test_published_systems_stand_among_the_others(board: Site) -> None:
    publish(board.engine, "A paper", 0.6, 3.5)
    assert "A paper: BERTScore 60.0 %, Entropy 3.50" in points_of(page(board, BOARD_PAGE))
    assert not [told for told in points_of(page(board, f"{BOARD_PAGE}?split=pt")) if "paper" in told]


def test_it_can_be_taken_away_as_a_file(board: Site) -> None:
    shown = page(board, f"{BOARD_PAGE}?split=pt")
    assert f"{FIGURE}?split=pt" in shown
    drawing = drawing_of(board, "pt")
    assert [text.text for text in drawing.iter(f"{SVG}text") if text.get("class") == "fig-title"] == [
        "BERTScore against entropy"
    ]
    told = [group.findtext(f"{SVG}title") for group in drawing.iter(f"{SVG}g") if group.get("class") == "fig-point"]
    assert told[0] == "Ada: BERTScore 70.0 %, Entropy 2.00"
    assert len(told) == 3


def test_a_split_that_is_not_there_is_told_with_what_there_is(board: Site) -> None:
    with board.client(**BROWSER) as visitor:
        response = visitor.get(f"{BOARD_PAGE}?split=fr")
    assert response.status_code == 404
    assert "There is nothing about 'fr' here; there is macro, en, pt." in text_of(response.text)


def test_the_board_leads_to_it(board: Site) -> None:
    shown = page(board, BOARD_PAGE)
    assert '<a href="#picture">BERTScore against entropy</a>' in shown
    assert 'id="picture"' in shown


def test_an_empty_board_has_no_picture(site: Site) -> None:
    become_paraphrasing(site.engine)
    assert "#picture" not in page(site, BOARD_PAGE)
    assert visit(site, FIGURE).count("This board has no figures.") == 1


# ---------------------------------------------------------------------------------------------------- what it must hide


@pytest.mark.parametrize("shown", ["hidden", "ranks_only"])
def test_a_board_without_scores_has_no_picture(board: Site, shown: str) -> None:
    set_visibility(board.engine, board=shown)
    assert "fig-point" not in page(board, BOARD_PAGE)
    with board.client(**BROWSER) as visitor:
        assert visitor.get(FIGURE).status_code == 404


def test_languages_that_the_phase_does_not_show_cannot_be_chosen(board: Site) -> None:
    set_visibility(board.engine, slices="columns")
    shown = page(board, BOARD_PAGE)
    assert len(points_of(shown)) == 3
    assert links_of(shown) == []
    assert "Creative references" not in shown, "reports are not shown either"
    with board.client(**BROWSER) as visitor:
        assert visitor.get(f"{BOARD_PAGE}?split=en").status_code == 404
        assert visitor.get(f"{FIGURE}?split=en").status_code == 404


def test_where_only_what_ranks_is_shown_there_is_no_picture(board: Site) -> None:
    set_visibility(board.engine, slices="none")
    assert "fig-point" not in page(board, BOARD_PAGE)


def test_hidden_names_are_hidden_here_too(board: Site) -> None:
    set_visibility(board.engine, names_from="close")
    told = points_of(page(board, BOARD_PAGE))
    assert len(told) == 3
    assert not [one for one in told if one.startswith(("Ada", "Bo"))]
    assert "Ada" not in page(board, f"{BOARD_PAGE}?split=en")


def test_digits_that_the_board_does_not_show_are_not_drawn(board: Site) -> None:
    """Two decimals of the fraction, 0.0512 and 2.5049: 5 % and 2.50."""
    enter(board.engine, "Cy", {"en": (0.0524, 2.5098), "pt": (0.0500, 2.5000)})
    set_visibility(board.engine, precision=2)
    assert "Cy: BERTScore 5.0 %, Entropy 2.50" in points_of(page(board, BOARD_PAGE))


def test_a_viewers_own_point_has_a_ring(board: Site) -> None:
    register(board, "dee")
    with world.writing(board.engine) as session:
        dee = session.scalars(world.select(world.User).where(world.User.username == "dee")).one()
        team = session.scalars(world.select(world.Team).where(world.Team.name == "Ada")).one()
        member = world.TeamMember(team_id=team.id, user_id=dee.id, competition_id=team.competition_id)
        session.add(member)
    assert "fig-ring" not in page(board, BOARD_PAGE)
    with board.client(**BROWSER) as browser:
        browser.follow_redirects = True
        from tests.web.site import PASSWORD, csrf_of

        form = {"username": "dee", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
        assert "Log out" in browser.post("/login", data=form).text
        assert browser.get(BOARD_PAGE).text.count("fig-ring") == 1
