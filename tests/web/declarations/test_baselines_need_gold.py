"""Ways to declare a baseline of hidden gold, all of them, for organisers with and without the right to gold."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from app.base.db import writing
from app.competitions.find import find_competition
from app.models import Right, Role, User
from app.people import auth
from app.people.rights import grant_role
from tests.web.declarations.linguist import Linguist, version_of, written
from tests.web.site import Site, log_in
from tests.world import NOW

API = "/api/v1/competitions/irony"
RIGHTS = {
    "edda": (Right.EDIT,),
    "suse": (Right.EDIT, Right.SUBMISSIONS, Right.MESSAGES),
    "kees": (Right.EDIT, Right.GOLD),
    "greg": (Right.GOLD,),
}
MAY_NOT = ("edda", "suse")


@pytest.fixture
def competition(ada: Linguist) -> Linguist:
    """The owner of a competition with one baseline in its first revision and a second one in its second."""
    ada.send(f"{written(ada)}/build")
    assert with_second_baseline(ada).url.path == "/competitions/irony/history/2"
    assert applied(ada, "/competitions/irony/history/1", base="2").url.path == "/competitions/irony/history/3"
    return ada


def applied(somebody: Linguist, path: str, **fields: str) -> httpx.Response:
    """The answer to a form that is first previewed, then sent; a refusal of either."""
    preview = somebody.send(path, **fields)
    if preview.status_code != 200:
        return preview
    previewed = preview.text.split('name="previewed" value="', 1)[1].split('"', 1)[0]
    return somebody.send(path, action="apply", previewed=previewed, **fields)


@pytest.fixture(params=list(RIGHTS))
def organiser(request: pytest.FixtureRequest, site: Site, competition: Linguist) -> Iterator[Linguist]:
    name: str = request.param
    with log_in(site, name) as browser:
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == name)).one()
            irony = find_competition(session, "irony")
            grant_role(session, irony, user, Role.ORGANISER, NOW, rights=RIGHTS[name])
            _, secret = auth.create_token(session, user, "test", NOW)
        browser.headers["X-Secret"] = secret
        yield Linguist(browser, name)


def with_second_baseline(somebody: Linguist) -> httpx.Response:
    """Return the server's answer when the second baseline is to be applied."""
    place = somebody.send("/competitions/irony/rewrite").url.path
    page = somebody.browser.get(place).text
    token = {"csrf_token": somebody.token, "version": version_of(page), "name": ""}
    somebody.browser.post(f"{place}/add", params={"at": "phases/0/tasks/main/baselines"}, data=token)
    somebody.say(place, "phases/0/tasks/main/baselines/1", name="Once more", file="prediction.csv")
    somebody.say(place, "phases/0/limits", per_day="6")  # something that changes before there is gold
    return applied(somebody, f"{place}/build")


def expected(organiser: Linguist) -> int:
    return 403 if organiser.name not in ("kees",) else 200


def test_writing_everything_anew(organiser: Linguist) -> None:
    if organiser.name == "greg":
        assert organiser.send("/competitions/irony/rewrite").status_code == 403
        return
    answer = with_second_baseline(organiser)
    assert answer.status_code == expected(organiser)
    assert ("without the right &#39;gold&#39;" in answer.text) == (organiser.name in MAY_NOT)


def test_going_back_over_the_api(site: Site, organiser: Linguist) -> None:
    secret = organiser.browser.headers["X-Secret"]
    with site.client(Authorization=f"Bearer {secret}") as client:
        for preview in ("true", "false"):
            answer = client.post(f"{API}/revisions/2/apply", json={"base": 3}, params={"preview": preview})
            assert answer.status_code == expected(organiser)
        if organiser.name in MAY_NOT:
            assert answer.json()["error"]["code"] == "right_missing"
            assert answer.json()["error"]["details"]["needed"] == ["gold"]
            values = {"phases.evaluation.tasks.main.gold_is_public": True, "title": "Something else"}
            patched = client.patch(f"{API}/declaration", json={"base": 3, "values": values})
            assert patched.status_code == 200
            again = client.post(f"{API}/revisions/2/apply", json={"base": 4})
            assert again.status_code == 403


def test_going_back_on_the_page(organiser: Linguist) -> None:
    answer = applied(organiser, "/competitions/irony/history/2", base="3")
    assert answer.status_code == expected(organiser)


def test_a_competition_of_ones_own_has_baselines(organiser: Linguist, site: Site) -> None:
    """Check the owner of a competition, who has every right in it."""
    built = organiser.send(f"{written(organiser, name=f'own-{organiser.name}')}/build")
    assert built.status_code == 200
    assert built.url.path == f"/competitions/own-{organiser.name}/life"
