"""Identity of requests: what a token's scopes open, how often its use is recorded, and as whom organisers can look."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.competitions.visibility import SeenAs
from app.models import ApiToken, LoginSession, Role, TokenScope, User
from app.people import auth
from app.people.logins import SEEN_AFTER
from app.people.rights import grant_role
from app.web.http.identity import Visitor, viewer_as
from tests import world
from tests.web.site import CONTENT, SUBMIT, Site
from tests.world import COMPETITION, NOW, SECOND

LIST = f"/api/v1/competitions/{COMPETITION}/submissions"
AGAIN = f"/api/v1/competitions/{COMPETITION}/failed-runs/queue-again"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def olga(quick_site: Site) -> User:
    """Return the organiser; others have every right for which a token can be used."""
    user = world.add_user(quick_site.engine, "olga")
    with writing(quick_site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    return user


@pytest.mark.parametrize(
    ("scope", "statuses"),
    [
        (TokenScope.READ, [200, 403, 403]),
        (TokenScope.SUBMIT, [403, 202, 403]),
        (TokenScope.CREATE, [403, 403, 403]),
        (TokenScope.ORGANISE, [403, 403, 202]),
    ],
)
def test_a_token_reads_submits_or_organises_as_its_scopes_say(
    quick_site: Site, olga: User, scope: TokenScope, statuses: list[int]
) -> None:
    with writing(quick_site.engine) as session:
        _, secret = auth.create_token(session, olga, "one scope", NOW, scopes=frozenset({scope}))
    client = quick_site.client(Authorization=f"Bearer {secret}")
    answers = [
        client.get("/api/v1/submissions"),
        client.post(SUBMIT, files={"file": ("predictions.csv", CONTENT)}),
        client.post(AGAIN),
    ]
    assert [answer.status_code for answer in answers] == statuses
    assert {answer.json()["error"]["code"] for answer in answers if answer.status_code == 403} == {"scope_missing"}


def test_the_use_of_a_log_in_and_of_a_token_is_noted_now_and_then(quick_site: Site, olga: User) -> None:
    browser, program = quick_site.browser(olga), quick_site.with_token(olga)

    def noted(now: datetime) -> tuple[datetime | None, datetime | None]:
        quick_site.set_clock(now)
        assert browser.get(LIST.removeprefix("/api/v1")).status_code == program.get(LIST).status_code == 200
        with reading(quick_site.engine) as session:
            token = session.scalars(select(ApiToken).where(ApiToken.user_id == olga.id)).one()
            login = session.scalars(select(LoginSession).where(LoginSession.user_id == olga.id)).one()
            return login.seen_at, token.last_used_at

    assert noted(NOW) == (NOW, NOW)
    assert noted(NOW + MINUTE - SECOND) == (NOW, NOW)
    assert noted(NOW + MINUTE) == (NOW, NOW + MINUTE)
    assert noted(NOW + SEEN_AFTER - SECOND) == (NOW, NOW + SEEN_AFTER - SECOND)
    assert noted(NOW + SEEN_AFTER) == (NOW + SEEN_AFTER, NOW + SEEN_AFTER - SECOND)


def test_an_organiser_looks_as_themselves_or_with_the_eyes_that_they_name() -> None:
    """A token that is not for organising shows what participants see."""
    user = User(username="olga")
    by_login = Visitor(user, login=LoginSession())
    reads, organises = (Visitor(user, token=ApiToken(scopes=scope)) for scope in ("read", "read organise"))
    asked = (None, SeenAs.PARTICIPANT, SeenAs.PUBLIC)
    found = {
        name: [(one.user is user, one.seen_as) for seen_as in asked for one in [viewer_as(visitor, NOW, seen_as)]]
        for name, visitor in {"login": by_login, "reads": reads, "organises": organises, "nobody": Visitor()}.items()
    }
    public = (False, SeenAs.PUBLIC)
    as_told = [(True, None), (True, SeenAs.PARTICIPANT), public]
    assert found == {
        "login": as_told,
        "reads": [(True, SeenAs.PARTICIPANT), (True, SeenAs.PARTICIPANT), public],
        "organises": as_told,
        "nobody": [(False, None), (False, SeenAs.PARTICIPANT), public],
    }
