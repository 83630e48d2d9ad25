"""Two rows of a board side by side: which two, what is shown of both, and whose items nobody else sees."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.models import RowStatus, TeamKind, User
from tests import world
from tests.boards.marks import mark
from tests.competitions.embargo import hide
from tests.web import markup
from tests.web.reading import text_of
from tests.web.site import BOARD, BROWSER, Person, Site
from tests.web.submissions.test_compare_items import declare, labels
from tests.world import HOUR, NOW, ZERO_SHOT

PAGE = BOARD.removeprefix("/api/v1")
#: What says that a page shows items of predictions.
ITEMS = 'id="items-caption"'


def enter(site: Site, user: User, value: float, answers: tuple[str, ...]) -> UUID:
    accepted = world.submit(site.engine, user, NOW - HOUR, content=str(value))
    held = world.sure(world.claim(site.engine, accepted.run_id))
    world.finish(site.engine, held, world.scores_of(ZERO_SHOT, value), items=labels(*answers))
    return accepted.submission.id


@pytest.fixture
def rows(site: Site, ada: Person, eve: Person) -> dict[str, UUID]:
    """Ada 0.9, Eve 0.8, a baseline 0.4, with their items; the gold is public."""
    declare(site, public=True)
    bot = world.add_user(site.engine, "bot")
    world.add_team(site.engine, bot, name="Majority", kind=TeamKind.BASELINE)
    return {
        "ada": enter(site, ada.user, 0.9, ("00", "01", "11")),
        "eve": enter(site, eve.user, 0.8, ("00", "00", "10")),
        "bot": enter(site, bot, 0.4, ("01", "00", "11")),
    }


def page(person: Person, *rows: UUID, more: str = "") -> str:
    asked = "&".join([*(f"row={one}" for one in rows), *([more] if more else [])])
    answer = person.client.get(f"{PAGE}/compare?{asked}", headers=BROWSER)
    assert answer.status_code == 200, answer.text
    markup.check(answer.text)
    return answer.text


def test_any_two_rows_are_compared_in_board_order(eve: Person, rows: dict[str, UUID]) -> None:
    found = text_of(page(eve, rows["bot"], rows["ada"]))
    assert "Ada and Majority" in found
    assert "Ada is better by 0.5000 in Macro F1 · F1" in found
    assert "Choose two different rows" not in found


def test_the_api_compares_rows_by_the_names_of_their_teams(eve: Person, rows: dict[str, UUID]) -> None:
    found = eve.client.get(f"{BOARD}/compare", params={"team": ["Majority", "Ada"]}).json()
    assert (found["first"]["team"], found["second"]["team"]) == ("Ada", "Majority")
    assert found["page"] == f"{PAGE}/compare?row={rows['ada']}&row={rows['bot']}"
    ranking = found["scores"][0]
    assert (ranking["first"]["value"], ranking["second"]["value"], ranking["better"]) == (0.9, 0.4, "first")
    assert ranking["difference"] == pytest.approx(0.5)
    own = eve.client.get(f"{BOARD}/compare").json()
    assert [own[one]["team"] for one in ("first", "second")] == ["Ada", "Eve"], "one's own row, and the first"
    unknown = eve.client.get(f"{BOARD}/compare", params={"team": "Majorty"})
    assert unknown.status_code == 404
    assert "This board shows no scores of 'Majorty'; did you mean 'Majority'?" in unknown.json()["error"]["message"]


def test_the_api_compares_no_rows_of_a_hidden_board(site: Site, eve: Person, rows: dict[str, UUID]) -> None:
    hide(site.engine, board="hidden")
    assert eve.client.get(f"{BOARD}/compare", params={"team": "Ada"}).status_code == 404
    assert eve.client.get(f"{BOARD}/compare").status_code == 404


def test_what_was_not_ticked_is_ones_own_row_then_the_first(eve: Person, rows: dict[str, UUID]) -> None:
    assert "Ada and Eve" in text_of(page(eve))
    assert "Eve and Majority" in text_of(page(eve, rows["bot"]))
    every = text_of(page(eve, *rows.values()))
    assert "Ada and Eve" in every
    assert "Choose two different rows" in every
    assert "Ada and Majority" in text_of(page(eve, rows["ada"], rows["ada"], rows["bot"]))


def test_boxes_stand_at_the_rows_when_they_are_asked_for(eve: Person, rows: dict[str, UUID]) -> None:
    plain = eve.client.get(PAGE, headers=BROWSER).text
    boxes = eve.client.get(f"{PAGE}?pick=yes&q=a", headers=BROWSER).text
    markup.check(boxes)
    assert "pick=yes" in plain
    assert 'type="checkbox" name="row"' not in plain
    for one in (rows["ada"], rows["bot"]):
        assert f'name="row" value="{one}" form="pick-form"' in boxes
    assert "Show the whole board by rank" in boxes, "a search is still on"


def test_a_row_that_is_not_shown_is_not_found(site: Site, eve: Person, ada: Person, rows: dict[str, UUID]) -> None:
    mark(site.engine, "Ada", RowStatus.HIDDEN)
    asked = f"{PAGE}/compare?row={rows['ada']}&row={rows['eve']}"
    assert eve.client.get(asked, headers=BROWSER).status_code == 404
    assert ada.client.get(asked, headers=BROWSER).status_code == 200, "its own team"
    hide(site.engine, board="ranks_only")
    assert ada.client.get(asked, headers=BROWSER).status_code == 404
    assert "fewer than two rows" in page(ada)


def test_digits_and_splits_are_those_of_the_board(site: Site, eve: Person, rows: dict[str, UUID]) -> None:
    hide(site.engine, precision=1, slices="none")
    found = page(eve, rows["ada"], rows["eve"])
    assert "0.9" in text_of(found)
    assert "0.90" not in text_of(found)
    assert "All scores" not in found, "the ranking score alone"
    assert ITEMS not in found


def test_items_are_those_of_ones_own_predictions_and_baselines(
    site: Site, ada: Person, eve: Person, rows: dict[str, UUID]
) -> None:
    """Predictions of another team are on no board, and here neither, not even as counts."""
    root = site.person("root", is_administrator=True)
    two = rows["ada"], rows["bot"]
    assert ITEMS in page(ada, *two)
    assert "Only Majority right (1)" in page(ada, *two)
    with root.client:
        assert ITEMS in page(root, rows["ada"], rows["eve"])
    for one, other in (two, (rows["ada"], rows["eve"])):
        theirs = page(eve, one, other)
        assert ITEMS not in theirs
        assert "right (1)" not in theirs
        assert "predictions of other teams are not shown" in theirs
    declare(site, public=False)
    assert "it would reveal the gold" in page(ada, *two)


def test_items_have_pages_and_filters_that_keep_both_rows(ada: Person, rows: dict[str, UUID]) -> None:
    found = page(ada, rows["ada"], rows["bot"], more="show=b")
    assert f"row={rows['ada']}&amp;row={rows['bot']}&amp;show=differ#items" in found
    assert "Only Majority right: 1 to 1 of 1" in text_of(found)
