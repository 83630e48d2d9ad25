"""Submissions over the API after they were accepted: waited for, seen by whom they belong to, listed, got back."""

from __future__ import annotations

import threading
import time
from datetime import datetime

from tests import world
from tests.web.site import SUBMIT, TASK_PATH, Person, Site, run_of
from tests.world import NOW, SECOND

# ----------------------------------------------------------------------------------------------------------- waiting


def test_waiting_ends_with_the_scores(site: Site, ada: Person) -> None:
    document = ada.submitted()
    scoring = threading.Timer(0.4, world.score, [site.engine, run_of(site, document), 0.75])
    scoring.start()
    began = time.monotonic()
    found = ada.client.get(document["links"]["self"], params={"wait": 20}).json()
    scoring.join()
    assert 0.3 < time.monotonic() - began < 5
    assert found["status"] == "scored"
    scores = {(score["metric"], score["split"]): score for score in found["scores"]}
    assert scores["macro_f1", "zero_shot/all"]["value"] == 0.75
    assert scores["macro_f1", "one_shot/all"] == {
        "metric": "macro_f1",
        "split": "one_shot/all",
        "value": None,
        "reason": "not entered",
        "signature": "idiom-detection:1|macro_f1|one_shot/all",
    }
    assert found["queue_position"] is None
    assert found["finished_at"] is not None


def test_a_submission_tells_when_its_scoring_began_and_when_it_ended(site: Site, ada: Person) -> None:
    document = ada.submitted()
    held = world.sure(world.claim(site.engine, run_of(site, document)))
    scores = [*world.scores_of(world.ZERO_SHOT, 0.5), *world.scores_of(world.ONE_SHOT, None)]
    world.finish(site.engine, held, scores, now=NOW + 7 * SECOND)
    found = ada.client.get(document["links"]["self"]).json()
    began, ended = (datetime.fromisoformat(found[key]) for key in ("started_at", "finished_at"))
    assert ended - began == 7 * SECOND


def test_waiting_ends_when_the_time_is_over(ada: Person) -> None:
    document = ada.submitted()
    began = time.monotonic()
    found = ada.client.get(document["links"]["self"], params={"wait": 0.4}).json()
    assert found["status"] == "queued"
    assert 0.4 <= time.monotonic() - began < 3


def test_the_server_decides_how_long_it_waits(site: Site, ada: Person) -> None:
    site.settings.long_poll_limit_seconds = 0.2
    document = ada.submitted()
    began = time.monotonic()
    assert ada.client.get(document["links"]["self"], params={"wait": 3600}).status_code == 200
    assert time.monotonic() - began < 3


def test_waiting_is_not_negative(ada: Person) -> None:
    response = ada.client.get(ada.submitted()["links"]["self"], params={"wait": -1})
    assert response.status_code == 422
    assert "wait" in response.json()["error"]["details"]["fields"]


# ------------------------------------------------------------------------------------------------------------- states


def test_a_rejected_file_has_all_its_problems(site: Site, ada: Person) -> None:
    document = ada.submitted()
    world.reject(site.engine, run_of(site, document))
    found = ada.client.get(document["links"]["self"]).json()
    assert found["status"] == "rejected"
    assert found["problems"] == [
        {
            "code": "duplicate-id",
            "message": "id 203 appears twice, first on line 9",
            "file": None,
            "line": 14,
            "column": None,
            "text": None,
            "severity": "error",
            "lines": 1,
            "sentence": "line 14: id 203 appears twice, first on line 9",
        }
    ]
    assert found["problems_omitted"] == 2
    assert found["scores"] == []
    assert ada.client.get(TASK_PATH).json()["quota"]["used_today"] == 0


def test_a_failed_run_says_nothing_of_our_insides(site: Site, ada: Person) -> None:
    document = ada.submitted()
    world.fail(site.engine, run_of(site, document))
    answer = ada.client.get(document["links"]["self"])
    assert answer.json()["status"] == "failed"
    assert "not your fault" in answer.json()["message"]
    assert "Broken" not in answer.text  # what the organisers get to read
    assert "worker:1" not in answer.text


def test_the_line_moves_on(site: Site, ada: Person) -> None:
    first, second = ada.submitted(b"1"), ada.submitted(b"2")
    assert second["queue_position"] == 2
    world.claim(site.engine, run_of(site, first))
    assert ada.client.get(second["links"]["self"]).json()["queue_position"] == 1
    assert ada.client.get(first["links"]["self"]).json()["status"] == "running"


# ------------------------------------------------------------------------------------------------------ whose it is


def test_somebody_elses_submission_does_not_exist(ada: Person, eve: Person) -> None:
    theirs = ada.submitted()
    unknown = "/api/v1/submissions/00000000-0000-4000-8000-000000000000"
    for path in ("", "/file"):
        refusals = [eve.client.get(address + path) for address in (theirs["links"]["self"], unknown)]
        assert [refusal.status_code for refusal in refusals] == [404, 404]
        assert refusals[0].json() == refusals[1].json()


def test_administrators_see_everything(site: Site, ada: Person) -> None:
    theirs = ada.submitted()
    with site.person("root", is_administrator=True).client as administrator:
        assert administrator.get(theirs["links"]["self"]).status_code == 200


def test_an_id_that_is_none_is_refused(ada: Person) -> None:
    assert ada.client.get("/api/v1/submissions/17").status_code == 422


def test_the_file_comes_back_as_it_was_sent(ada: Person) -> None:
    content = b"\xef\xbb\xbfID\r\n\x00<script>alert(1)</script>"
    document = ada.client.post(SUBMIT, files={"file": ("naïve <file>.csv", content)}).json()
    response = ada.client.get(document["links"]["file"])
    assert response.content == content
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Disposition"] == (
        "attachment; filename=\"na_ve _file_.csv\"; filename*=UTF-8''na%C3%AFve%20%3Cfile%3E.csv"
    )
    assert response.headers["Cache-Control"] == "private, no-cache"


# --------------------------------------------------------------------------------------------------------------- list


def test_own_submissions_are_paged_newest_first(site: Site, ada: Person, eve: Person) -> None:
    sent = []
    for number in range(5):
        site.set_clock(NOW + number * SECOND)
        sent.append(ada.submitted(b"file %d" % number)["id"])
    eve.submitted(b"hers")
    page = ada.client.get("/api/v1/submissions", params={"limit": 2})
    found = [one["id"] for one in page.json()["submissions"]]
    pages = 1
    while following := page.json()["next"]:
        assert page.headers["Link"] == f'<{following}>; rel="next"'
        page = ada.client.get(following)
        found += [one["id"] for one in page.json()["submissions"]]
        pages += 1
    assert found == sent[::-1]
    assert pages == 3
    assert "Link" not in page.headers


def test_the_list_can_be_narrowed(site: Site, ada: Person) -> None:
    world.add_competition(site.engine, name="other")
    here = ada.submitted(b"here")
    there = ada.submit(b"there", path=SUBMIT.replace("/idioms/", "/other/")).json()
    narrowed = ada.client.get("/api/v1/submissions", params={"competition": "other"}).json()
    assert [one["id"] for one in narrowed["submissions"]] == [there["id"]]
    assert len(ada.client.get("/api/v1/submissions").json()["submissions"]) == 2
    assert here["competition"] == "idioms"
    assert ada.client.get("/api/v1/submissions", params={"phase": "none"}).json()["submissions"] == []


def test_a_page_is_not_endless(ada: Person) -> None:
    assert ada.client.get("/api/v1/submissions", params={"limit": 201}).status_code == 422
    assert ada.client.get("/api/v1/submissions", params={"limit": 0}).status_code == 422
