"""People of the server, as administrators manage them by API and pages; a block ends everything at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import Engine, select, update

from app.administration.overview import overview
from app.administration.people import block, find_account, unblock
from app.base.config import Settings, get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.competitions.organisers import may_create
from app.declarations.apply.baselines import USERNAME
from app.models import NO_PASSWORD, AuditEntry, SecondStep, Submission, User
from app.people import auth, second_factor
from app.people.account_blocks import Blocked
from app.people.act import Act, UserAct
from app.people.organising_requests import ask_to_organise
from app.people.provider_logins import account_of, link
from app.people.providers import Person as ProvedPerson
from app.privacy.erasing import neutral_username
from app.submissions.accept import Sender, accept_submission
from tests import world
from tests.threads import in_threads
from tests.web.reading import text_of
from tests.web.site import PASSWORD, Person, Site, csrf_of, log_in
from tests.world import COMPETITION, HOUR, NOW, PHASE, TASK

API = "/api/v1/admin/people"
WORDS = "This account is blocked: Spam. If this is a mistake, write to the people who run this server."


@pytest.fixture
def root(quick_site: Site) -> Person:
    return quick_site.person("root", is_administrator=True)


def blocks(site: Site, username: str = "ada") -> None:
    with writing(site.engine) as session:
        block(Act(session, None, site.now, get_settings()), find_account(session, username), "Spam.")


def deeds(site: Site, subject: str) -> list[str]:
    with reading(site.engine) as session:
        return list(session.scalars(select(AuditEntry.action).where(AuditEntry.subject == subject)))


def test_people_are_found_by_name_address_and_team(quick_site: Site, root: Person) -> None:
    for name in ("ada", "bert", "carla"):
        quick_site.person(name)
    with writing(quick_site.engine) as session:
        session.scalars(select(User).where(User.username == "bert")).one().display_name = "Ada's Friend"
    quick_site.person("dora").submitted()
    asked = [("ADA", {"ada", "bert"}), ("carla@", {"carla"}), ("%", set()), ("\0", set()), ("dora", {"dora"})]
    for text, names in asked:
        found = root.client.get(API, params={"q": text}).json()["accounts"]
        assert {one["username"] for one in found} >= names, text
        assert names or not found, text
    blocks(quick_site)
    (only,) = root.client.get(API, params={"group": "blocked"}).json()["accounts"]
    assert only["username"] == "ada"


def test_accounts_that_are_no_people_are_neither_listed_nor_counted(quick_site: Site, root: Person) -> None:
    """Neither the owner of baselines nor what stays of a deleted account."""

    def known() -> tuple[int, int, list[str]]:
        with reading(quick_site.engine) as session:
            told = overview(session, NOW)
        names = [
            one["username"]
            for group in ("all", "unconfirmed")
            for one in root.client.get(API, params={"group": group}).json()["accounts"]
        ]
        return told.accounts, told.unconfirmed, names

    others = USERNAME, neutral_username(77)
    before = known()
    with writing(quick_site.engine) as session:
        there = session.scalars(select(User.username).where(User.username.in_(others))).all()
        for name in set(others) - set(there):
            session.add(User(username=name, email=f"{name[1:4]}@x.example", display_name="Nobody", created_at=NOW))
    assert known() == before
    for name in others:
        assert root.client.get(API, params={"q": name}).json()["accounts"] == []
        assert root.client.put(f"{API}/{quote(name)}/block", json={"reason": "Spam."}).status_code == 404


def test_an_administrator_is_demoted_by_another_and_keeps_log_ins(quick_site: Site, root: Person) -> None:
    grace = quick_site.person("grace", is_administrator=True)
    with writing(quick_site.engine) as session:
        session.get_one(User, root.user.id).password_hash = "x"  # somebody who can log in
    place = f"{API}/grace/administration"
    with quick_site.browser(grace.user) as browser:
        assert browser.get("/admin/people").status_code == 200
        assert quick_site.person("ada").client.delete(place).status_code == 403
        demoted = root.client.delete(place)
        assert (demoted.status_code, demoted.json()["is_administrator"]) == (200, False)
        assert root.client.delete(place).status_code == 200, "again changes nothing"
        assert browser.get("/admin/people").status_code == 404
        assert browser.get("/account").status_code == 200, "still logged in"
    assert deeds(quick_site, "user grace") == ["token.create", "administrator.demote"]
    own = root.client.delete(f"{API}/root/administration")
    assert (own.status_code, "ask another administrator" in own.json()["error"]["message"]) == (403, True)


def test_the_last_administrator_who_can_log_in_stays_one(quick_site: Site, root: Person) -> None:
    """Root is demoted while nobody else could administer: one other has no way to log in, one is blocked."""
    with writing(quick_site.engine) as session:
        others = update(User).where(User.is_administrator, User.id != root.user.id)
        session.execute(others.values(is_administrator=False))
    ghost, grace = (quick_site.person(name, is_administrator=True) for name in ("ghost", "grace"))
    with writing(quick_site.engine) as session:
        session.execute(update(User).where(User.id.in_([root.user.id, grace.user.id])).values(password_hash="x"))
        session.execute(update(User).where(User.id == ghost.user.id).values(password_hash=None))
    blocks(quick_site, "grace")
    refused = ghost.client.delete(f"{API}/root/administration")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "last_administrator")
    with quick_site.browser(ghost.user) as browser:
        page = browser.get("/admin/people/root")
        shown = browser.post("/admin/people/root/demote", data={"csrf_token": csrf_of(page.text)})
        assert (shown.status_code, "make somebody else an administrator first" in text_of(shown.text)) == (409, True)
        with writing(quick_site.engine) as session:
            unblock(Act(session, None, NOW, get_settings()), find_account(session, "grace"))
        done = browser.post("/admin/people/root/demote", data={"csrf_token": csrf_of(page.text)})
        assert (done.status_code, "Revoke administration" in done.text) == (200, False)
    with reading(quick_site.engine) as session:
        assert not find_account(session, "root").is_administrator


def test_two_administrators_who_demote_each_other_leave_one(engine: Engine) -> None:
    names = ("grace", "heidi")
    with writing(engine) as session:
        session.execute(update(User).values(is_administrator=False))
    for name in names:
        world.add_user(engine, name, is_administrator=True)
    with writing(engine) as session:
        session.execute(update(User).where(User.username.in_(names)).values(password_hash="x"))

    def demoted(number: int) -> bool:
        try:
            with writing(engine) as session:
                return auth.demote(session, find_account(session, names[number]), NOW)
        except auth.LastAdministrator:
            return False

    assert sorted(in_threads(2, demoted)) == [False, True]


def test_a_block_ends_log_ins_tokens_and_log_ins_under_way_and_says_why(quick_site: Site, root: Person) -> None:
    with log_in(quick_site) as browser:
        with reading(quick_site.engine) as session:
            user = find_account(session, "ada")
        program = quick_site.with_token(user)
        with writing(quick_site.engine) as session:
            second_factor.begin_step(session, user, "", "password", NOW)
        client = {"username": "ada", "password": PASSWORD}
        codabench = quick_site.client().post("/api/api-token-auth/", data=client).json()["token"]
        assert program.get("/api/v1/me").status_code == 200

        answer = root.client.put(f"{API}/ada/block", json={"reason": "Spam."})
        assert (answer.json()["log_ins"], answer.json()["tokens"]) == (0, 0)

        told = program.get("/api/v1/me")
        assert (told.status_code, told.json()["error"]["message"]) == (403, WORDS)
        other = quick_site.client(Authorization=f"Token {codabench}").get("/api/v1/me")
        assert other.json()["error"]["code"] == "account_blocked"
        assert WORDS in text_of(browser.get("/").text)
        assert "Log in" in browser.get("/").text, "once: the browser has forgotten the log-in"
        page = browser.get("/login").text
        again = browser.post("/login", data={**client, "csrf_token": csrf_of(page)})
        assert (again.status_code, WORDS in text_of(again.text)) == (403, True)
        wrong = browser.post("/login", data={"username": "ada", "password": "x" * 12, "csrf_token": csrf_of(page)})
        assert "blocked" not in wrong.text, "only who has the password learns it"
        assert quick_site.client().post("/api/api-token-auth/", data=client).status_code == 403
        assert quick_site.client().post("/api/v1/tokens", json={**client, "name": "new"}).status_code == 403
        with reading(quick_site.engine) as session:
            assert session.scalars(select(SecondStep)).all() == []

        assert root.client.delete(f"{API}/ada/block").json()["blocked_at"] is None
        assert program.get("/api/v1/me").status_code == 401, "tokens stay revoked"
        page = browser.get("/login").text
        assert "Log out" in browser.post("/login", data={**client, "csrf_token": csrf_of(page)}).text
    assert [one for one in deeds(quick_site, "user ada") if "block" in one] == ["account.block", "account.unblock"]


@pytest.mark.both
def test_what_begins_while_its_owner_is_blocked_opens_nothing(engine: object) -> None:
    """A log-in and a token that another transaction makes from what it read before the block."""
    from sqlalchemy import Engine

    assert isinstance(engine, Engine)
    user = world.add_user(engine, "ada")
    with writing(engine) as session:
        session.execute(select(User)).all()
        _, login = auth.start_session(session, user, NOW, 24)
        _, token = auth.create_token(session, user, "t", NOW)
    with writing(engine) as session:  # as if it had been committed before those
        found = find_account(session, "ada")
        found.blocked_at, found.blocked_reason = NOW, "Spam."
    with reading(engine) as session:
        assert auth.find_session(session, login, NOW) is None
        assert auth.find_token(session, token, NOW) is None
    ways: list[Callable[..., object]] = [
        lambda session: auth.start_session(session, user, NOW, 24),
        lambda session: second_factor.begin_step(session, user, "", "password", NOW),
    ]
    for way in ways:
        with pytest.raises(Blocked), writing(engine) as session:
            way(session)


def test_a_provider_opens_no_blocked_account(quick_site: Site) -> None:
    ada, settings = quick_site.person("ada").user, Settings()
    person = ProvedPerson(issuer="https://id.example", subject="7", label="ada")
    with writing(quick_site.engine) as session:
        session.get_one(User, ada.id).password_hash = NO_PASSWORD
        link(UserAct(session, ada, NOW, settings), person, "id")
    blocks(quick_site)
    with pytest.raises(Blocked), writing(quick_site.engine) as session:
        account_of(session, person, "id", settings, NOW)


def test_an_upload_that_arrives_after_the_block_is_refused_and_others_of_the_team_are_not(quick_site: Site) -> None:
    ada, eve = quick_site.person("ada"), quick_site.person("eve")
    upload = world.upload_of("some file")
    blocks(quick_site)
    with writing(quick_site.engine) as session:
        task, sender = find_phase_task(session, COMPETITION, PHASE, TASK), Sender(ada.user, NOW)
        with pytest.raises(Blocked):
            accept_submission(session, task, upload, sender)
    eve.submitted()
    with reading(quick_site.engine) as session:
        assert session.scalars(select(Submission.user_id)).all().count(ada.user.id) == 0


def test_a_request_that_waits_ends_with_the_block(site: Site, ada: Person) -> None:
    sent, answers = ada.submitted(), list[int]()
    wait = threading.Thread(
        target=lambda: answers.append(
            ada.client.get(f"/api/v1/submissions/{sent['id']}", params={"wait": 25}).status_code
        )
    )
    wait.start()
    while site.app.state.server.waiting.count == 0:
        assert wait.is_alive()
    root = site.person("root", is_administrator=True)
    assert root.client.put(f"{API}/ada/block", json={}).status_code == 200
    wait.join(timeout=60)
    assert answers == [403]


def test_an_organiser_blocked_in_the_middle_of_a_request_changes_nothing(quick_site: Site) -> None:
    from app.competitions.find import organised
    from app.models import Right, Role
    from app.people.rights import grant_role

    olga = quick_site.person("olga").user
    with writing(quick_site.engine) as session:
        grant_role(session, find_competition(session, COMPETITION), olga, Role.ORGANISER, NOW)
    blocks(quick_site, "olga")
    with pytest.raises(Blocked), writing(quick_site.engine) as session:
        organised(session, olga, COMPETITION, Right.GOLD)


def test_administrators_do_not_block_themselves(root: Person) -> None:
    assert root.client.put(f"{API}/root/block", json={}).status_code == 403
    assert root.client.put(f"{API}/nobody/block", json={}).status_code == 404
    assert root.client.put(f"{API}/root/block", json={"reason": "x" * 501}).status_code == 403


def test_somebody_barred_creates_none_whatever_the_rule(quick_site: Site, root: Person) -> None:
    quick_site.person("ada")
    saved = root.client.put(f"{API}/ada/organising", json={"organising": "barred", "competitions": 2}).json()
    assert (saved["organising"], saved["may_own"]) == ("barred", 2)
    with reading(quick_site.engine) as session:
        user = find_account(session, "ada")
        assert [may_create(user, rule) for rule in ("anybody", "approved", "admins")] == [False] * 3
    refused = root.client.put(f"{API}/ada/organising", json={"organising": "rule", "competitions": -1})
    assert set(refused.json()["error"]["details"]["fields"]) == {"competitions"}
    assert root.client.put(f"{API}/ada/organising", json={"organising": "approved"}).json()["may_own"] == 5
    assert deeds(quick_site, "user ada")[-3:] == ["organiser.rules", "organiser.approve", "organiser.rules"]


def test_a_banned_domain_registers_no_more_and_who_is_there_stays(quick_site: Site, root: Person) -> None:
    quick_site.person("ada")
    assert root.client.put("/api/v1/admin/banned-domains/Example.org").json()["value"] == "example.org"
    assert root.client.put("/api/v1/admin/banned-domains/spam.example").json()["value"] == "example.org, spam.example"
    assert root.client.put("/api/v1/admin/banned-domains/nonsense").status_code == 422
    for email, status in (("n@example.org", 422), ("n@x.example.org", 422), ("n@notexample.org", 201)):
        form = {"username": "nora", "email": email, "password": PASSWORD}
        assert quick_site.client().post("/api/v1/register", json=form).status_code == status, email
    assert root.client.get(f"{API}/ada").json()["blocked_at"] is None
    changed = root.client.put("/api/v1/admin/settings/mail_domains", json={"value": "uni.example"})
    assert changed.status_code == 200
    refused = quick_site.client().post(
        "/api/v1/register", json={"username": "nils", "email": "n@other.example", "password": PASSWORD}
    )
    assert refused.json()["error"]["details"]["fields"] == {"email": "This server takes addresses of uni.example only."}


def test_a_request_to_organise_is_answered_once(quick_site: Site, root: Person) -> None:
    ada = quick_site.person("ada")
    with writing(quick_site.engine) as session:
        ask_to_organise(UserAct(session, ada.user, NOW, quick_site.settings), "Riddles.")
    (waiting,) = root.client.get("/api/v1/admin/requests").json()["requests"]
    place = f"/api/v1/admin/requests/{waiting['id']}/answer"
    answers = [root.client.put(place, json={"is_approved": True}).status_code for _ in range(2)]
    assert answers == [200, 409]
    assert root.client.get(f"{API}/ada").json()["organising"] == "approved"


def test_competitions_stand_by_size_and_an_administrator_takes_one_over(quick_site: Site, root: Person) -> None:
    def size() -> dict[str, Any]:
        listed = root.client.get("/api/v1/admin/competitions").json()["competitions"]
        found: dict[str, Any] = next(one for one in listed if one["name"] == COMPETITION)
        return found

    before = size()
    quick_site.person("ada").submitted(b"five!")
    after = size()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"submissions", "submitted_bytes", "teams", "last_submission_at"}
    assert after["submitted_bytes"] - before["submitted_bytes"] == 5
    place = f"/api/v1/admin/competitions/{COMPETITION}/owner"
    assert root.client.put(place, json={"owner": "root"}).json() == {"owner": "root"}
    assert root.client.put(place, json={"owner": "ada"}).json() == {"owner": "ada"}
    assert root.client.put(place, json={"owner": "nobody"}).status_code == 404
    assert "competition.hand_over" in deeds(quick_site, f"competition {COMPETITION}")


def test_the_pages_do_the_same(quick_site: Site, root: Person) -> None:
    ada = quick_site.person("ada")
    with writing(quick_site.engine) as session:
        session.get_one(User, ada.user.id).email_confirmed_at = None
    with quick_site.browser(root.user) as browser:
        page = browser.get("/admin/people/ada").text
        token = csrf_of(page)

        def post(path: str, **fields: str) -> str:
            return text_of(browser.post(path, data={"csrf_token": token, **fields}).text)

        assert "Confirm the address" in text_of(page)
        assert "Confirm the address" not in post("/admin/people/ada/confirm")
        said = post("/admin/people/ada/block", reason="Spam.")
        assert "Unblock" in said
        assert "Spam." in said
        assert "Unblock" not in post("/admin/people/ada/unblock")
        wrong = post("/admin/people/ada/organising", organising="approved", competitions="many")
        assert "Write a whole number, or leave it empty." in wrong
        assert "0 of 7" in post("/admin/people/ada/organising", organising="approved", competitions="7")
        assert "Banned: spam.example." in post("/admin/people/ban", domain="spam.example")
        assert "'b@d' is not a domain" in post("/admin/people/ban", domain="b@d")
        assert "There is no account 'zoe'" in post(f"/admin/competitions/{COMPETITION}/owner", owner="zoe")
        assert "Nobody is waiting" in text_of(browser.get("/admin/requests").text)
        quick_site.set_clock(NOW + HOUR)
        assert "ada" in text_of(browser.get("/admin/people", params={"q": "ada@"}).text)
        assert browser.get("/admin/people/nobody").status_code == 404


def test_an_account_is_deleted_as_its_owner_can_and_kept_again(quick_site: Site, root: Person) -> None:
    quick_site.person("ada")
    planned = root.client.put(f"{API}/ada/deletion").json()
    assert planned["due_at"] is not None
    assert root.client.put(f"{API}/ada/deletion").json() == planned, "once"
    with quick_site.browser(root.user) as browser:
        page = browser.get("/admin/people/ada").text
        assert "To be deleted" in text_of(page)
        kept = browser.post("/admin/people/ada/keep", data={"csrf_token": csrf_of(page)}).text
        assert "Delete in 14 days" in text_of(kept)
        assert "To be deleted" in text_of(
            browser.post("/admin/people/ada/delete", data={"csrf_token": csrf_of(page)}).text
        )
    assert root.client.delete(f"{API}/ada/deletion").json()["due_at"] is None
    assert deeds(quick_site, "user ada")[-4:] == ["account.delete", "account.keep", "account.delete", "account.keep"]


def test_the_only_administrator_is_not_deleted(quick_site: Site, root: Person) -> None:
    answer = root.client.put(f"{API}/root/deletion")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "account_needed")
