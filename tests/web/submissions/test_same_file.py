"""A file that a team sent before: the page requires a confirmation before it uses quota, the API accepts it."""

from __future__ import annotations

import httpx
import pytest

from tests import world
from tests.rich_world import last_run
from tests.web.reading import SUBMIT_PAGE, text_of
from tests.web.site import CONTENT, Site, csrf_of, log_in

pytestmark = pytest.mark.usefixtures("cheap_passwords")


def send(browser: httpx.Client, content: bytes = CONTENT, **fields: str) -> httpx.Response:
    """Send as the form does: the file first, then what is typed."""
    page = browser.get(SUBMIT_PAGE).text
    parts: list[tuple[str, tuple[str | None, bytes | str]]] = [
        ("csrf_token", (None, csrf_of(page))),
        ("file", ("predictions.csv", content)),
    ]
    parts += [(name, (None, value)) for name, value in fields.items()]
    return browser.post(SUBMIT_PAGE, files=parts, follow_redirects=False)


def test_it_is_taken_only_when_it_is_confirmed_and_nothing_typed_is_lost(site: Site) -> None:
    with log_in(site, "ada") as ada:
        first = send(ada, method="XLM-R")
        assert first.status_code == 303
        again = send(ada, method="typed behind the file")
        assert again.status_code == 409
        assert "already submitted this exact file on 10 Jan 2026, 12:00 UTC." in text_of(again.text)
        assert 'value="typed behind the file"' in again.text
        assert site.submissions() == 1
        assert send(ada, again="yes").status_code == 303
        assert site.submissions() == 2


def test_a_rejected_file_and_another_file_are_not_asked_about(site: Site) -> None:
    with log_in(site, "ada") as ada:
        send(ada, b"malformed")
        world.reject(site.engine, last_run(site.engine))
        assert send(ada, b"malformed").status_code == 303
        assert send(ada).status_code == 303


def test_the_form_says_what_an_upload_does_and_what_is_left_after_it(site: Site) -> None:
    with log_in(site, "ada") as ada:
        assert "Uses 1 of 10 left today. The best submission counts, and this is your first." in text_of(
            ada.get(SUBMIT_PAGE).text
        )
        send(ada, method="XLM-R")
        world.score(site.engine, last_run(site.engine), 0.5432)
        page = ada.get(SUBMIT_PAGE).text
    assert "Uses 1 of 9 left today. The best submission counts: this one replaces 0.5432 if it is better." in text_of(
        page
    )
    assert "We filled in the card of this system." in text_of(page)
    assert 'value="XLM-R"' in page
    assert page.index('id="file"') < page.index('id="method"'), "the file first"
