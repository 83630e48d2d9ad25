"""Under gold that is declared public a team sees its own items: nobody else does, and nobody once it is not."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.base.db import reading, writing
from app.models import PhaseTask, RunStatus, ScoringRun
from tests.canary import MARK
from tests.competitions.embargo import hide
from tests.leaks.place import ROLES, Place, names_of
from tests.leaks.test_canaries import GOLD, GOOD, columns_with, planted, put_gold, submitted  # noqa: F401 (fixture)
from tests.web.routes import addresses
from tests.world import PHASE

#: The gold of the second item is quoted by it.
OTHER = b"id,text\n1,one\n2,other\n3,plain\n"
OWN = "participant"
OUTSIDE = tuple(role for role in ROLES if role not in (OWN, "organiser", "administrator", "submissions alone"))
#: The nearest of them, who look with each commit; in soak all do.
NEAREST = ("anonymous", "other team", "editor")


@pytest.fixture
def compared(planted: Place) -> str:  # noqa: F811
    """The address at which alpha's two submissions under public gold are compared; `planted.names` has them, too."""
    declare(planted, public=True)
    with planted.client("organiser") as olga, planted.client(OWN) as ada:
        put_gold(olga, GOLD, "1", public=True)
        (one, first), (other, second) = (submitted(planted, ada, content) for content in (GOOD, OTHER))
    with reading(planted.site.engine) as session:
        assert {session.get_one(ScoringRun, run).status for run in (first, second)} == {RunStatus.SCORED}
    assert columns_with(planted.site.engine, MARK.encode()) == ["runs.item_results"]
    planted.names = names_of(planted.site.engine, one)
    assert planted.names["other_id"] == other
    return f"/api/v1/submissions/{one}/comparison/{other}"


def declare(place: Place, *, public: bool) -> None:
    with writing(place.site.engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=public))


def quotes_gold(place: Place, path: str) -> bool:
    """Return whether this answer to alpha has a word of gold: the client of the tests raises for it."""
    with place.client(OWN) as ada:
        try:
            assert ada.send("GET", path).status_code == 200
        except AssertionError as told:
            return "quotes gold" in str(told)
    return False


def test_only_the_team_and_its_organisers_see_the_items(
    planted: Place,  # noqa: F811
    compared: str,
    pytestconfig: pytest.Config,
) -> None:
    page = "/submissions/compare?a={submission_id}&b={other_id}".format(**planted.names)
    assert quotes_gold(planted, compared)
    assert quotes_gold(planted, page)
    assert set(NEAREST) < set(OUTSIDE)
    for role in OUTSIDE if pytestconfig.getoption("--soak") else NEAREST:
        with planted.client(role) as visitor:  # whose client raises where gold is quoted
            for address in addresses(planted.site.app):
                if address.method == "GET":
                    visitor.send("GET", planted.fill(address))
            answers = [visitor.send("GET", path).status_code for path in (compared, page)]
        assert answers == ([401, 303] if role == "anonymous" else [404, 404]), role


def test_nothing_else_that_the_team_asks_for_quotes_gold(planted: Place, compared: str) -> None:  # noqa: F811
    with planted.client(OWN) as ada:
        for address in addresses(planted.site.app):
            if address.method == "GET" and "{other_id}" not in address.template:
                ada.send("GET", planted.fill(address))


def test_taken_back_it_is_gone_at_once(planted: Place, compared: str) -> None:  # noqa: F811
    declare(planted, public=False)
    assert not quotes_gold(planted, compared)
    for role in ("organiser", "administrator"):
        with planted.client(role) as visitor:
            assert visitor.send("GET", compared).status_code == 200


@pytest.mark.parametrize("visibility", [{"own_scores": "never"}, {"precision": 1}, {"slices": "none"}])
def test_an_embargo_on_scores_is_one_on_items(
    planted: Place,  # noqa: F811
    compared: str,
    visibility: dict[str, object],
) -> None:
    hide(planted.site.engine, phase=PHASE, **visibility)
    assert not quotes_gold(planted, compared)
