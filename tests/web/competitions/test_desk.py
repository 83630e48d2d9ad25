"""The organiser's desk as a page: who may see it, and that its contents are complete."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select

from app.base.db import reading, writing
from app.boards.power import Power, SmallestDifference, record_power
from app.competitions.find import find_competition
from app.gold.versions import gold_identity
from app.models import OutgoingMail, Right, Role, RunStatus, User
from app.people.mail import GIVEN_UP, send_mail
from app.people.rights import grant_role
from evergold.scoring.leakage import GoldSize
from tests.rich_world import FIRST_SET
from tests.web import markup
from tests.web.one_right import Organisers
from tests.web.reading import COMPETITION_PAGE, text_of
from tests.web.site import Person, Site, csrf_of, log_in, run_of
from tests.world import COMPETITION, NOW, SHOWN_WHOLE, ZERO_SHOT, fail, reject, score, the_phase_task, the_run

DESK = f"{COMPETITION_PAGE}/desk"


@pytest.fixture
def olga(site: Site) -> Iterator[httpx.Client]:
    """Yield the organiser's browser."""
    with log_in(site, "olga") as browser:
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "olga")).one()
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        yield browser


def test_only_organisers_have_it(site: Site, olga: httpx.Client) -> None:
    assert olga.get(DESK).status_code == 200
    assert DESK in olga.get(COMPETITION_PAGE).text
    assert DESK not in olga.get(COMPETITION_PAGE, params={"as": "participant"}).text
    with log_in(site, "ada") as ada:
        assert ada.get(DESK).status_code == 403
        assert DESK not in ada.get(COMPETITION_PAGE).text


def give_up(site: Site, subject: str, *, about_account: bool = False) -> None:
    """A mail to Ada that could not be delivered."""
    with writing(site.engine) as session:
        ada = session.scalars(select(User).where(User.username == "ada")).one()
        here = find_competition(session, COMPETITION)
        mail = send_mail(session, ada, subject, "x", now=NOW, competition_id=None if about_account else here.id)
        assert mail is not None
        mail.status, mail.ended_at, mail.last_error = GIVEN_UP, NOW, "SMTPRecipientsRefused: no such user"


def statuses(site: Site) -> dict[str, str]:
    with reading(site.engine) as session:
        return {mail.subject: mail.status for mail in session.scalars(select(OutgoingMail))}


def test_mail_that_did_not_arrive_is_sent_again_from_here(site: Site, olga: httpx.Client, ada: Person) -> None:
    assert "Undelivered mail" not in olga.get(DESK).text
    give_up(site, "Your registration")
    give_up(site, "A new password", about_account=True)
    page = olga.get(DESK).text
    for said in ("ada@example.org", "Your registration", "no such user", "Send 1 mail again"):
        assert said in page
    assert "A new password" not in page, "mail about accounts is the administrators'"
    form = {"csrf_token": csrf_of(page)}
    with log_in(site, "eve") as eve:
        assert eve.post(f"{DESK}/mail", data={"csrf_token": csrf_of(eve.get("/account").text)}).status_code == 403
    assert "Undelivered mail" not in olga.post(f"{DESK}/mail", data=form).text
    assert statuses(site) == {"Your registration": "waiting", "A new password": "given_up"}
    with writing(site.engine) as session:
        session.scalars(select(User).where(User.username == "olga")).one().is_administrator = True
    assert "A new password" in olga.get(DESK).text
    olga.post(f"{DESK}/mail", data=form)
    assert set(statuses(site).values()) == {"waiting"}


def test_it_says_what_came_in_what_failed_and_who_is_missing(site: Site, olga: httpx.Client, ada: Person) -> None:
    assert "No uploads in the last 24 hours" in olga.get(DESK).text
    reject(site.engine, run_of(site, ada.submitted(b"a")))
    fail(site.engine, run_of(site, ada.submitted(b"b")))
    page = olga.get(DESK).text
    for said in ("Submitted, none valid", "<bdi>Ada</bdi>", "Broken", "Evaluation closes"):
        assert said in page
    assert "No uploads in the last 24 hours" not in page


def test_its_head_has_the_numbers_and_the_hours_are_drawn(site: Site, olga: httpx.Client, ada: Person) -> None:
    """Check one rejected, one failed, and one waiting submission."""
    reject(site.engine, run_of(site, ada.submitted(b"a")))
    fail(site.engine, run_of(site, ada.submitted(b"b")))
    ada.submitted(b"c")
    page = olga.get(DESK).text
    markup.check(page)
    tiles = re.findall(r'<span class="label">([^<]+)</span> <strong[^>]*>([^<]+)<', page)
    assert tiles == [
        ("Received, 24 hours", "3"),
        ("Waiting", "1"),
        ("Failed", "1"),
        ("Workers", "0"),
        ("Without a valid submission", "0"),
        ("Next", "Evaluation closes"),
    ]
    assert "3 in the last 48 hours, 2 of them rejected or failed." in page
    assert page.count('class="fig-bar fig-vain"') == 2, "for a page and for a phone"


def test_only_the_chosen_failures_are_scored_again(site: Site, olga: httpx.Client, ada: Person) -> None:
    runs = [run_of(site, ada.submitted(content)) for content in (b"a", b"b", b"c")]
    for run in runs:
        fail(site.engine, run)
    failed = f"{COMPETITION_PAGE}/failed"
    form = {"csrf_token": csrf_of(olga.get(DESK).text), "chosen": "yes"}
    for page in (DESK, failed):
        assert f'name="run" value="{runs[0]}"' in olga.get(page).text
    olga.post(f"{failed}/queue-again", data=form)
    assert [the_run(site.engine, run).status for run in runs] == [RunStatus.FAILED] * 3, "nothing was chosen"
    olga.post(f"{failed}/queue-again", data={**form, "run": [str(runs[0]), str(runs[2]), "4711"]})
    assert [the_run(site.engine, run).status for run in runs] == ["queued", "failed", "queued"]


def test_it_says_what_participants_see_and_lets_one_look(site: Site, olga: httpx.Client) -> None:
    board = f"{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot"
    assert "<td>everything</td>" in olga.get(DESK).text
    with writing(site.engine) as session:
        the_phase_task(session).phase.visibility = {**SHOWN_WHOLE, "public_from": "close"}
    page = olga.get(DESK).text
    assert "The board is hidden from participants" in page
    assert f"{board}?as=participant" in page
    assert "This board is hidden" in olga.get(board, params={"as": "public"}).text
    with reading(site.engine) as session:
        assert the_phase_task(session).phase.visibility, "looking changed nothing"


def test_it_says_what_the_test_sets_can_tell_apart(site: Site, olga: httpx.Client) -> None:
    assert "test sets can detect" not in olga.get(DESK).text
    part = ZERO_SHOT.replace("all", "pt")
    scores = (
        SmallestDifference("macro_f1", ZERO_SHOT, 0.06131, 739),
        SmallestDifference("macro_f1", part, 0.1099, 273),
    )
    with writing(site.engine) as session:
        record_power(session, the_phase_task(session).id, Power("gold", "key", "2 baselines", scores))
    page = olga.get(DESK).text
    markup.check(page)
    assert "0.0614 739 Portuguese 0.1099 of 273 2 baselines" in text_of(page)


def test_it_says_what_scores_tell_of_hidden_gold(site: Site, olga: httpx.Client) -> None:
    assert "What scores reveal about hidden gold" in olga.get(DESK).text
    with writing(site.engine) as session:
        phase_task = the_phase_task(session)
        phase_task.phase.submissions_total, phase_task.phase.visibility = 10, {}
        gold = gold_identity(session, phase_task) or ""
        record_power(session, phase_task.id, Power(gold, "key", "", (), GoldSize(1000, 998.8, 2)))
    page = olga.get(DESK).text
    markup.check(page)
    assert "1,000 999" in text_of(page)
    assert "readable" in text_of(page)


#: What the desk shows with one right alone, and with none of the others.
SHOWN = {
    "1 registration to decide": Right.EDIT,
    "Submissions per hour": Right.SUBMISSIONS,
    "Teams without a valid submission": Right.SUBMISSIONS,
    "test sets can detect": Right.GOLD,
    "What scores reveal about hidden gold": Right.GOLD,
    "Is it blind?": Right.MESSAGES,
    "Undelivered mail": None,  # that takes two
}


def test_it_shows_each_organiser_what_their_right_is_for(site: Site, ada: Person, organisers: Organisers) -> None:
    with writing(site.engine) as session:
        find_competition(session, COMPETITION).registration = {"mode": "approval"}
        found = Power("gold", "key", "", (SmallestDifference("macro_f1", ZERO_SHOT, 0.06131, 739),))
        record_power(session, the_phase_task(session).id, found)
    here = f"/api/v1{COMPETITION_PAGE}"
    assert ada.client.put(f"{here}/registration", json={}).status_code == 200
    with site.person("eve").client as eve:
        assert eve.put(f"{here}/registration", json={}).status_code == 200
    decided = organisers.clients[Right.EDIT].send("PUT", f"{here}/registrations/eve", json={"status": "approved"})
    assert decided.status_code == 200
    assert ada.client.post(f"{here}/questions", json={"title": "Is it blind?", "text": "May we?"}).status_code == 201
    give_up(site, "Your registration")
    told = {right: organisers.clients[right].send("GET", DESK).text for right in Right}
    assert {said: [right for right in Right if said in told[right]] for said in SHOWN} == {
        said: [right] if right else [] for said, right in SHOWN.items()
    }


def test_a_question_waits_until_it_is_answered_or_closed(site: Site, ada: Person, organisers: Organisers) -> None:
    client, here = organisers.clients[Right.MESSAGES], f"/api/v1{COMPETITION_PAGE}/questions"
    first, second, _ = (
        ada.client.post(here, json={"title": title, "text": "Why?"}).json()["id"]
        for title in ("To answer", "To close", "To leave")
    )
    assert client.send("PUT", f"{here}/{first}/answer", json={"answer": "Because."}).status_code == 200
    assert client.send("DELETE", f"{here}/{first}/closed").status_code == 200, "open again, and answered"
    assert client.send("PUT", f"{here}/{second}/closed").status_code == 200
    page = client.send("GET", DESK).text
    assert [title for title in ("To answer", "To close", "To leave") if title in page] == ["To leave"]


def test_a_rescoring_waits_until_it_is_published_or_dropped(site: Site, ada: Person, olga: httpx.Client) -> None:
    score(site.engine, run_of(site, ada.submitted()), 0.5)
    waiting = f'href="{COMPETITION_PAGE}/rescoring/{FIRST_SET}"'
    form = {"note": "Labels were wrong.", "csrf_token": csrf_of(olga.get(DESK).text)}
    assert olga.post(f"{COMPETITION_PAGE}/rescoring", data=form).url.path == f"{COMPETITION_PAGE}/rescoring/{FIRST_SET}"
    assert waiting in olga.get(DESK).text
    assert olga.post(f"{COMPETITION_PAGE}/rescoring/{FIRST_SET}/drop", data=form).status_code == 200
    assert waiting not in olga.get(DESK).text
