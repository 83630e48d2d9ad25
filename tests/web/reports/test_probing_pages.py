"""Probing on pages: the paper's table and picture in a submission's report, and the systems of a board compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from app.web.boards import page as board_pictures
from tests.web import markup
from tests.web.probing_world import BOARD, PARTS, PLACE, embeddings, predictions, similarity, write_competition
from tests.web.reading import BOARD_PAGE, text_of
from tests.web.site import BROWSER, Person, Site
from tests.whole import open_competition, page, sent, taking_part

BOARD_HERE = "/competitions/{}/phases/{}/boards/{}".format(*BOARD.split("/"))


@pytest.fixture
def probes(empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    phases = write_competition(tmp_path / "competition")
    open_competition(empty_site, phases, phases.parent / "gold", monkeypatch)
    return empty_site


@pytest.fixture
def both(probes: Site) -> Iterator[tuple[Person, httpx.Client]]:
    """Ada with a token, and in a browser."""
    with taking_part(probes) as found:
        yield found


def report_of(person: Person, content: bytes) -> str:
    """The address of the report of a scored file."""
    submission = sent(person, PLACE, content)
    assert submission["status"] == "scored", submission["problems"]
    return f"/submissions/{submission['id']}/report"


def choices_of(shown: str) -> dict[str, list[tuple[str, str, bool]]]:
    """Return, by choice, (title, split, whether it is chosen) of every link."""
    return {
        label: [
            (title, split, bool(current))
            for split, current, title in re.findall(
                r'href="\?split=([^#"]+)#[^"]*"( aria-current="true")?>([^<]+)<', nav
            )
        ]
        for label, nav in re.findall(r'<nav class="switcher" aria-label="(\w+)">(.*?)</nav>', shown, re.DOTALL)
        if "?split=" in nav
    }


# ------------------------------------------------------------------------------------------------------------- report


def test_the_report_shows_the_measures_of_the_chosen_split(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    """Syn: half at 0.4 and half at 0.8, mean 0.6; its deviation, of 36: 0.2 · √(36/35) = 0.2028. The others never vary.

    rho: the lower half of the ranks against a step; 18 ties each: √3/2 · √(36² / (36² - 1)) = 0.8664.
    """
    person, browser = both
    shown = page(probes, report_of(person, predictions()) + "?split=pt/nat/sent", browser)
    markup.check(shown)
    text = text_of(shown)
    assert "36 compounds, 36 of them with a human score" in text
    assert "Sim(Syn) 0.6000 0.2028 0.8664 < 0.0001" in text
    assert "Sim(WordsSyn) 0.1000 0.0000 – undefined:" in text
    assert "A(Syn|Rand) 0.4000 0.2028 0.8664" in text


def test_the_picture_has_the_quantiles_behind_it(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    text = text_of(page(probes, report_of(person, predictions()), browser))
    assert "Syn: the gold synonym 0.600 0.400 0.400 0.600 0.800 0.800 1" in text
    assert "Rand: five random compounds 0.200 0.200 0.200 0.200 0.200 0.200 0" in text
    # Compositional are the first 20 of 36: 18 at 0.4 - 0.2 and two at 0.8 - 0.2, mean (18 · 0.2 + 2 · 0.6) / 20 = 0.24.
    assert "Compositional (20 compounds) 0.240 0.200 0.200 0.200 0.200 0.600 1" in text


def test_a_class_with_few_compounds_is_not_shown(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    shown = page(probes, report_of(person, predictions()), browser)
    assert "Idiomatic (4 compounds) fewer than 10" in text_of(shown)
    assert "fewer than 10 compounds: their numbers would tell which they are" in text_of(shown)


def test_links_choose_language_setting_and_level(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    report = report_of(person, predictions())
    assert choices_of(page(probes, f"{report}?split=pt/neut/sent", browser)) == {
        "Language": [("EN", "en/neut/sent", False), ("PT", "pt/neut/sent", True)],
        "Setting": [("Naturalistic", "pt/nat/sent", False), ("Neutral", "pt/neut/sent", True)],
    }
    # English has no naturalistic sentences: the link says that it leads to Portuguese.
    settings = choices_of(page(probes, f"{report}?split=en/neut/sent", browser))["Setting"]
    assert settings == [("Naturalistic (PT)", "pt/nat/sent", False), ("Neutral", "en/neut/sent", True)]


def test_embeddings_have_their_standardised_variant_to_choose(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    report = report_of(person, embeddings())
    shown = page(probes, f"{report}?split=pt/neut/sent", browser)
    assert "the similarities were computed from your embeddings" in text_of(shown)
    assert "Sim(Syn) 0.6000 0.2028" in text_of(shown)
    variants = choices_of(shown)["Vectors"]
    assert variants == [("As sent", "pt/neut/sent", True), ("Standardised", "pt/neut/sent/standardised", False)]
    assert "PT, neutral, sentence" in text_of(shown)
    assert "sentence, as sent" not in text_of(shown), "without a word where nothing was done to it"
    standardised = text_of(page(probes, f"{report}?split={variants[1][1]}", browser))
    assert "PT, neutral, sentence, standardised" in standardised
    assert "Sim(Syn) 0.6000" not in standardised


def test_a_split_that_is_not_there_is_told_with_what_there_is(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    response = browser.get(report_of(person, predictions(parts=PARTS[:1])) + "?split=pt/neut/sent")
    assert response.status_code == 404
    assert "There is no figure for 'pt/neut/sent'; there are figures for en/neut/sent." in text_of(response.text)


def test_figures_of_a_report_are_for_its_team_only(probes: Site, both: tuple[Person, httpx.Client]) -> None:
    person, browser = both
    address = report_of(person, predictions()) + "/figures/probes.svg?split=pt/nat/sent"
    assert address in page(probes, address.split("/figures")[0] + "?split=pt/nat/sent", browser)
    response = browser.get(address)
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Content-Disposition"] == 'attachment; filename="pt-nat-sent-probes.svg"'
    assert ElementTree.fromstring(response.text).tag.endswith("svg")  # noqa: S314 - our own text
    assert browser.get(address.replace("probes.svg", "none.svg")).status_code == 404
    with taking_part(probes, "eve") as (_, other):
        assert other.get(address).status_code == 404
    with probes.client(**BROWSER) as nobody:
        assert nobody.get(address).headers["Location"].startswith("/login?next=")


# -------------------------------------------------------------------------------------------------------------- board


def test_a_board_compares_its_systems_in_their_order(probes: Site) -> None:
    with taking_part(probes) as (ada, _), taking_part(probes, "eve") as (eve, _):
        sent(ada, PLACE, predictions())
        sent(eve, PLACE, predictions(lambda place, probe: 0.9 if probe == "syn" else similarity(place, probe)))
    shown = page(probes, BOARD_HERE)
    markup.check(shown)
    [syn] = re.findall(r'<svg[^>]*aria-labelledby="sim-syn-title.*?</svg>', shown, re.DOTALL)
    assert re.findall(r'class="fig-label"[^>]*>([^<]+)<', syn) == ["eve", "ada"]
    assert "eve 0.900 0.900 0.900 0.900 0.900 0.900 1 ada 0.600 0.400 0.400 0.600 0.800 0.800 1" in text_of(shown)
    assert "ada compositional 0.240 0.200" in text_of(shown)
    assert "ada idiomatic" not in text_of(shown), "too few"


def test_a_board_shows_other_splits_by_links_and_who_entered_them(probes: Site) -> None:
    with taking_part(probes) as (ada, _), taking_part(probes, "eve") as (eve, _):
        sent(ada, PLACE, predictions())
        sent(eve, PLACE, predictions(parts=[("pt", "neut")]))
    shown = page(probes, BOARD_HERE)
    assert [split for _, split, is_chosen in choices_of(shown)["Setting"] if is_chosen] == ["pt/neut/sent"]
    elsewhere = page(probes, BOARD_HERE + "?split=en/neut/sent")
    assert set(re.findall(r'class="fig-label"[^>]*>([^<]+)<', elsewhere)) == {"ada"}


def test_more_systems_than_one_can_read_are_counted(probes: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_pictures, "SYSTEMS_DRAWN", 1)
    with taking_part(probes) as (ada, _), taking_part(probes, "eve") as (eve, _):
        sent(ada, PLACE, predictions())
        sent(eve, PLACE, predictions())
    assert "The first system of the board is drawn, 1 more is not." in text_of(page(probes, BOARD_HERE))


def test_a_figure_of_a_board_is_there_for_everybody(probes: Site) -> None:
    with probes.client(**BROWSER) as nobody:
        address = f"{BOARD_HERE}/figures/sim-syn.svg?split=pt/neut/sent"
        assert nobody.get(address).status_code == 404, "nothing stands on the board"
        with taking_part(probes) as (ada, _):
            sent(ada, PLACE, predictions())
        assert address in page(probes, BOARD_HERE)
        response = nobody.get(address)
    assert response.headers["Content-Disposition"] == 'attachment; filename="probes-open-pt-neut-sent-sim-syn.svg"'
    assert "ada" in response.text


def test_a_board_without_systems_or_of_another_task_has_no_picture(probes: Site, site: Site) -> None:
    for address in (BOARD_HERE, BOARD_PAGE):
        assert "in pictures" not in page(probes, address)
        assert "figures.css" not in page(probes, address)
