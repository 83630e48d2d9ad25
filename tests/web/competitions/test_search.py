"""Search and the first page: what a reader finds, and never what they may not see."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import update

from app.base import links
from app.base.db import writing
from app.models import Competition, CompetitionTask, Stage
from tests import world
from tests.competitions.embargo import hide
from tests.web import markup
from tests.web.planted import NAME, REVEAL, Planted, planted_site
from tests.web.reading import text_of
from tests.web.site import BROWSER, Person, Site
from tests.world import COMPETITION, TASK

TEAM_PAGE = links.public_team(COMPETITION, NAME)


@pytest.fixture
def planted(site: Site, eve: Person, cheap_passwords: None) -> Iterator[Planted]:
    with planted_site(site, eve) as found:
        yield found


def find(browser: httpx.Client, words: str) -> str:
    answer = browser.get("/search", params={"q": words}, headers=BROWSER)
    assert answer.status_code == 200
    markup.check(answer.text)
    return answer.text


def test_a_team_is_found_by_those_alone_who_see_it_on_a_board(planted: Planted) -> None:
    site, nobody, word = planted.site, planted.nobody, NAME.split()[0].upper()
    assert f'href="{TEAM_PAGE}"' in find(nobody, word)
    assert nobody.get(TEAM_PAGE, headers=BROWSER).status_code == 200, "what is found is there"
    assert NAME not in find(nobody, f"{word} zebra")
    for hidden in ({"board": "hidden", "public_from": REVEAL}, {"names_from": REVEAL}):
        hide(site.engine, **hidden)
        assert TEAM_PAGE not in find(nobody, word)
        assert TEAM_PAGE not in find(planted.owner_browser, word), "nor by a participant"
        assert TEAM_PAGE in find(planted.organiser_browser, word)
    site.set_clock(REVEAL)
    assert TEAM_PAGE in find(nobody, word)


def test_a_team_is_not_found_by_wildcards_nor_before_it_has_a_score(planted: Planted) -> None:
    world.add_team(planted.site.engine, planted.other.user, name="Unscored 100%")
    for words in ("%", "_", "Unscored", "100%", "\\"):
        assert (
            "Unscored"
            not in find(planted.nobody, words).split("<main")[1].replace('value="Unscored"', "").split("</form>")[1]
        )
        assert TEAM_PAGE not in find(planted.nobody, words)


def test_nothing_of_a_draft_is_found_except_by_those_who_see_it(planted: Planted) -> None:
    with writing(planted.site.engine) as session:
        session.execute(update(Competition).where(Competition.name == COMPETITION).values(stage=Stage.DRAFT))
        session.execute(update(CompetitionTask).values(title="Peculiar detection"))
    for words in ("peculiar", NAME, COMPETITION):
        found = find(planted.nobody, words) + find(planted.owner_browser, words)
        assert f'href="{links.competition(COMPETITION)}' not in found
        assert f'href="{links.competition(COMPETITION)}' in find(planted.organiser_browser, words)


def test_tasks_metrics_and_headings_of_the_guide_are_found(site: Site) -> None:
    with writing(site.engine) as session:
        session.execute(update(CompetitionTask).values(title="Détection of idioms", description="Some text."))
    with site.client() as nobody:
        assert f'href="/competitions/{COMPETITION}#task-{TASK}"' in find(nobody, "detection")
        assert 'href="/guide/metrics#task-idiom-similarity"' in find(nobody, "spearman")
        assert 'href="/guide/submitting#deadlines-and-limits"' in find(nobody, "deadlines")


def test_the_first_page_has_ones_own_competitions_deadlines_and_submissions(planted: Planted) -> None:
    page = planted.owner_browser.get("/").text
    markup.check(page)
    found = text_of(page).split("Open now")[0]
    assert "Your competitions" in found
    assert "Evaluation closes Sat 10 Jan 2026, 01:00 AoE (10 Jan, 13:00 UTC)" in found
    assert f'href="{links.submission(planted.submission)}"' in page
    assert "The gold stays hidden" not in found
    strangers = planted.nobody.get("/", headers=BROWSER).text
    assert 'href="/organise"' in strangers.split("<main")[1].split("</main")[0]
    assert "Your competitions" not in strangers
    assert str(planted.submission) not in strangers
