"""The plane of paraphrasing, BERTScore against entropy: all that the board shows, and nothing that it hides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from app.base.db import writing
from app.models import Team, TeamKind, TeamMember, User
from tests.rich_world import own
from tests.web import markup
from tests.web.paraphrase_world import become_paraphrasing, enter, publish, set_visibility
from tests.web.reading import BOARD_PAGE, text_of, visit
from tests.web.site import BOARD, PASSWORD, Site, csrf_of, register
from tests.whole import page

NAME = "bertscore-entropy"
PAGE, NUMBERS = f"{BOARD_PAGE}/pictures", f"{BOARD}/pictures/{NAME}"


@pytest.fixture
def board(site: Site) -> Site:
    """Ada is good and plain, Bo is poor and various, the baseline changes nothing in English."""
    become_paraphrasing(site.engine)
    enter(site.engine, "Ada", {"en": (0.8, 3.0), "pt": (0.7, 2.0)})
    enter(site.engine, "Bo", {"en": (0.5, 5.0), "pt": (0.4, 4.5)})
    enter(site.engine, "Copy", {"en": (0.0, None), "pt": (0.1, 1.0)}, kind=TeamKind.BASELINE)
    return site


@pytest.fixture
def nobody(site: Site) -> Iterator[httpx.Client]:
    with site.client() as client:
        yield client


def numbers(client: httpx.Client, split: str | None = None) -> dict[str, Any]:
    answer = client.get(NUMBERS, params={"split": split} if split else {})
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def points_of(document: dict[str, Any]) -> dict[str, tuple[float | None, float | None]]:
    """(BERTScore, entropy) of each system."""
    return {point["label"]: (point["y"], point["x"]) for one in document["series"] for point in one["points"]}


def test_it_has_a_point_for_every_system_of_the_board_and_the_references_as_lines(
    board: Site, nobody: httpx.Client
) -> None:
    """Means: Ada (0.8 + 0.7) / 2 and (3 + 2) / 2; Bo 0.45 and 4.75; Copy 0.05 and (0 + 1) / 2, undefined counting 0."""
    document = numbers(nobody)
    assert points_of(document) == {
        "Ada": (pytest.approx(0.75), 2.5),
        "Bo": (pytest.approx(0.45), 4.75),
        "Copy": (pytest.approx(0.05), 0.5),
    }
    assert [(line["label"], line["value"]) for line in document["lines"]] == [
        ("Creative references", 4.5),
        ("Minimal references", 2.5),
    ]
    assert "Not drawn" not in document["summary"]


def test_the_table_tells_the_same_to_whoever_has_no_scripts(board: Site) -> None:
    shown = page(board, PAGE)
    markup.check(shown)
    text = text_of(shown)
    assert "Ada team 0.750 2.50 Bo team 0.450 4.75 Copy baseline 0.050 0.50" in text
    assert "Creative references reference 4.50 Minimal references reference 2.50" in text


def test_each_language_has_its_own_though_the_board_has_no_column_for_it(board: Site, nobody: httpx.Client) -> None:
    assert points_of(numbers(nobody, "en")) == {"Ada": (0.8, 3.0), "Bo": (0.5, 5.0), "Copy": (0.0, None)}
    shown = page(board, f"{PAGE}?split=en")
    found = re.findall(rf'href="\?split=[^#"]+#{NAME}"( aria-current="true")?>([^<]+)<', shown)
    assert [(title, bool(current)) for current, title in found] == [("Mean", False), ("EN", True), ("PT", False)]
    columns = nobody.get(BOARD).json()["columns"]
    assert {one["split"] for one in columns} == {"macro"}


def test_a_system_without_a_place_is_named_with_the_reason(board: Site, nobody: httpx.Client) -> None:
    assert numbers(nobody, "en")["summary"].endswith("Not drawn: Copy (there is no new word).")
    assert "Copy baseline 0.000 –" in text_of(page(board, f"{PAGE}?split=en"))


def test_published_systems_stand_among_the_others(board: Site, nobody: httpx.Client) -> None:
    publish(board.engine, "A paper", 0.6, 3.5)
    assert points_of(numbers(nobody))["A paper"] == (0.6, 3.5)
    assert points_of(numbers(nobody, "pt"))["A paper"] == (None, None)


def test_the_board_leads_to_it_and_has_no_drawing_of_its_own(board: Site) -> None:
    shown = page(board, BOARD_PAGE)
    assert f'href="{PAGE}#pictures">Pictures</a>' in shown
    assert 'id="picture"' not in shown
    assert visit(board, f"{BOARD_PAGE}/figures/{NAME}.svg").count("This board has no figures.") == 1


def test_an_empty_board_has_no_plane(site: Site, nobody: httpx.Client) -> None:
    become_paraphrasing(site.engine)
    assert nobody.get(NUMBERS).status_code == 404


# ---------------------------------------------------------------------------------------------------- what it must hide


@pytest.mark.parametrize("shown", [{"board": "hidden"}, {"board": "ranks_only"}, {"slices": "none"}])
def test_a_board_that_does_not_show_both_scores_has_no_plane(
    board: Site, nobody: httpx.Client, shown: dict[str, str]
) -> None:
    set_visibility(board.engine, **shown)
    assert nobody.get(NUMBERS).status_code == 404
    assert f'id="{NAME}"' not in page(board, PAGE)


def test_languages_that_the_phase_does_not_show_cannot_be_chosen(board: Site, nobody: httpx.Client) -> None:
    set_visibility(board.engine, slices="columns")
    document = numbers(nobody)
    assert (len(points_of(document)), document["splits"]) == (3, [])
    assert document["lines"] == [], "reports are not shown either"
    assert nobody.get(f"{NUMBERS}?split=en").status_code == 404


def test_hidden_names_are_hidden_here_too(board: Site, nobody: httpx.Client) -> None:
    set_visibility(board.engine, names_from="close")
    found = points_of(numbers(nobody))
    assert len(found) == 3
    assert not {"Ada", "Bo"} & found.keys()
    assert "Ada" not in page(board, f"{PAGE}?split=en")


def test_digits_that_the_board_does_not_show_are_not_drawn(board: Site, nobody: httpx.Client) -> None:
    """Check two decimals of the fraction: 0.0512 and 2.5049 become 0.05 and 2.5."""
    enter(board.engine, "Cy", {"en": (0.0524, 2.5098), "pt": (0.0500, 2.5000)})
    set_visibility(board.engine, precision=2)
    assert points_of(numbers(nobody))["Cy"] == (0.05, 2.5)


def test_a_viewers_own_point_is_marked(board: Site, nobody: httpx.Client) -> None:
    register(board, "dee")
    with writing(board.engine) as session:
        dee = session.scalars(select(User).where(User.username == "dee")).one()
        team = session.scalars(own(Team).where(Team.name == "Ada")).one()
        session.add(TeamMember(team_id=team.id, user_id=dee.id, competition_id=team.competition_id))
    mine = [point for one in numbers(nobody)["series"] for point in one["points"] if point["is_mine"]]
    assert mine == []
    with board.client() as browser:
        form = {"username": "dee", "password": PASSWORD, "csrf_token": csrf_of(browser.get("/login").text)}
        assert browser.post("/login", data=form).status_code == 303
        points = [point for one in numbers(browser)["series"] for point in one["points"]]
    assert [point["label"] for point in points if point["is_mine"]] == ["Ada"]
