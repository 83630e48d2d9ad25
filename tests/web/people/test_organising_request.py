"""The page on which somebody asks to organise: the button, what was asked, and the answer."""

from __future__ import annotations

import pytest

from app.base.db import writing
from app.people.organising_requests import answer_request, list_requests
from tests.web.reading import text_of
from tests.web.site import Site, csrf_of, log_in
from tests.world import NOW

PAGE = "/account/organise"

pytestmark = pytest.mark.usefixtures("cheap_passwords")


def test_a_button_leads_to_the_form_and_the_answer_stands_there(site: Site) -> None:
    with log_in(site, "ada") as browser:
        assert f'href="{PAGE}">Request to organise</a>' in browser.get("/organise").text
        token = csrf_of(browser.get(PAGE).text)
        refused = browser.post(PAGE, data={"csrf_token": token, "text": " "})
        assert refused.status_code == 422
        assert "Say in a sentence what you want to organise." in refused.text
        asked = browser.post(PAGE, data={"csrf_token": token, "text": "Riddles <b>for</b> all."})
        assert "You requested this" in asked.text
        assert "Riddles &lt;b&gt;for&lt;/b&gt; all." in asked.text
        assert "<textarea" not in asked.text
        with writing(site.engine) as session:
            (waiting,) = list_requests(session)
            answer_request(
                session, waiting.id, is_approved=False, text="Next year.", by=None, settings=site.settings, now=NOW
            )
        told = text_of(browser.get(PAGE).text)
        assert "Your request was not accepted" in told
        assert "Next year." in told
