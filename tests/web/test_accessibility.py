"""Every page of the application, visited in Chromium: it can be read by everybody, weighs little, and requests nothing
from others.

A route of a page that no visit below leads to fails a test, and so does one that is no page and is not named as such.
Each is visited once, by the visitor with most rights there, and where its form is refused; with --soak in every state
and by everybody. axe's rules are checked on the first visit of a template, and on a later one that has a kind of
element which axe has not seen there; with --soak on every visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update

from app.administration.announcements import NewAnnouncement, announce
from app.administration.people import block
from app.administration.settings import change_setting
from app.base.config import get_settings
from app.base.db import reading, writing
from app.competitions.find import find_competition, find_phase_task
from app.declarations.blueprints.build import build_draft
from app.declarations.blueprints.kept import begin_blueprint
from app.declarations.blueprints.stories import first_document
from app.declarations.setup.kinds import KINDS, begun_document
from app.judging.marks import save_marks, worksheet
from app.judging.rounds import publish_round
from app.messages.announcements import AnnouncementForm, group_of, publish
from app.messages.questions import QuestionForm, answer, ask as ask_organisers
from app.models import (
    EntryRule,
    MailLink,
    MergeOffer,
    NewsKind,
    OutgoingMail,
    PhaseTask,
    Role,
    RowStatus,
    ScoringRun,
    Severity,
    TeamKind,
    User,
)
from app.people.act import Act, UserAct
from app.people.email_confirmations import send_link
from app.people.invitations import make_link
from app.people.organising_requests import ask_to_organise
from app.people.rights import grant_role
from app.runs.report import packed_results
from app.runs.validations import claim_validation, record_invalid
from app.submissions.accept import Sender
from app.submissions.validations import FileToCheck, accept_validation
from app.teams.find import find_team
from app.teams.membership import invite
from app.teams.registration import register, rules_of
from app.web.competitions.pages import GUIDES
from app.web.declarations.setup_pages import STEPS
from app.webhooks.keeping import Holder, WebhookEntry, add_webhook, send_test
from evergold.scoring.errors import Problem
from evergold.scoring.task import ItemResult
from tests import letters, world
from tests.boards.marks import mark
from tests.cards.writing import ask as ask_for_cards
from tests.competitions.embargo import add_phase, declare, enter, freeze
from tests.declarations.rows import keep_detection
from tests.judging import judged as judging
from tests.rescoring.rescored import score_set, start
from tests.web import mwe_world, probing_world
from tests.web.access import Reader, reader_of
from tests.web.people.test_passwords import ask, links, path_of
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, SUBMIT_PAGE
from tests.web.routes import addresses, application
from tests.web.site import BROWSER, Site, log_in
from tests.web.test_browser import chromium  # noqa: F401 - a fixture
from tests.whole import open_competition, sent, taking_part
from tests.world import COMPETITION, DAY, HOUR, NOW, PHASE, TASK

pytestmark = pytest.mark.browser

MOVING = "() => document.getAnimations().length"
SPOIL = """() => document.querySelector("main").insertAdjacentHTML("beforeend", `
  <h1>Another</h1><input name="secret"><img src="https://elsewhere.example/pixel.gif" width="900">
  <p class="faint">Faint</p><p class="nowrap">${"wide ".repeat(200)}</p><table><tr><th>Bare</th></tr></table>`) ||
  Object.assign(document.querySelector(".faint").style, {color: "#bbb", backgroundColor: "#fff"})"""
#: Who looks.
NOBODY, ADA, OLGA, ROOT = RIGHTS = "nobody", "ada", "olga", "root"
ROUND = f"{COMPETITION_PAGE}/judging/human"
#: No pages, though people meet them: where they lead, what they are part of, or for whom they are.
NO_PAGES = {
    "/competitions/{competition_id:int}/": "sends on to the page",
    "/wheels/{filename}": "a file",
    "/accounts/login/": "a form that clients of Codabench fill in",
    "/datasets/download/{key}/": "a file to download",
    "/competitions/{competition}/images/{sha256}": "an image of a text",
    "/organise/{blueprint_id}/images": "an image of a text that is being written",
    "/competitions": "leads home",
    "/competitions/{competition}/submit": "leads to the upload",
    "/competitions/{competition}/leaderboard": "leads to a board",
    "/competitions/{competition}/pictures": "leads to a board's pictures",
    "/favicon.ico": "leads to a picture",
    "/robots.txt": "for robots",
    "/sitemap.xml": "for robots",
    "/apple-touch-icon.png": "leads to a picture",
    "/looks.css": "colours of a server",
    "/logo/{sha256}": "a picture",
    "/competitions/{competition}/phases/{phase}/boards/{board}/picture.png": "a picture",
    "/embed/competitions/{competition}/phases/{phase}/boards/{board}": "a part of others' pages, without scripts",
    "/login/with/{provider}": "leads to a provider",
    "/login/with/{provider}/callback": "leads back from it",
    "/login/finish": "needs a provider: tests/web/people/test_providers.py looks at it",
    "/login/finish/link": "so does this",
    "/login/second": "needs a second factor: tests/web/people/test_passkeys.py looks at it",
    "/account/logins/app": "so does this, and tests/web/people/test_second_factor.py looks at it",
    "/healthz": "for whoever runs the server",
    "/readyz": "for whoever runs the server",
    "/metrics": "for whoever runs the server",
    "/submissions/{submission_id}/live": "a part of the submission's page",
    "/validations/{validation_id}/live": "a part of the check's page",
    "/submissions/{submission_id}/report/figures/{name}.svg": "a file to download",
    "/competitions/{competition}/phases/{phase}/boards/{board}/figures/{name}.svg": "a file to download",
    "/competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}.svg": "a file to download",
    "/competitions/{competition}/judging/{round_name}/figures/{name}.svg": "a file to download",
}
HAIFA = "צוות חיפה"


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as somebody sees it. is_refused: its form, sent as it is; without: a part that is not ours."""

    template: str
    path: str = ""
    who: str = NOBODY
    status: int = 200
    is_refused: bool = False
    without: str = ""

    @property
    def address(self) -> str:
        return self.path or self.template

    def __str__(self) -> str:
        return f"{self.address} for {self.who}{' after a refusal' if self.is_refused else ''}"


BOARD = "/competitions/{competition}/phases/{phase}/boards/{board}"
ASKED = "/competitions/{competition}/phases/{phase}/tasks/{task}"
TASK_PAGE = f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}"
SHEETS = "/competitions/{competition}/judging/{round_name}"

#: A competition of idiom detection that has begun: submissions in every state, an official board, gold to come.
IDIOMS = [
    Visit("/"),
    Visit("/", who=ADA),
    Visit("/?language=en"),
    Visit("/nothing", status=404),
    Visit("/login"),
    Visit("/login", is_refused=True),
    Visit("/register"),
    Visit("/register", is_refused=True),
    Visit("/password/forgot"),
    Visit("/password/new", "{password}"),
    Visit("/password/new", "/password/new?link=old", status=404),
    Visit("/status"),
    Visit("/guide"),
    Visit("/wheels/"),
    Visit("/search", "/search?q=idioms"),
    Visit("/search", "/search?q=a"),
    Visit("/competitions/{competition}/data", f"{COMPETITION_PAGE}/data"),
    Visit("/competitions/{competition}/cite", f"{COMPETITION_PAGE}/cite"),
    *(Visit(path) for path in ("/contact", "/imprint", "/privacy")),
    Visit("/guide/metrics"),
    *(Visit("/guide/{name}", f"/guide/{name}") for name in GUIDES),
    Visit("/docs", without="#api"),
    Visit("/competitions/{competition}", COMPETITION_PAGE),
    Visit("/competitions/{competition}", COMPETITION_PAGE, OLGA),
    Visit("/competitions/{competition}/desk", f"{COMPETITION_PAGE}/desk", OLGA),
    Visit("/organise", "/organise", OLGA),
    Visit("/organise/{blueprint_id}", "{blueprint}", OLGA),
    Visit("/organise/{blueprint_id}/part", "{blueprint}/part", OLGA),
    Visit("/organise/{blueprint_id}/part", "{blueprint}/part?at=phases/0/visibility", OLGA),
    Visit("/organise/{blueprint_id}/preview", "{blueprint}/preview", OLGA),
    Visit("/organise/{blueprint_id}/part", "{blueprint}/part?at=phases/0/tasks/main", OLGA),
    Visit("/organise/{blueprint_id}/part", "{blueprint}/part?at=boards/0", OLGA),
    Visit("/join", "/join?link={guests}", ADA),
    Visit("/invitations", "/invitations", OLGA),
    Visit("/competitions/{competition}/people", f"{COMPETITION_PAGE}/people", OLGA),
    Visit("/competitions/{competition}/life", f"{COMPETITION_PAGE}/life", OLGA),
    Visit("/competitions/{competition}/allowances", f"{COMPETITION_PAGE}/allowances", OLGA),
    Visit("/competitions/{competition}/webhooks", f"{COMPETITION_PAGE}/webhooks", OLGA),
    Visit("/competitions/{competition}/webhooks", f"{COMPETITION_PAGE}/webhooks", OLGA, is_refused=True),
    Visit("/competitions/{competition}/team/webhooks", f"{COMPETITION_PAGE}/team/webhooks", ADA),
    Visit("/webhooks", "/webhooks", OLGA, status=403),
    Visit("/webhooks/{webhook_id}", "/webhooks/1", OLGA),
    Visit("/competitions/{competition}/downloads", f"{COMPETITION_PAGE}/downloads", OLGA),
    Visit(
        "/competitions/{competition}/phases/{phase}/rankings/{ranking}",
        f"{COMPETITION_PAGE}/phases/{PHASE}/rankings/overall",
    ),
    Visit("/competitions/{competition}/submissions", f"{COMPETITION_PAGE}/submissions", OLGA),
    Visit("/competitions/{competition}/failed", f"{COMPETITION_PAGE}/failed", OLGA),
    Visit("/competitions/{competition}/rescoring", f"{COMPETITION_PAGE}/rescoring", OLGA),
    Visit("/competitions/{competition}/rescoring", f"{COMPETITION_PAGE}/rescoring", OLGA, is_refused=True),
    Visit("/competitions/{competition}/rescoring/{rescoring}", f"{COMPETITION_PAGE}/rescoring/1", OLGA),
    Visit("/competitions/{competition}/registration", f"{COMPETITION_PAGE}/registration"),
    Visit("/competitions/{competition}/registration", f"{COMPETITION_PAGE}/registration", ADA),
    Visit("/competitions/{competition}/registrations", f"{COMPETITION_PAGE}/registrations", OLGA),
    Visit("/competitions/{competition}/teams/{team:path}", f"{COMPETITION_PAGE}/teams/{quote(HAIFA)}"),
    Visit("/competitions/{competition}/teams/{team:path}", f"{COMPETITION_PAGE}/teams/{quote(HAIFA)}", ADA),
    Visit("/competitions/{competition}/team", f"{COMPETITION_PAGE}/team", ADA),
    Visit("/competitions/{competition}/team", f"{COMPETITION_PAGE}/team", OLGA),
    Visit("/competitions/{competition}/team/join", "{invitation}", OLGA),
    Visit("/account/confirm-email", "{confirmation}", OLGA),
    Visit(BOARD, BOARD_PAGE),
    Visit(BOARD, BOARD_PAGE, ADA),
    Visit(BOARD, BOARD_PAGE, OLGA),
    Visit(f"{BOARD}/pictures", f"{BOARD_PAGE}/pictures"),
    Visit(BOARD, f"{BOARD_PAGE}?sort=team&order=desc&delta=Majority&since=2026-01-01&kind=team"),
    Visit(BOARD, f"{BOARD_PAGE}?pick=yes"),
    Visit(f"{BOARD}/rows/{{submission_id}}", "{row}"),
    Visit(f"{BOARD}/rows/{{submission_id}}", "{row}", ADA),
    Visit(f"{BOARD}/compare", "{row_comparison}"),
    Visit(f"{BOARD}/compare", "{row_comparison}", ADA),
    Visit(f"{BOARD}/official/{{number}}/rows/{{submission_id}}", "{official_row}"),
    Visit(f"{BOARD}/official", f"{BOARD_PAGE}/official"),
    Visit(f"{BOARD}/official/{{number}}", f"{BOARD_PAGE}/official/1"),
    Visit("/competitions/{competition}/tasks/{task}/results", f"{COMPETITION_PAGE}/tasks/{TASK}/results"),
    Visit(f"{ASKED}/submit", SUBMIT_PAGE.replace(PHASE, "post"), ADA),
    Visit(f"{ASKED}/submit", SUBMIT_PAGE.replace(PHASE, "post"), ADA, is_refused=True),
    Visit(f"{ASKED}/files/{{name}}", f"{TASK_PAGE}/files/template.csv"),
    Visit(f"{ASKED}/files/{{name}}", f"{TASK_PAGE}/files/template.csv?q=he", OLGA),
    Visit(f"{ASKED}/gold", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/gold", OLGA),
    Visit("/competitions/{competition}/edit", f"{COMPETITION_PAGE}/edit", OLGA),
    Visit("/competitions/{competition}/edit/texts", f"{COMPETITION_PAGE}/edit/texts", OLGA),
    *(Visit("/competitions/{competition}/setup/{step}", f"{{draft}}/{step}", OLGA) for step in STEPS),
    Visit("/competitions/{competition}/history", f"{COMPETITION_PAGE}/history", OLGA),
    Visit("/competitions/{competition}/history/{number}", f"{COMPETITION_PAGE}/history/1", OLGA),
    Visit(f"{ASKED}/rows", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/rows", OLGA),
    Visit("/submissions/{submission_id}/card", "{writable}/card", ADA),
    Visit("/submissions/{submission_id}/card", "{scored}/card", ADA),
    Visit("/submissions/{submission_id}/card", "{scored}/card", OLGA),
    Visit("/admin", who=ROOT),
    Visit("/admin/people", who=ROOT),
    Visit("/admin/people/{username}", "/admin/people/ada", ROOT),
    Visit("/admin/people/{username}", "/admin/people/zed", ROOT),
    Visit("/admin/requests", who=ROOT),
    Visit("/admin/competitions", who=ROOT),
    Visit("/admin/settings", who=ROOT),
    Visit("/admin/looks", who=ROOT),
    Visit("/admin/announcements", who=ROOT),
    Visit("/webhooks", who=ROOT),
    Visit("/admin/announcements", who=ROOT, is_refused=True),
    *(Visit(f"/admin/{section}", who=ROOT) for section in ("queue", "storage", "mails", "limits", "health")),
    Visit("/admin/moderation", who=ROOT),
    Visit("/account", who=ADA),
    Visit("/account/data", who=ADA),
    Visit("/account/logins", who=ADA),
    Visit("/account/organise", who=ADA),
    Visit("/account/organise", who=ADA, is_refused=True),
    Visit("/competitions/{competition}/announcements", f"{COMPETITION_PAGE}/announcements"),
    Visit("/competitions/{competition}/announcements", f"{COMPETITION_PAGE}/announcements", OLGA),
    Visit("/competitions/{competition}/announcements/{announcement_id}", "{announcement}", OLGA),
    Visit("/competitions/{competition}/questions", f"{COMPETITION_PAGE}/questions"),
    Visit("/competitions/{competition}/questions", f"{COMPETITION_PAGE}/questions", ADA),
    Visit("/competitions/{competition}/questions", f"{COMPETITION_PAGE}/questions", ADA, is_refused=True),
    Visit("/competitions/{competition}/questions", f"{COMPETITION_PAGE}/questions", OLGA),
    Visit("/competitions/{competition}/exports", f"{COMPETITION_PAGE}/exports", OLGA),
    Visit("/competitions/{competition}/report-text", "{report}", ADA),
    Visit("/competitions/{competition}/report-text", "{report}", OLGA),
    Visit("/competitions/{competition}/report-text", "{report}", OLGA, is_refused=True),
    Visit("/competitions/{competition}/moderation", f"{COMPETITION_PAGE}/moderation", OLGA),
    Visit("/mail/unsubscribe", "{unsubscribe}"),
    Visit("/submissions", who=ADA),
    Visit("/competitions/{competition}/runs", f"{COMPETITION_PAGE}/runs?phase={PHASE}&task={TASK}", ADA),
    Visit("/competitions/{competition}/runs", f"{COMPETITION_PAGE}/runs", OLGA),
    Visit("/submissions", f"/submissions?phase={PHASE}&status=scored", ADA),
    Visit("/submissions/compare", "{compare}", ADA),
    Visit("/validations/{validation_id}", "{check}", ADA),
    Visit("/submissions/{submission_id}", "{scored}", ADA),
    Visit("/submissions/{submission_id}", "{queued}", ADA),
    Visit("/submissions/{submission_id}", "{scored}", OLGA),
    Visit("/submissions/{submission_id}", "{rejected}", ADA),
    Visit("/submissions/{submission_id}", "{failed}", ADA),
    Visit("/submissions/{submission_id}/report", "{scored}/report", ADA),
]
#: A report of identification, with its heat map.
IDENTIFICATION = [
    Visit("/submissions/{submission_id}/report", "{report}", ADA),
    Visit("/submissions/{submission_id}/report", "{report}?view=categories", ADA),
    Visit("/submissions/{submission_id}", "{scored}", ADA),
]
#: A report of probing and the pictures of its board.
PROBING = [
    Visit("/submissions/{submission_id}/report", "{report}", ADA),
    Visit(BOARD, "{board}"),
]
#: A board of paraphrasing and its pictures, and a round of judging with marks.
PARAPHRASING = [
    Visit(BOARD, BOARD_PAGE),
    Visit(f"{BOARD}/pictures", f"{BOARD_PAGE}/pictures"),
    Visit(f"{ASKED}/judging", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/judging", OLGA),
    Visit(f"{ASKED}/judging", f"{COMPETITION_PAGE}/phases/{PHASE}/tasks/{TASK}/judging", OLGA, is_refused=True),
    Visit("/competitions/{competition}/judging", f"{COMPETITION_PAGE}/judging", OLGA),
    Visit("/competitions/{competition}/judging", f"{COMPETITION_PAGE}/judging", ADA),
    Visit(SHEETS, ROUND, OLGA),
    Visit(SHEETS, ROUND),
    Visit("/competitions/{competition}/registration", f"{COMPETITION_PAGE}/registration", ADA),
    Visit("/competitions/{competition}/registration", f"{COMPETITION_PAGE}/registration", ADA, is_refused=True),
    Visit("/judging", who=ADA),
    Visit(f"{SHEETS}/items/{{language}}/{{place}}", f"{COMPETITION_PAGE}/judging/second/items/en/1", ADA),
    Visit(f"{SHEETS}/items/{{language}}", f"{ROUND}/items/en", ADA),
]
ALL = [*IDIOMS, *IDENTIFICATION, *PROBING, *PARAPHRASING]


def test_every_page_is_visited() -> None:
    gets = {address.template for address in addresses(application()) if address.method == "GET"}
    pages = {template for template in gets if not template.startswith("/api/")} - NO_PAGES.keys()
    assert pages - {visit.template for visit in ALL} == set(), "pages that nobody visits"
    assert NO_PAGES.keys() <= gets, "no longer there"


# ----------------------------------------------------------------------------------------------------------- the worlds


@dataclass(frozen=True, slots=True)
class World:
    """The people who are logged in, and the addresses that only this world knows."""

    people: dict[str, httpx.Client]
    paths: dict[str, str]


def user(site: Site, username: str) -> User:
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == username)).one()


def with_texts_of_its_own(site: Site, file: Path) -> None:
    """The server has a page to contact somebody, one on privacy and an imprint."""
    file.write_text("# Words\n\nWrite to [us](mailto:us@example.org).\n")
    changes = {f"{name}_file": file for name in site.settings.site_texts}
    site.settings = site.settings.model_copy(update=changes)
    site.app.state.server = type(site.app.state.server)(site.settings, site.engine, lambda: site.now)


@contextmanager
def ada_and_olga(site: Site) -> Iterator[dict[str, httpx.Client]]:
    """Ada takes part, Olga organises."""
    with log_in(site, "ada") as ada, log_in(site, "olga") as olga:
        with writing(site.engine) as session:
            grant_role(session, find_competition(session, COMPETITION), user(site, "olga"), Role.ORGANISER, NOW)
        yield {ADA: ada, OLGA: olga}


@contextmanager
def an_administrator(site: Site) -> Iterator[httpx.Client]:
    """Yield an administrator who has changed a setting, blocked a person and announced something; a request waits for
    an answer.
    """
    zed, zoe = (world.add_user(site.engine, name) for name in ("zed", "zoe"))
    with log_in(site, "root") as browser:
        with writing(site.engine) as session:
            root = session.merge(user(site, "root"))
            root.is_administrator = True
            block(Act(session, root, NOW, get_settings()), session.merge(zed), "Spam.")
            ask_to_organise(UserAct(session, zoe, NOW, site.settings), "A task on riddles.")
            change_setting(Act(session, root, NOW, get_settings()), "organise", "approved", environment=site.settings)
            for severity in Severity:
                announce(
                    Act(session, root, NOW, get_settings()), NewAnnouncement(f"The server moves: {severity}.", severity)
                )
        site.app.state.server.live.look(site.engine)
        yield browser


@contextmanager
def idioms(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Submissions in every state, a baseline, a published row, an official board, a second phase."""
    world.add_competition(site.engine, starts_at=NOW - DAY, ends_at=NOW + HOUR)
    declare(site.engine, entry_rule=EntryRule.CHOSEN, description="# Rules\n\n|a|b|\n|-|-|\n|1|2|\n")
    add_phase(site.engine, "post", starts_at=NOW - DAY)
    add_phase(site.engine, "later", starts_at=NOW + 9 * DAY, position=2)
    site.add_file("template.csv", "ID,Language,Setting,Label\n1,HE,zero_shot,נשבר הלב\n".encode(), "Template")
    with_texts_of_its_own(site, tmp_path / "text.md")
    with ada_and_olga(site) as people, an_administrator(site) as root:
        people = {**people, ROOT: root}
        ada = user(site, "ada")
        world.add_team(site.engine, world.add_user(site.engine, "bot"), name="Majority", kind=TeamKind.BASELINE)
        enter(site.engine, user(site, "bot"), 0.4)
        enter(site.engine, world.add_user(site.engine, "noa", HAIFA), 0.7, 0.2, method="שיטה" * 9)
        states = {"scored": enter(site.engine, ada, 0.7037, 0.5, minute=1, method="m" * 150)}
        second = enter(site.engine, ada, 0.6, method="w" * 100)  # sent before it
        for state, end in (("rejected", world.reject), ("failed", world.fail)):
            accepted = world.submit(site.engine, ada, content=state)
            states[state] = accepted.submission.id
            end(site.engine, accepted.run_id)
        keep_detection(site.engine)
        site.set_clock(NOW + 2 * HOUR)
        assert freeze(site.engine, site.now), "nothing waits, so the board is frozen"
        score_set(site.engine, start(site.engine, PHASE), {states["scored"]: 0.3})
        states["queued"] = world.submit(site.engine, ada, content="queued").submission.id
        ask_for_cards(site.engine)
        answered = {"parameters": 560, "ensemble": True}
        said_of_it = {"summary": "שיטה", "code": "https://example.org/", "fields": answered}
        states["writable"] = enter(site.engine, ada, 0.6, phase="post", at=site.now, card=said_of_it)
        mark(site.engine, "Majority", RowStatus.DISQUALIFIED, "only to compare with")
        mark(site.engine, HAIFA, RowStatus.UNRANKED, "used additional data")
        said = say_something(site) | take_part(site)
        with site.client(**BROWSER) as forgetful:
            ask(forgetful, "ada")
        paths = {state: f"/submissions/{id_}" for state, id_ in states.items()}
        paths |= write_a_competition(site)
        paths["row"] = f"{BOARD_PAGE}/rows/{states['scored']}"
        paths["row_comparison"] = f"{BOARD_PAGE}/compare"
        paths["official_row"] = f"{BOARD_PAGE}/official/1/rows/{states['scored']}"
        with writing(site.engine) as session:
            post = find_phase_task(session, COMPETITION, "post", TASK)
            file = world.upload_of("not in order")
            check = accept_validation(session, post, Sender(ada, site.now), FileToCheck(file)).validation.id
            held = claim_validation(session, check, worker="w", lease_seconds=60, now=site.now)
            assert held is not None
            wrong = [Problem("bad-value", "the label 'שלום' is unknown", line=2, text="می‌روم")]
            record_invalid(session, held, problems=wrong, omitted=3, now=site.now)
        show_items(site)
        paths |= {"check": f"/validations/{check}", "compare": f"/submissions/compare?a={states['scored']}&b={second}"}
        yield World(people, {**paths, **said, "password": path_of(links(site)[0])})


def write_a_competition(site: Site) -> dict[str, str]:
    """Let Olga write a competition with an error in it, and have a guest link to the existing one."""
    with writing(site.engine) as session:
        olga = session.scalars(select(User).where(User.username == "olga")).one()
        blueprint = begin_blueprint(
            UserAct(session, olga, NOW, site.settings), first_document("next", "הבא", "table", NOW)
        )
        secret = make_link(UserAct(session, olga, site.now, get_settings()), find_competition(session, COMPETITION))
        document = begun_document("irony", "هل يمزحون؟", KINDS[0], site.now)
        settings = site.settings.model_copy(update={"organise": "anybody"})
        place = f"/organise/{blueprint.id}"
    draft = build_draft(site.engine, settings, olga, document, site.now)
    return {"blueprint": place, "draft": f"/competitions/{draft}/setup", "guests": secret}


def show_items(site: Site) -> None:
    """Make gold public, and give every run results of more items than a page has."""
    results = [ItemResult(f"פריט {n}", ("zero_shot/he",), "0", str(n % 2), is_right=n % 2 == 0) for n in range(60)]
    with writing(site.engine) as session:
        session.execute(update(PhaseTask).values(gold_is_public=True))
        session.execute(update(ScoringRun).values(item_results=packed_results(results)))


def take_part(site: Site) -> dict[str, str]:
    """Let somebody wait for the organisers; Olga has an invitation to Ada's team, and a link to confirm her address."""
    cat = world.add_user(site.engine, "cat")
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        here.rankings = [{"name": "overall", "title": "Overall", "boards": [{"board": "zero-shot", "weight": 2.0}]}]
        here.registration = {"mode": "approval", "terms": "# Terms\n\nBe **kind**."}
        here.teams = {"members_max": 3, "merge_until": (NOW + 9 * DAY).isoformat()}
        accepted = rules_of(here).terms_sha256
        for who in (cat, user(site, "ada")):
            register(UserAct(session, who, NOW, site.settings), here, accepted=accepted)
        _, secret = invite(UserAct(session, user(site, "ada"), site.now, get_settings()), here)
        noas, adas = (find_team(session, user(site, name), here.id) for name in ("noa", "ada"))
        for asking, asked in ((noas, adas), (adas, noas)):
            assert asking
            assert asked
            captain = {"user_id": asking.captain_id, "asked_at": NOW}
            session.add(MergeOffer(asking_id=asking.id, asked_id=asked.id, **captain))
        send_link(session, user(site, "olga"), site.settings, site.now)
    [link] = letters.links(site.engine, MailLink.ADDRESS, site.now, site.settings)
    confirmation = link[link.index("/account/confirm-email") :]
    return {"invitation": f"{COMPETITION_PAGE}/team/join?link={secret}", "confirmation": confirmation}


def say_something(site: Site) -> dict[str, str]:
    """Announcements with Ada's link in a mail, a question with an answer for everybody, and one that waits."""
    ada, olga, settings = user(site, "ada"), user(site, "olga"), site.settings
    with writing(site.engine) as session:
        here = find_competition(session, COMPETITION)
        for number, is_pinned in ((1, True), (2, False)):
            said = AnnouncementForm(f"News, number {number}", "Until **Sunday**.\n\n- see [here](/)\n", is_pinned)
            group = group_of(here, "all" if is_pinned else "")
            publish(UserAct(session, olga, NOW, settings), here, said, group=group, key=None)
        for title in ("מה זה?", "And this?"):
            form = QuestionForm(title, "May we?\nReally?", shows_name=True)
            question = ask_organisers(UserAct(session, ada, NOW, settings), here, form, key=None)
        words = "You **may**."
        answer(UserAct(session, olga, NOW, settings), here, question.id, words, is_public=True)
        entry = WebhookEntry(name="Ours", address="https://chat.example.org/hook", kinds=[NewsKind.QUESTION_ASKED])
        webhook = add_webhook(UserAct(session, olga, NOW, settings), Holder(here), entry)
        send_test(session, webhook, NOW)
        mail = select(OutgoingMail.unsubscribe).where(OutgoingMail.recipient == ada.email)
        link = str(session.scalars(mail.where(OutgoingMail.unsubscribe.is_not(None))).one())
    return {
        "announcement": f"{COMPETITION_PAGE}/announcements/1",
        "report": f"{COMPETITION_PAGE}/report-text?kind=announcement&which=1",
        "unsubscribe": "/mail/unsubscribe?" + link.partition("?")[2],
    }


@contextmanager
def identification(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world.add_competition(site.engine)
    with ada_and_olga(site) as people:
        folder = mwe_world.seventeen_languages(tmp_path / "seventeen")
        scored = f"/submissions/{mwe_world.scored_submission(site.engine, user(site, 'ada'), folder)}"
        yield World(people, {"scored": scored, "report": f"{scored}/report"})


@contextmanager
def probing(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    phases = probing_world.write_competition(tmp_path / "competition")
    open_competition(site, phases, phases.parent / "gold", monkeypatch)
    competition, phase, board = probing_world.BOARD.split("/")
    with taking_part(site) as (person, browser):
        submission = sent(person, probing_world.PLACE, probing_world.predictions())
        assert submission["status"] == "scored", submission
        paths = {
            "report": f"/submissions/{submission['id']}/report",
            "board": f"/competitions/{competition}/phases/{phase}/boards/{board}",
        }
        yield World({ADA: browser}, paths)


@contextmanager
def paraphrasing(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Ada has judged a round that is published, and has one before her."""
    world.add_competition(site.engine, per_day=None)
    judging.add_task(site.engine)
    judging.enter_three(site.engine)
    with ada_and_olga(site) as people:
        olga = user(site, "olga")
        judging.start(site.engine, olga, annotators={"ada": "en"}, guidelines="Read **slowly**.", seed=1)
        with writing(site.engine) as session:
            held = judging.the_round(session)
            annotator = judging.annotator_of(session, held, user(site, "ada"))
            for place, text_id in enumerate(worksheet(session, held, annotator).text_ids):
                marks = {"mwe_sense": str(place % 4), "rest_sense": "3", "naturalness": "2"}
                save_marks(session, held, annotator, text_id, {"removed": "yes", **marks}, NOW)
            competition = find_competition(session, COMPETITION)
            publish_round(UserAct(session, olga, NOW, get_settings()), competition, held, unfinished=True)
            competition.registration = {"mode": "domain", "domains": ["uni.edu"], "terms": "# Terms\n\nBe **kind**."}
        judging.start(site.engine, olga, annotators={"ada": "en"}, guidelines="Read on.", name="second", seed=1)
        yield World(people, {})


# ----------------------------------------------------------------------------------------------------------- the visits

Build = Callable[[Site, Path, pytest.MonkeyPatch], AbstractContextManager[World]]


@pytest.mark.parametrize(
    ("build", "visits"),
    [(idioms, IDIOMS), (identification, IDENTIFICATION), (probing, PROBING), (paraphrasing, PARAPHRASING)],
)
def test_every_page_can_be_read_by_everybody(
    empty_site: Site,
    chromium: Browser,  # noqa: F811
    cheap_passwords: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    build: Build,
    visits: list[Visit],
    pytestconfig: pytest.Config,
) -> None:
    looked_at: dict[str, set[str]] = {}
    visits = visits if pytestconfig.getoption("--soak") else once_for_each(visits)
    with build(empty_site, tmp_path, monkeypatch) as built, ExitStack() as stack:
        readers = {
            who: stack.enter_context(reader_of(chromium, empty_site.url, built.people.get(who)))
            for who in (NOBODY, *built.people)
        }
        found = {}
        for visit in visits:
            if pytestconfig.getoption("--soak"):
                looked_at.clear()
            found[str(visit)] = complaints(readers[visit.who], visit, built.paths, looked_at)
    wrong = [f"{visit}: {one}" for visit, said in found.items() for one in said]
    assert not wrong, "\n".join(wrong)


def once_for_each(visits: Iterable[Visit]) -> list[Visit]:
    """Return the first visit of each page by the visitor with most rights, and the visits whose form is refused."""
    by_rights = sorted(reversed([*visits]), key=lambda visit: RIGHTS.index(visit.who))
    once = {(visit.template, visit.is_refused): visit for visit in by_rights}
    return [visit for visit in visits if visit in once.values()]


def complaints(reader: Reader, visit: Visit, paths: dict[str, str], looked_at: dict[str, set[str]]) -> list[str]:
    """Return the complaints about the page; looked_at: kinds of elements that axe has seen, by template."""
    page = reader.go(visit.address.format(**paths), visit.status)
    if visit.is_refused:
        reader.send_empty()
    is_first, seen = visit.template not in looked_at, looked_at.setdefault(visit.template, set())
    kinds = reader.skeleton()
    is_new = not kinds <= seen
    seen |= kinds
    without_scripts = None if visit.without or visit.is_refused else page
    return reader.complaints(without_scripts, without=visit.without, axe=is_new, looks=is_first)


# ------------------------------------------------------------------------------------------------------ the tests' test


def test_a_page_that_owes_something_is_found_out(empty_site: Site, chromium: Browser) -> None:  # noqa: F811
    """Check it, since otherwise the visits could find nothing because they look at nothing."""
    with reader_of(chromium, empty_site.url) as reader:
        sent_page = reader.go("/login")
        reader.page.evaluate(SPOIL)
        said = "\n".join(reader.complaints(sent_page))
    for sign in (
        "2 headings of the first level",
        "no caption",
        "no scope",
        "no label",
        "only with scripts: control secret",
        "image-alt",
        "color-contrast",
        "too wide for a phone",
        "Content Security Policy",
    ):
        assert sign in said, sign


def test_what_moves_stands_still_for_whoever_wants_that(
    site: Site,
    chromium: Browser,  # noqa: F811
    cheap_passwords: None,
) -> None:
    with log_in(site) as browser, reader_of(chromium, site.url, browser) as reader:
        waiting = world.submit(site.engine, user(site, "ada")).submission.id
        reader.go(f"/submissions/{waiting}")
        assert reader.page.evaluate(MOVING) > 0
        reader.page.emulate_media(reduced_motion="reduce")
        assert reader.page.evaluate(MOVING) == 0
