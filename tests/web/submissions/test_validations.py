"""Files that are only validated, over the API and on pages: nothing is submitted, and nobody else learns of it."""

from __future__ import annotations

import csv
import html
import io
import re
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import Select, select

from app.base.db import reading, writing
from app.base.storage import FolderStorage, check_name
from app.models import ScoringRun, User, Validation
from app.runs.validations import claim_validation, record_invalid, record_valid
from app.submissions.validations import AT_ONCE, clear_check_files
from app.web.http.rate_limits import RateLimits
from evergold.scoring.errors import Problem
from tests import world
from tests.rich_world import fresh
from tests.web import markup
from tests.web.reading import SUBMIT_PAGE, text_of
from tests.web.site import CONTENT, SUBMIT, TASK_PATH, Person, Site, csrf_of, csv_text, file_of, log_in, register
from tests.world import DAY, NOW, SECOND

VALIDATE = SUBMIT.replace("/submissions", "/validations")
WRONG = [
    Problem("duplicate-id", "id 203 appears twice, first on line 9", line=14, column="ID", text="203"),
    Problem("bad-value", "the label 'שלום, 12' is unknown", line=15, text='=HYPERLINK("x")'),
]


def ask(person: Person, content: bytes = CONTENT, **more: Any) -> httpx.Response:
    return person.submit(content, path=VALIDATE, **more)


def asked(person: Person, content: bytes = CONTENT) -> dict[str, Any]:
    response = ask(person, content)
    assert response.status_code == 202, response.text
    document: dict[str, Any] = response.json()
    return document


def check_file_of(site: Site, validation: dict[str, Any]) -> Path:
    return site.settings.storage_dir / check_name(UUID(validation["id"]))


def end(site: Site, validation_id: str, problems: list[Problem] | None = None) -> None:
    """Let a worker find these problems, or none."""
    with writing(site.engine) as session:
        claim = claim_validation(session, UUID(validation_id), worker="w", lease_seconds=60, now=site.now)
        assert claim is not None
        if problems is None:
            record_valid(session, claim, warnings=[], now=site.now)
        else:
            record_invalid(session, claim, problems=problems, omitted=2, now=site.now)


# ----------------------------------------------------------------------------------------------------------------- API


def test_a_file_is_accepted_for_a_check(site: Site, ada: Person) -> None:
    response = ask(ada)
    document = response.json()
    assert (response.status_code, document["status"], document["filename"]) == (202, "queued", "predictions.csv")
    assert response.headers["Location"] == document["links"]["self"]
    assert document["kept_until"] == "2026-01-11T12:00:00Z"
    assert check_file_of(site, document).read_bytes() == CONTENT
    messages = list((site.settings.data_dir / "broker" / "messages").iterdir())
    assert ["workers.turns.take_turn" in message.read_text() for message in messages] == [True]


def test_its_file_goes_when_it_has_ended_and_takes_no_submission_s_along(site: Site, ada: Person) -> None:
    ada.submitted(CONTENT)
    document = asked(ada, CONTENT)
    end(site, document["id"], WRONG)
    with writing(site.engine) as session:
        assert clear_check_files(session, FolderStorage(site.settings.storage_dir), NOW) == 1
    assert not check_file_of(site, document).exists()
    assert file_of(site, CONTENT).read_bytes() == CONTENT, "the same content, submitted"
    assert len(ada.client.get(document["links"]["self"]).json()["problems"]) == 2, "the answer stays for a day"


def test_what_is_refused_or_sent_twice_leaves_no_file(site: Site, ada: Person) -> None:
    key: dict[str, Any] = {"headers": {"Idempotency-Key": "k"}}
    assert [ask(ada, **key).status_code, ask(ada, **key).status_code] == [202, 202]
    assert ask(ada, b"another file\n", **key).status_code == 409
    assert len(site.stored()) == 1
    for _ in range(AT_ONCE - 1):
        asked(ada)
    assert ask(ada).status_code == 429
    assert len(site.stored()) == AT_ONCE


def test_the_bytes_of_a_day_are_bounded(site: Site, ada: Person, eve: Person) -> None:
    site.settings.checked_mebibytes_per_day = 1
    for _ in range(2):
        end(site, asked(ada, b"x" * 500_000)["id"])
    refused = ask(ada, b"x" * 500_000)
    assert (refused.status_code, refused.json()["error"]["details"]["per"]) == (429, "day")
    assert int(refused.headers["Retry-After"]) == 24 * 3600
    assert ask(eve, b"x" * 500_000).status_code == 202
    end(site, asked(ada, b"x" * 48_576)["id"])
    sent_before = site.stored()
    assert ask(ada, b"x").status_code == 429, "before a byte of it is read"
    assert site.stored() == sent_before


def test_nothing_is_submitted_and_nothing_used_up(site: Site, ada: Person) -> None:
    before = ada.client.get(TASK_PATH).json()["quota"]
    end(site, asked(ada)["id"], WRONG)
    assert ada.client.get(TASK_PATH).json()["quota"] == before
    assert ada.client.get("/api/v1/submissions").json()["submissions"] == []
    assert site.submissions() == 0


def test_the_answer_comes_when_the_check_has_ended(site: Site, ada: Person) -> None:
    document = asked(ada)
    later = threading.Timer(0.2, end, [site, document["id"], WRONG])
    began = time.monotonic()
    later.start()
    answer = ada.client.get(document["links"]["self"], params={"wait": 10}).json()
    later.join()
    assert time.monotonic() - began < 5
    assert (answer["status"], answer["problems_omitted"]) == ("invalid", 2)
    assert answer["problems"][0]["sentence"] == "line 14, column ID: id 203 appears twice, first on line 9"


def test_only_who_sent_it_hears_of_it(site: Site, ada: Person, eve: Person) -> None:
    document = asked(ada)
    root = site.person("root", is_administrator=True)
    for other in (eve, root):
        for link in ("self", "problems"):
            assert other.client.get(document["links"][link]).status_code == 404
    root.client.close()
    with site.client() as nobody:
        assert nobody.get(document["links"]["self"]).status_code == 401


def test_after_a_day_there_is_nothing(site: Site, ada: Person) -> None:
    document = asked(ada)
    site.set_clock(NOW + DAY)
    assert ada.client.get(document["links"]["self"]).status_code == 404


def test_the_problem_list_can_be_downloaded(site: Site, ada: Person) -> None:
    document = asked(ada)
    end(site, document["id"], WRONG)
    answer = ada.client.get(document["links"]["problems"])
    assert 'filename="predictions.csv-problems.csv"' in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(csv_text(answer))))
    assert rows[0] == {
        "file": "",
        "line": "14",
        "column": "ID",
        "severity": "error",
        "code": "duplicate-id",
        "message": "id 203 appears twice, first on line 9",
        "text": "203",
    }
    assert content_disposition(site, ada, 'my "best" männer; 1.csv') == "my__best__m_nner__1.csv-problems.csv"
    assert rows[1]["text"] == '\'=HYPERLINK("x")', "no spreadsheet takes it for a formula"


def content_disposition(site: Site, ada: Person, filename: str) -> str:
    """The name that the problem list of a file of this name has."""
    files = {"file": (filename, CONTENT)}
    document = ada.client.post(VALIDATE, files=files).json()
    end(site, document["id"], WRONG)
    said = ada.client.get(document["links"]["problems"]).headers["Content-Disposition"]
    return said.partition('filename="')[2].removesuffix('"')


def test_a_rejected_submission_has_its_list_too(site: Site, ada: Person, eve: Person) -> None:
    submission = ada.submitted()
    with reading(site.engine) as session:
        run_id = session.scalars(fresh(ScoringRun)).one().id
    world.reject(site.engine, run_id)
    assert "duplicate-id" in ada.client.get(submission["links"]["problems"]).text
    assert eve.client.get(submission["links"]["problems"]).status_code == 404


def test_a_repeated_key_is_the_same_check(site: Site, ada: Person) -> None:
    key = {"Idempotency-Key": "check-1"}
    first, again = ask(ada, headers=key), ask(ada, headers=key)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    assert ask(ada, b"another", headers=key).json()["error"]["code"] == "idempotency_conflict"


@pytest.mark.parametrize(
    ("now", "content", "code"),
    [
        (NOW + DAY, CONTENT, "phase_not_open"),
        (NOW - DAY - SECOND, CONTENT, "phase_not_open"),
        (NOW, b"", "empty_upload"),
        (NOW, b"x" * 1_000_001, "upload_too_large"),
    ],
    ids=["too late", "too early", "empty", "too large"],
)
def test_what_could_not_be_submitted_is_not_checked(
    site: Site, ada: Person, now: Any, content: bytes, code: str
) -> None:
    site.set_clock(now)
    assert ask(ada, content).json()["error"]["code"] == code
    with reading(site.engine) as session:
        assert session.scalars(own_checks()).all() == []


def test_who_sends_more_than_the_file_is_told(ada: Person) -> None:
    assert "method" in ask(ada, method="XLM-R").json()["error"]["details"]["fields"]


def test_checks_are_bounded_by_themselves(site: Site, ada: Person, eve: Person) -> None:
    for number in range(AT_ONCE):
        end_later = asked(ada, b"file %d" % number)
    refused = ask(ada, b"one more")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "limit_reached")
    assert "Retry-After" in refused.headers
    end(site, end_later["id"])
    assert ask(ada, b"one more").status_code == 202
    assert ask(eve).status_code == 202
    assert ada.submit().status_code == 202, "submissions have limits of their own"


def test_so_many_an_hour(site: Site, ada: Person) -> None:
    site.app.state.rate_limits = RateLimits(site.settings.model_copy(update={"validations_per_hour": 2}))
    for number in range(2):
        end(site, asked(ada, b"file %d" % number)["id"])
    refused = ask(ada, b"one more").json()["error"]
    assert (refused["details"]["per"], refused["details"]["limit"]) == ("hour", 2)
    assert ada.submit().status_code == 202


# --------------------------------------------------------------------------------------------------------------- pages


def form_of(browser: httpx.Client, content: bytes = CONTENT, **fields: str) -> dict[str, Any]:
    """Return what a browser sends when the form's second button is pressed."""
    page = browser.get(SUBMIT_PAGE).text
    action = html.unescape(re.findall(r'formaction="([^"]*/validate[^"]*)"', page)[0])
    data = {"csrf_token": csrf_of(page.split("<main")[1]), "method": "my method", "description": "", **fields}
    return {"url": action, "data": data, "files": {"file": ("predictions.csv", content)}}


def own_checks() -> Select[Validation]:
    """Return the query for validations without the neighbours'."""
    beside = select(User.id).where(User.username == "gus")
    return select(Validation).where(Validation.user_id.not_in(beside))


def only(site: Site) -> str:
    with reading(site.engine) as session:
        return str(session.scalars(own_checks()).one().id)


def test_the_second_button_only_checks(site: Site) -> None:
    with log_in(site) as browser:
        response = browser.post(**form_of(browser))
        assert response.history[0].status_code == 303
        markup.check(response.text)
        assert "waits to be checked" in text_of(response.text)
        assert 'http-equiv="refresh"' in response.text, "it goes on without scripts"
        end(site, only(site), WRONG)
        page = browser.get(response.url).text
        markup.check(page)
        assert "my submissions" not in browser.get("/submissions").text
        assert "Nothing yet" in browser.get("/submissions").text
    found = text_of(page)
    assert "4 problems" in found
    assert "14 ID id 203 appears twice, first on line 9 203" in found
    assert "&#39;<bdi>שלום, 12</bdi>" in page or "<bdi>שלום</bdi>" in page
    assert "Download the problem list" in found
    assert site.submissions() == 0


def test_a_file_in_order_is_said_to_be(site: Site) -> None:
    with log_in(site) as browser:
        address = browser.post(**form_of(browser)).url
        end(site, only(site))
        found = text_of(browser.get(address).text)
    assert "Valid Your file can be scored." in found
    assert "Submit it" in found
    assert "Available until 11 Jan 2026, 12:00 UTC" in found


def test_a_double_click_checks_once(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        first, second = (browser.post(**form) for _ in range(2))
        assert first.url == second.url


def test_the_live_part_says_when_it_is_over(site: Site) -> None:
    with log_in(site) as browser:
        path = browser.post(**form_of(browser)).url.path
        assert "seen=queued" in browser.get(f"{path}/live?seen=running").text
        end(site, only(site))
        part = browser.get(f"{path}/live?seen=queued").text
        assert 'hx-swap-oob="innerHTML">Valid.' in part
        assert "hx-get" not in part
    with log_in(site, "eve") as other:
        assert other.get(path).status_code == 404
        assert other.get(f"{path}/live").status_code == 404


def test_a_used_up_quota_leaves_the_check(site: Site) -> None:
    with log_in(site) as browser:
        form = form_of(browser)
        with writing(site.engine) as session:
            world.the_phase_task(session).phase.submissions_per_day = 1
        browser.post(**{**form, "url": form["url"].replace("/validate", "/submit")})
        page = browser.get(SUBMIT_PAGE).text
        assert "Your team has used all its submissions of today" in text_of(page)
        assert "data-submit" not in page
        assert "waits to be checked" in text_of(browser.post(**form_of(browser)).text)


def test_a_refused_check_comes_back_with_the_reason(site: Site) -> None:
    with log_in(site) as browser:
        response = browser.post(**form_of(browser, b""))
        assert response.status_code == 422
        assert "The file is empty" in text_of(response.text)
        assert 'value="my method"' in response.text
        form = form_of(browser)
        form["data"]["csrf_token"] = "wrong"
        assert browser.post(**form).status_code == 403
        form = form_of(browser)
        browser.cookies.clear()
        browser.follow_redirects = False
        assert browser.post(**form).headers["Location"] == f"/login?next={SUBMIT_PAGE}&done=expired"
    assert site.stored() == []


def test_people_who_are_not_logged_in_are_led_there(site: Site) -> None:
    register(site)
    path = "/validations/00000000-0000-4000-8000-000000000000"
    with site.client(Accept="text/html") as browser:
        assert browser.get(path).headers["Location"].startswith("/login")
        assert browser.get(f"{path}/live").status_code == 204
