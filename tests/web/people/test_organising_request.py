"""The page on which somebody requests to organise: the button, the request, and the answer."""

from __future__ import annotations

import re

import httpx
import pytest

from app.base.db import writing
from app.people import auth
from app.people.act import Act
from app.people.organising_requests import answer_request, list_requests
from tests.web.reading import text_of
from tests.web.site import BROWSER, PASSWORD, Site, csrf_of, log_in
from tests.world import NOW

PAGE = "/account/organise"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


@pytest.mark.parametrize(
    ("rule", "found"), [("anybody", "Confirm your e-mail address first"), ("approved", "Request to organise")]
)
def test_organise_a_task_leads_through_the_registration_to_what_one_may(
    quick_site: Site, rule: str, found: str
) -> None:
    quick_site.settings = quick_site.settings.model_copy(update={"organise": rule})
    quick_site.app.state.server = type(quick_site.app.state.server)(
        quick_site.settings, quick_site.engine, lambda: quick_site.now
    )
    with quick_site.client(**BROWSER) as browser:
        browser.follow_redirects = True
        asked = browser.get(organise_a_task(browser))
        assert (asked.url.path, "Log in" in text_of(asked.text)) == ("/login", True)
        register = re.findall(r'href="(/register\?[^"]*)"', asked.text)[0]
        form = {"username": "nora", "email": "nora@example.org", "password": PASSWORD, "next": "/organise"}
        begun = browser.post(register, data={**form, "csrf_token": csrf_of(browser.get(register).text)})
        assert (begun.url.path, found in text_of(begun.text)) == ("/organise", True)


def test_organise_a_task_leads_who_may_through_the_log_in_to_a_new_competition(quick_site: Site) -> None:
    make_account(quick_site, "grace", is_administrator=True)
    with quick_site.client(**BROWSER) as browser:
        browser.follow_redirects = True
        asked = browser.get(organise_a_task(browser))
        form = {"username": "grace", "password": PASSWORD, "csrf_token": csrf_of(asked.text)}
        begun = browser.post("/login", data={**form, "next": asked.url.params["next"]})
        assert (begun.url.path, "A new competition" in text_of(begun.text)) == ("/organise", True)


def make_account(site: Site, username: str, *, is_administrator: bool) -> None:
    with writing(site.engine) as session:
        account = auth.NewAccount(username, f"{username}@example.org", PASSWORD)
        auth.make_account(session, account, NOW, is_administrator=is_administrator)


def organise_a_task(browser: httpx.Client) -> str:
    """Return the address behind the words on the first page, as a visitor sees it."""
    return str(re.findall(r'href="([^"]*)">Organise a task</a>', browser.get("/").text)[0])


def test_a_button_leads_to_the_form_and_the_answer_stands_there(site: Site) -> None:
    with log_in(site, "ada") as browser:
        assert f'href="{PAGE}">Request to organise</a>' in browser.get("/organise").text
        token = csrf_of(browser.get(PAGE).text)
        refused = browser.post(PAGE, data={"csrf_token": token, "text": " "})
        assert refused.status_code == 422
        assert "Describe in a sentence what you want to organise." in refused.text
        asked = browser.post(PAGE, data={"csrf_token": token, "text": "Riddles <b>for</b> all."})
        assert "You requested this" in asked.text
        assert "Riddles &lt;b&gt;for&lt;/b&gt; all." in asked.text
        assert "<textarea" not in asked.text
        with writing(site.engine) as session:
            (waiting,) = list_requests(session)
            answer_request(Act(session, None, NOW, site.settings), waiting.id, is_approved=False, text="Next year.")
        told = text_of(browser.get(PAGE).text)
        assert "Your request was not accepted" in told
        assert "Next year." in told
