"""Alive, ready, measured, and public status: who may see which, and what none of them reveals."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, update

from app.base.config import get_settings
from app.base.db import writing
from app.models import Worker
from app.operations.health import beat
from app.web.health import api as health
from app.web.main import create_app
from tests.operations.test_health import add_worker
from tests.services import free_port
from tests.web.site import BROWSER, Person, Site, a_site, serving
from tests.world import HOUR, NOW, score, submit


@pytest.fixture(autouse=True)
def _asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", -1.0)


@pytest.fixture
def well(site: Site) -> Site:
    add_worker(site.engine)
    with writing(site.engine) as session:
        beat(session, "sweep", NOW, {"announced": 3})
    return site


@pytest.fixture
def visitor(site: Site) -> Iterator[httpx.Client]:
    with site.client() as client:
        yield client


def test_ready_says_so_of_every_part(well: Site, visitor: httpx.Client) -> None:
    answer = visitor.get("/readyz")
    assert answer.status_code == 200
    document = answer.json()
    assert document["status"] == "ready"
    assert {part["name"] for part in document["parts"]} == {
        "database",
        "migrations",
        "broker",
        "sweep",
        "queue",
        "workers",
    }


def test_not_ready_names_the_part_in_the_shape_of_every_error(well: Site, visitor: httpx.Client) -> None:
    well.set_clock(NOW + HOUR)
    answer = visitor.get("/readyz")
    assert answer.status_code == 503
    error = answer.json()["error"]
    assert error["code"] == "not_ready"
    assert "the sweep last ran 60 min ago" in error["message"]
    assert {part["name"]: part["is_well"] for part in error["details"]["parts"]} == {
        "database": True,
        "migrations": True,
        "broker": True,
        "sweep": False,
        "queue": True,
        "workers": False,
    }


@pytest.fixture
def without_database(sqlite_engine: Engine) -> Iterator[Site]:
    """A server whose database went away after it had started."""
    from app.base.db import make_engine

    address = sqlite_engine.url.render_as_string(hide_password=False)
    settings = get_settings().model_copy(update={"database_url": address})
    app = create_app(settings)
    app.state.server.engine.dispose()
    gone = make_engine(f"postgresql+psycopg://hidden@127.0.0.1:{free_port()}/none")
    with serving(app) as url, a_site(app, url, gone, settings) as found:
        yield found


def test_alive_does_not_hang_on_the_database_but_ready_does(without_database: Site) -> None:
    with without_database.client() as client:
        assert client.get("/healthz").status_code == 200
        answer = client.get("/readyz")
        page = client.get("/status", headers=BROWSER)
    assert answer.status_code == 503
    assert "the database does not answer" in answer.json()["error"]["message"]
    assert "hidden" not in answer.text
    assert page.status_code == 200
    assert "Something is wrong" in page.text


def test_many_who_ask_at_once_ask_the_parts_once(
    well: Site, visitor: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 60.0)
    assert visitor.get("/readyz").status_code == 200
    well.set_clock(NOW + HOUR)
    assert visitor.get("/readyz").status_code == 200, "the parts were asked a moment ago"


# -------------------------------------------------------------------------------------------------------------- metrics


def test_metrics_are_read_from_this_machine(well: Site, visitor: httpx.Client) -> None:
    answer = visitor.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert "# TYPE evergold_submissions_accepted_total counter" in answer.text
    assert 'evergold_sweep_actions_total{action="announced"} 3.0' in answer.text


def counted(text: str, route: str, status: str) -> float:
    found = re.search(rf'evergold_http_responses_total\{{route="{re.escape(route)}",status="{status}"\}} (\S+)', text)
    return float(found[1]) if found else 0.0


def test_answers_are_counted_by_the_pattern_of_their_address_and_the_class_of_their_status(
    well: Site, visitor: httpx.Client
) -> None:
    pattern = "/api/v1/competitions/{competition}"
    before = visitor.get("/metrics").text
    assert visitor.get("/api/v1/competitions/idioms").status_code == 200
    assert visitor.get("/api/v1/competitions/none-such").status_code == 404
    assert visitor.get("/no/such/page/at/all").status_code == 404
    after = visitor.get("/metrics").text
    for route, status in ((pattern, "2xx"), (pattern, "4xx"), ("other", "4xx")):
        assert counted(after, route, status) == counted(before, route, status) + 1
    assert f'evergold_http_request_seconds_count{{route="{pattern}"}}' in after


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
def test_and_not_through_a_proxy_on_it(visitor: httpx.Client, header: str) -> None:
    assert visitor.get("/metrics", headers={header: "127.0.0.1"}).status_code == 403


def test_with_a_token_in_the_settings_that_is_what_counts(well: Site, ada: Person) -> None:
    well.settings.metrics_token = SecretStr("scrape-me")
    with well.client() as client:
        assert client.get("/metrics").status_code == 403
        for wrong in ("Bearer scrape", "scrape-me", "Bearer", "Bearer schräg"):
            refused = client.get("/metrics", headers={b"Authorization": wrong.encode()})
            assert refused.status_code == 403
        right = {"Authorization": "Bearer scrape-me", "X-Forwarded-For": "198.51.100.7"}
        assert client.get("/metrics", headers=right).status_code == 200
    assert ada.client.get("/metrics").status_code == 403, "an account's token is none of these"


def test_metrics_and_status_do_not_name_a_competition_or_a_team(well: Site, ada: Person) -> None:
    ada.submitted()
    with well.client() as client:
        told = client.get("/metrics").text + client.get("/status", headers=BROWSER).text
    for name in ("idioms", "Idioms", "Ada", "ada", "zero-shot"):
        assert name not in told


# --------------------------------------------------------------------------------------------------------------- status


def test_everybody_can_look_whether_all_is_well(well: Site) -> None:
    with well.client(**BROWSER) as visitor:
        page = visitor.get("/status")
        assert 'href="/status"' in visitor.get("/").text
    assert page.status_code == 200
    assert "All is well" in page.text
    assert "<caption" in page.text


def test_the_status_counts_nothing(well: Site, ada: Person) -> None:
    """Check the page for counts: the number of files received would reveal what a hidden board does not."""
    with well.client(**BROWSER) as visitor:
        before = visitor.get("/status").text
        well.set_clock(NOW)
        first = [ada.submitted(f"file {n}\n".encode()) for n in range(3)]
        after = visitor.get("/status").text
    assert len(first) == 3
    assert before.replace("is empty", "") == after.replace("has waiting runs: the oldest has waited for 0 s", "")


def test_how_long_files_take_is_said_whatever_else_is_not_well(well: Site, ada: Person) -> None:
    said = "Median time from upload to scores"
    with well.client(**BROWSER) as visitor:
        score(well.engine, submit(well.engine, ada.user).run_id, 0.5)
        well.set_clock(NOW + HOUR)
        page = visitor.get("/status").text
    assert "All is well" not in page
    assert said in page


def test_how_far_our_bertscore_is_from_the_official_librarys_stands_there_and_in_the_api(well: Site) -> None:
    compared = {"model": "m", "package": "bert-score 0.3.13", "pairs": 92, "difference": 0.0018326, "in_its_batches": 0}
    with writing(well.engine) as session:
        session.execute(update(Worker).values(comparisons=[compared]))
    with well.client(**BROWSER) as visitor:
        page, parts = visitor.get("/status").text, visitor.get("/readyz").json()["parts"]
    [part] = [part for part in parts if part["name"] == "bertscore"]
    assert part["is_well"]
    assert part["says"].startswith("differs from bert-score 0.3.13 by at most 0.0018326 on 92 pairs of the demo")
    assert "BERTScore" in page
    assert "0.0018326" in page
