"""Texts are reported by those who see them and hidden by organisers, everywhere; people are blocked here."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select, update

from app.base.api_links import API
from app.base.db import reading, writing
from app.boards.freezing import freeze_due
from app.competitions.find import find_competition
from app.models import AuditEntry, HiddenText, OutgoingMail, Phase, Role, Team, TextReport, User
from app.people.rights import grant_role
from app.web.http.rate_limits import REPORTS_PER_HOUR
from tests import world
from tests.rich_world import fresh
from tests.web.limits import limited
from tests.web.reading import COMPETITION_PAGE, text_of
from tests.web.site import Person, Site, csrf_of, log_in
from tests.world import COMPETITION, DAY, NOW

pytestmark = pytest.mark.usefixtures("cheap_passwords")

HERE = f"{API}/competitions/{COMPETITION}"
REPORTS, HIDDEN, BLOCKED = (f"{HERE}/{name}" for name in ("reports", "hidden-texts", "blocked"))
QUESTIONS = f"{HERE}/questions"
BOARD = f"{HERE}/phases/evaluation/boards/zero-shot"
INSULT, ADVERT, SYSTEM = "Xenophobes Inc", "BUY-CHEAP-WATCHES", "slurnet"
WHY = {"reason": "Not here."}


@pytest.fixture
def olga(site: Site) -> Iterator[Person]:
    """The organiser, with a token."""
    person = site.person("olga")
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "olga")).one()
        grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
    with person.client:
        yield person


def asked(person: Person, olga: Person, title: str = ADVERT) -> int:
    """Ask a question that is answered for everybody; return its number."""
    number: int = person.client.post(QUESTIONS, json={"title": title, "text": "Click here."}).json()["id"]
    answer = {"answer": "Thank you.", "is_public": True}
    assert olga.client.put(f"{QUESTIONS}/{number}/answer", json=answer).status_code == 200
    return number


def reported(person: Person, kind: str, which: object, **more: str) -> httpx.Response:
    return person.client.post(REPORTS, json={"kind": kind, "which": str(which), "reason": "spam", **more})


def hidden(olga: Person, kind: str, which: object) -> int:
    made = olga.client.post(HIDDEN, json={"kind": kind, "which": str(which), **WHY})
    assert made.status_code == 201, made.text
    number: int = made.json()["id"]
    return number


def named(site: Site, ada: Person) -> str:
    """Let Ada's team have a name, and a system with scores; return the id of its submission."""
    accepted = world.submit(site.engine, ada.user, method=SYSTEM)
    world.score(site.engine, accepted.run_id, 0.5)
    assert ada.client.put(f"{HERE}/team/name", json={"name": INSULT}).status_code == 200
    return str(accepted.submission.id)


def everywhere(site: Site, submission_id: str) -> str:
    """Return everything that visitors read of the competition: API, feed, CSV, pages, pictures."""
    pages = (
        BOARD,
        f"{BOARD}.csv",
        f"{BOARD}/feed.atom",
        f"{BOARD}/table?format=latex",
        f"{BOARD}/official",
        QUESTIONS,
        f"{HERE}/announcements",
        f"{HERE}/announcements.atom",
        f"{COMPETITION_PAGE}/questions",
        f"{COMPETITION_PAGE}/announcements",
        f"{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot",
        f"{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot/rows/{submission_id}",
        f"{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot/official",
        f"/embed{COMPETITION_PAGE}/phases/evaluation/boards/zero-shot",
        "/search?q=xenophobes",
    )
    with site.client() as visitor:
        return "\n".join(visitor.get(page).text for page in pages)


# ----------------------------------------------------------------------------------------------------------- reporting


def test_who_sees_a_text_reports_it_once_and_organisers_are_written_to(
    site: Site, ada: Person, eve: Person, olga: Person
) -> None:
    number = asked(ada, olga)
    first = reported(eve, "question", number)
    assert first.status_code == 201
    assert reported(eve, "question", number, words="again").json() == first.json()
    [listed] = olga.client.get(REPORTS).json()["reports"]
    assert (listed["kind"], listed["reason"], listed["reporter"]) == ("question", "spam", None)
    assert listed["shown"] == f"{ADVERT}\n\nClick here."
    with reading(site.engine) as session:
        about = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.endswith("A text was reported"))).all()
        assert [(one.recipient, ADVERT in one.body, "eve" in one.body) for one in about] == [
            ("olga@example.org", False, False)
        ]
    assert eve.client.get(REPORTS).status_code == 403


@pytest.mark.parametrize(
    ("kind", "which"),
    [("question", "4711"), ("answer", "1"), ("announcement", "1"), ("team", "Nobody"), ("system", "x"), ("team", "")],
)
def test_nobody_reports_what_they_do_not_see(ada: Person, olga: Person, kind: str, which: str) -> None:
    assert reported(ada, kind, which).status_code == 404


def test_a_private_question_cannot_be_reported_by_others(ada: Person, eve: Person) -> None:
    number = ada.client.post(QUESTIONS, json={"title": "Private", "text": "Only for you."}).json()["id"]
    assert reported(eve, "question", number).status_code == 404


def test_another_reason_needs_words(ada: Person, eve: Person, olga: Person) -> None:
    refused = reported(eve, "question", asked(ada, olga), reason="other")
    assert (refused.status_code, set(refused.json()["error"]["details"]["fields"])) == (422, {"words"})


def test_reports_are_counted(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    limited(site, questions_per_hour=0)
    numbers = [asked(ada, olga, f"{ADVERT} {number}") for number in range(REPORTS_PER_HOUR + 1)]
    statuses = [reported(eve, "question", number).status_code for number in numbers]
    assert statuses == [201] * REPORTS_PER_HOUR + [429]
    assert reported(eve, "question", numbers[0]).status_code == 201  # the first one again


def test_a_dismissed_report_is_closed_with_others_of_the_text(ada: Person, eve: Person, olga: Person) -> None:
    number = asked(ada, olga)
    one = reported(eve, "question", number).json()["id"]
    assert reported(olga, "question", number).status_code == 201
    assert olga.client.put(f"{REPORTS}/{one}/dismissed").status_code == 204
    assert olga.client.get(REPORTS).json() == {"reports": []}
    assert eve.client.put(f"{REPORTS}/{one}/dismissed").status_code == 403


# -------------------------------------------------------------------------------------------------------------- hiding


def test_a_hidden_question_and_answer_stand_nowhere_and_come_back(
    site: Site, ada: Person, eve: Person, olga: Person
) -> None:
    number = asked(ada, olga)
    report = reported(eve, "question", number).json()["id"]
    made = olga.client.put(f"{REPORTS}/{report}/hidden", json=WHY)
    assert (made.status_code, made.json()["author"], made.json()["original"]) == (
        200,
        "ada",
        f"{ADVERT}\n\nClick here.",
    )
    answer = hidden(olga, "answer", number)
    seen = everywhere(site, "") + ada.client.get(QUESTIONS).text
    assert "Hidden by the organisers" in seen
    assert ADVERT not in seen
    assert "Thank you." not in seen
    again = olga.client.post(HIDDEN, json={"kind": "question", "which": str(number), **WHY})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "already_hidden")
    assert olga.client.get(REPORTS).json() == {"reports": []}
    with reading(site.engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.status == "waiting")).all()
        assert all(ADVERT not in mail.subject + mail.body for mail in mails)  # those that were not sent yet
        assert [mail.recipient for mail in mails if "was hidden" in mail.subject] == [
            "ada@example.org",
            "olga@example.org",
        ]
        deeds = session.scalars(select(AuditEntry.action).where(AuditEntry.action.startswith("moderation."))).all()
        assert deeds == ["moderation.report", "moderation.hide", "moderation.hide"]
    for one in (made.json()["id"], answer):
        assert olga.client.delete(f"{HIDDEN}/{one}").status_code == 204
    assert olga.client.get(HIDDEN).json() == {"hidden": []}
    [shown] = ada.client.get(QUESTIONS).json()["questions"]
    assert (shown["title"], shown["answer"]) == (ADVERT, "Thank you.")
    assert olga.client.delete(f"{HIDDEN}/{answer}").status_code == 404


def test_a_hidden_announcement_leaves_page_feed_and_outbox(site: Site, ada: Person, olga: Person) -> None:
    world.submit(site.engine, ada.user)
    said = {"title": ADVERT, "text": "Buy.", "mail": "all"}
    number = olga.client.post(f"{HERE}/announcements", json=said).json()["id"]
    hidden(olga, "announcement", number)
    assert ADVERT not in everywhere(site, "")
    with reading(site.engine) as session:
        mails = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.contains(ADVERT))).all()
        assert {(mail.status, mail.body) for mail in mails} == {("dropped", "")}


def test_names_of_team_and_system_are_hidden_on_live_and_official_boards(
    site: Site, ada: Person, eve: Person, olga: Person
) -> None:
    submission_id = named(site, ada)
    world.score(site.engine, world.submit(site.engine, eve.user).run_id, 0.4)
    with writing(site.engine) as session:
        competition = find_competition(session, COMPETITION)
        session.execute(
            update(Phase).where(Phase.competition_id == competition.id).values(has_snapshot=True, ends_at=NOW + DAY)
        )
        freeze_due(session, NOW + 3 * DAY)
    site.set_clock(NOW + 3 * DAY)
    before = everywhere(site, submission_id)
    assert before.count(INSULT) > 5
    assert SYSTEM in before
    assert reported(eve, "team", INSULT).status_code == 201
    assert reported(eve, "system", submission_id).status_code == 201
    team, system = hidden(olga, "team", INSULT), hidden(olga, "system", submission_id)
    after = everywhere(site, submission_id)
    assert INSULT not in after
    assert SYSTEM not in after
    assert after.count("Hidden by the organisers") > 5
    [row] = [one for one in olga.client.get(f"{BOARD}/official").json()["rows"] if one["rank"] == 1]
    assert row["team"].startswith("Hidden by the organisers")
    for one in (team, system):
        assert olga.client.delete(f"{HIDDEN}/{one}").status_code == 204
    again = everywhere(site, submission_id)
    assert [again.count(name) for name in (INSULT, SYSTEM)] == [before.count(name) for name in (INSULT, SYSTEM)]


def test_what_was_written_anew_stays(site: Site, ada: Person, olga: Person) -> None:
    named(site, ada)
    one = hidden(olga, "team", INSULT)
    assert ada.client.put(f"{HERE}/team/name", json={"name": "Friends"}).status_code == 200
    refused = olga.client.delete(f"{HIDDEN}/{one}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "replaced")
    with reading(site.engine) as session:
        assert session.scalars(select(Team.name).where(Team.id == session.get_one(HiddenText, one).team_id)).one() == (
            "Friends"
        )


def test_a_name_that_was_taken_meanwhile_does_not_come_back(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    named(site, ada)
    one = hidden(olga, "team", INSULT)
    world.submit(site.engine, eve.user)
    assert eve.client.put(f"{HERE}/team/name", json={"name": INSULT.lower()}).status_code == 200
    assert olga.client.delete(f"{HIDDEN}/{one}").json()["error"]["code"] == "replaced"


# ------------------------------------------------------------------------------------------------------------ blocking


def test_who_is_blocked_writes_nothing_and_reads_why(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    submission_id = named(site, ada)
    assert olga.client.put(f"{BLOCKED}/ada", json=WHY).json()["username"] == "ada"
    tried = (
        ada.client.post(QUESTIONS, json={"title": "May I?", "text": "Please."}),
        ada.submit(),
        ada.client.put(f"{HERE}/team/name", json={"name": "Friends"}),
        ada.client.put(f"{API}/submissions/{submission_id}/card", json={"method": "Another"}),
    )
    assert [(one.status_code, one.json()["error"]["code"]) for one in tried] == [(403, "blocked_here")] * 4
    assert all("Not here." in one.json()["error"]["message"] for one in tried)
    [row] = ada.client.get(BOARD).json()["rows"]
    assert row["team"] == INSULT  # what stands stays
    assert eve.client.post(QUESTIONS, json={"title": "May I?", "text": "Please."}).status_code == 201
    assert [one["username"] for one in olga.client.get(BLOCKED).json()["blocked"]] == ["ada"]
    with reading(site.engine) as session:
        [mail] = session.scalars(select(OutgoingMail).where(OutgoingMail.subject.endswith("You were blocked")))
        assert (mail.recipient, "Not here." in mail.body) == ("ada@example.org", True)
    assert olga.client.delete(f"{BLOCKED}/ada").status_code == 204
    assert olga.client.delete(f"{BLOCKED}/ada").status_code == 404
    assert ada.client.post(QUESTIONS, json={"title": "May I?", "text": "Please."}).status_code == 201


def test_others_of_the_team_go_on(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    world.add_team(site.engine, ada.user, eve.user, name="Both")
    assert olga.client.put(f"{BLOCKED}/ada", json=WHY).status_code == 200
    sent = world.submit(site.engine, eve.user).submission.id
    with reading(site.engine) as session:
        assert list(session.scalars(world.submissions_here())) == [sent]


def test_organisers_are_not_blocked(olga: Person) -> None:
    refused = olga.client.put(f"{BLOCKED}/olga", json=WHY)
    assert (refused.status_code, set(refused.json()["error"]["details"]["fields"])) == (422, {"username"})


# --------------------------------------------------------------------------------------------------------------- pages


def test_the_pages_report_hide_show_and_block(site: Site, ada: Person, eve: Person, olga: Person) -> None:
    number = asked(ada, olga)
    place = f"{COMPETITION_PAGE}/report-text?kind=question&which={number}"
    with site.client() as visitor:
        assert visitor.get(place).status_code == 303
    with log_in(site, "wim") as wim:
        assert f"report-text?kind=question&amp;which={number}" in wim.get(f"{COMPETITION_PAGE}/questions").text
        form = {"csrf_token": csrf_of(wim.get(place).text), "reason": "abuse", "words": "It shouts."}
        assert "You reported this text" in text_of(wim.post(place, data=form).text)
    desk = f"{COMPETITION_PAGE}/moderation"
    with log_in(site, "rosa") as rosa:
        with writing(site.engine) as session:
            user = session.scalars(select(User).where(User.username == "rosa")).one()
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, NOW)
        page = rosa.get(desk).text
        token = {"csrf_token": csrf_of(page)}
        assert "It shouts." in page
        assert "wim" not in page
        [report] = _reports(site)
        assert rosa.post(f"{desk}/{report}/hide", data={**token, "reason": ""}).status_code == 422
        assert rosa.post(f"{desk}/{report}/hide", data={**token, "reason": "It shouts."}).status_code == 200
        assert ADVERT in rosa.get(desk).text  # for those who decide
        assert ADVERT not in rosa.get(f"{COMPETITION_PAGE}/questions").text
        unknown = rosa.post(f"{desk}/block", data={**token, "username": "zoe", "reason": "She shouts, too."})
        assert unknown.status_code == 422
        assert "She shouts, too." in unknown.text
        blocked = rosa.post(f"{desk}/block", data={**token, "username": "ada", "reason": "Enough."})
        assert blocked.status_code == 200
        with reading(site.engine) as session:
            [one] = session.scalars(fresh(HiddenText))
        assert rosa.post(f"{desk}/{one.id}/show", data=token).status_code == 200
        assert rosa.post(f"{desk}/unblock", data={**token, "username": "ada"}).status_code == 200
        assert ADVERT in rosa.get(f"{COMPETITION_PAGE}/questions").text


def _reports(site: Site) -> list[int]:
    with reading(site.engine) as session:
        return [one.id for one in session.scalars(fresh(TextReport))]


def test_the_reason_that_was_chosen_on_the_page_is_kept_and_none_is_another(site: Site, ada: Person) -> None:
    bob = site.person("bob")
    numbers = [
        person.client.post(QUESTIONS, json={"title": "Why?", "text": "We ask."}).json()["id"] for person in (ada, bob)
    ]
    for person, number, reason in ((ada, numbers[0], "spam"), (bob, numbers[1], "no such reason")):
        place = f"{COMPETITION_PAGE}/report-text?kind=question&which={number}"
        with site.browser(person.user) as browser:
            form = {"csrf_token": csrf_of(browser.get(place).text), "reason": reason, "words": "Look."}
            assert "You reported this text" in text_of(browser.post(place, data=form).text)
    with reading(site.engine) as session:
        assert [one.reason for one in session.scalars(fresh(TextReport).order_by(TextReport.id))] == ["spam", "other"]
