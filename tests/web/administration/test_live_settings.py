"""Settings changed and announcements made while the server runs: who may, and that they hold at once everywhere."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.administration.announcements import NewAnnouncement, announce
from app.administration.live import LiveState, current_settings
from app.administration.settings import change_setting
from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.live_settings import LOOKS
from app.models import AuditEntry, Severity
from app.people.act import Act
from tests.web.reading import text_of
from tests.web.site import BROWSER, PASSWORD, Person, Site, csrf_of
from tests.world import HOUR, NOW

API = "/api/v1/admin/settings"


@pytest.fixture
def root(quick_site: Site) -> Person:
    return quick_site.person("root", is_administrator=True)


def deeds(site: Site) -> list[tuple[str, str]]:
    with reading(site.engine) as session:
        return [(one.action, one.subject) for one in session.scalars(select(AuditEntry).order_by(AuditEntry.id))]


def test_a_changed_setting_holds_at_once_and_the_environment_again_after_a_reset(
    quick_site: Site, root: Person
) -> None:
    new = {"username": "nora", "email": "nora@example.org", "password": PASSWORD}
    changed = root.client.put(f"{API}/registration", json={"value": "closed"}).json()
    assert (changed["value"], changed["environment"], changed["is_changed"]) == ("closed", "open", True)
    assert changed["changed_by"] == "root"
    with quick_site.client() as nobody:
        refused = nobody.post("/api/v1/register", json=new)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "registration_closed"
        assert "closed" in text_of(nobody.get("/register", headers=BROWSER).text)
        reset = root.client.delete(f"{API}/registration").json()
        assert (reset["value"], reset["is_changed"]) == ("open", False)
        assert nobody.post("/api/v1/register", json=new).status_code == 201
    assert [one for one in deeds(quick_site) if one[0].startswith("setting")] == [
        ("setting.change", "setting registration"),
        ("setting.reset", "setting registration"),
    ]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("registration", "ajar", "It must be one of open, closed, but is 'ajar'."),
        ("registration", "opne", "It must be one of open, closed, but is 'opne'; did you mean 'open'?"),
        ("questions_per_hour", -1, "It must be at least 0, but is -1."),
        ("questions_per_hour", "many", "It must be a whole number of at least 0, but is 'many'."),
        ("questions_per_hour", "", "It must be a whole number of at least 0, but is empty."),
        ("server_name", "", "It must be one line of 1 to 60 characters."),
        (
            "banned_domains",
            "uni.example, b@d",
            "It must be domains such as uni.example, separated by commas; 'b@d' is not a domain.",
        ),
        ("contact", "somewhere", "It must be an e-mail address, or an address that begins with https:// or http://."),
        ("contact", "https://x.example/\0", "It contains characters that cannot be stored."),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(root: Person, name: str, value: object, words: str) -> None:
    refused = root.client.put(f"{API}/{name}", json={"value": value})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["fields"] == {name: words}


def test_what_must_not_change_without_a_restart_is_no_such_setting(root: Person) -> None:
    for name in ("smtp_url", "passwords", "metrics_token", "data_dir", "nope"):
        assert root.client.put(f"{API}/{name}", json={"value": "x"}).status_code == 404
    listed = root.client.get(API).json()["settings"]
    assert "registration" in {one["name"] for one in listed}
    assert not {"smtp_url", "metrics_token"} & {one["name"] for one in listed}


def test_another_process_notices_a_change_when_it_looks(quick_site: Site) -> None:
    other = LiveState(quick_site.settings, lambda: NOW)
    other.look(quick_site.engine)
    with writing(quick_site.engine) as session:
        environment = quick_site.settings
        change_setting(Act(session, None, NOW, get_settings()), "questions_per_hour", 3, environment=environment)
        announce(Act(session, None, NOW, get_settings()), NewAnnouncement("We move.", Severity.URGENT, NOW - HOUR))
    before = other.stamp(NOW)
    assert other.settings.questions_per_hour == quick_site.settings.questions_per_hour
    other.look(quick_site.engine)
    assert other.settings.questions_per_hour == 3
    assert [one.text for one in other.announcements(NOW)] == ["We move."]
    assert other.stamp(NOW) != before
    with reading(quick_site.engine) as session:
        assert current_settings(session, quick_site.settings).questions_per_hour == 3


def test_a_limit_changed_by_an_administrator_is_the_limit(quick_site: Site, root: Person) -> None:
    ada = quick_site.person("ada")
    ask = "/api/v1/competitions/idioms/questions"
    assert root.client.put(f"{API}/questions_per_hour", json={"value": 1}).status_code == 200
    answers = [ada.client.post(ask, json={"title": text, "text": text}).status_code for text in ("One?", "Two?")]
    assert answers == [201, 429]


def test_an_announcement_stands_on_every_page_while_it_lasts(quick_site: Site, root: Person) -> None:
    with quick_site.client(**BROWSER) as nobody:
        for path in ("/", "/guide", "/competitions/idioms"):
            assert "Announcements of this server" not in nobody.get(path).text, "and it is cached"
        until = (NOW + HOUR).isoformat()
        made = root.client.post(
            "/api/v1/admin/announcements", json={"text": "Back at <six>.", "severity": "warning", "ends_at": until}
        )
        assert made.status_code == 201
        for path in ("/", "/guide", "/competitions/idioms", "/login", "/nowhere"):
            assert "Warning: Back at <six>." in text_of(nobody.get(path).text), path
        (told,) = nobody.get("/api/v1/announcements").json()["announcements"]
        assert told["text"] == "Back at <six>."
        quick_site.set_clock(NOW + HOUR + timedelta(minutes=1))
        for path in ("/", "/guide"):
            assert "Back at" not in nobody.get(path).text, path
        assert nobody.get("/api/v1/announcements").json() == {"announcements": []}


def test_an_announcement_is_ended_once(root: Person) -> None:
    place = "/api/v1/admin/announcements"
    number = root.client.post(place, json={"text": "Soon.", "starts_at": (NOW + HOUR).isoformat()}).json()["id"]
    assert [root.client.delete(f"{place}/{number}").status_code for _ in range(2)] == [204, 404]
    wrong = root.client.post(place, json={"text": " ", "ends_at": (NOW - HOUR).isoformat()})
    assert set(wrong.json()["error"]["details"]["fields"]) == {"text", "ends"}


def test_the_pages_change_settings_and_announce(quick_site: Site, root: Person) -> None:
    with quick_site.browser(root.user) as browser:
        assert "Administration" in browser.get("/").text
        page = browser.get("/admin/settings")
        looks = [one["name"] for one in root.client.get(API).json()["settings"] if one["group"] == LOOKS]
        assert len(looks) > 1
        assert not [name for name in looks if f"/admin/settings/{name}" in page.text], "they have a page of their own"
        token = csrf_of(page.text)
        saved = browser.post("/admin/settings/organise", data={"csrf_token": token, "value": "anybody"})
        assert "in the environment: admins" in text_of(saved.text)
        wrong = browser.post("/admin/settings/questions_per_hour", data={"csrf_token": token, "value": "-5"})
        assert wrong.status_code == 422
        assert 'value="-5"' in wrong.text
        reset = browser.post("/admin/settings/organise/reset", data={"csrf_token": token})
        assert "in the environment" not in text_of(reset.text)
        refused = browser.post("/admin/announcements", data={"csrf_token": token, "text": "x", "ends": "soon"})
        assert (refused.status_code, "is not a date and time" in text_of(refused.text)) == (422, True)
        form = {"csrf_token": token, "text": "We move.", "severity": "urgent", "ends": "2099-01-01 00:00 UTC"}
        assert "Urgent: We move." in text_of(browser.post("/admin/announcements", data=form).text)
        assert "Urgent: We move." in text_of(browser.get("/").text)
    with quick_site.browser(quick_site.person("ada").user) as other:
        assert other.get("/admin").status_code == 404
        assert "/admin" not in other.get("/").text
