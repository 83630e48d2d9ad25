"""The looks of a server: changed by administrators, all or nothing, and shown everywhere at once."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pyotp
import pytest
from sqlalchemy import select, update

from app.administration.live import LiveState
from app.administration.looks import change_looks
from app.base.colours import DARK, nearest_accent
from app.base.config import get_settings, sender_of
from app.base.db import reading, writing
from app.models import AuditEntry, Competition, OutgoingMail, Stage, User
from app.people.act import Act
from app.people.email_confirmations import send_link
from app.people.second_factor import begin_authenticator
from app.web.html.rendering import APP
from tests import world
from tests.looks.test_logos import SVG, png
from tests.web import markup
from tests.web.reading import BOARD_PAGE, COMPETITION_PAGE, text_of
from tests.web.site import BROWSER, Person, Site, csrf_of
from tests.world import NOW

API = "/api/v1/admin/looks"
TEMPLATES = APP / "templates"
NAME = "Scores of <Example> & Sons"
WRITTEN = "Scores of &lt;Example&gt; &amp; Sons"


@pytest.fixture
def root(quick_site: Site) -> Person:
    return quick_site.person("root", is_administrator=True)


def list_addresses(state: LiveState) -> list[str]:
    return [one.address for one in (state.looks.logo, state.looks.logo_dark) if one is not None]


def change(root: Person, **fields: Any) -> dict[str, Any]:
    answer = root.client.patch(API, json=fields)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def logo(root: Person, content: bytes, scheme: str = "light") -> httpx.Response:
    return root.client.put(f"{API}/logos/{scheme}", files={"file": ("logo.svg", content)})


def test_the_name_stands_on_every_page_at_once(quick_site: Site, root: Person) -> None:
    pages = ("/", "/guide", COMPETITION_PAGE, BOARD_PAGE, "/login", "/nothing", "/docs", f"/embed{BOARD_PAGE}")
    with quick_site.client(**BROWSER) as nobody:
        before = {path: nobody.get(path).headers.get("ETag") for path in pages}
        change(root, name=f"  {NAME} ")
        for path in pages:
            page = nobody.get(path, headers={"If-None-Match": before[path] or '""'})
            assert page.status_code in (200, 404), f"{path} is not as it was"
            title = page.text.partition("<title>")[2].partition("</title>")[0]
            assert title.endswith(WRITTEN), path
            rest = page.text.replace("runs Evergold, which", "").partition('<main id="main"')
            assert "Evergold" not in rest[0] + rest[2].partition("</main>")[2], path
        home = nobody.get("/").text
        markup.check(home)
        assert f"{WRITTEN} scores predictions" in home
        assert f'content="{WRITTEN}"' in nobody.get(COMPETITION_PAGE).text, "og:site_name"


def test_the_name_is_in_mails_and_in_apps_for_codes(quick_site: Site) -> None:
    settings = quick_site.settings.model_copy(update={"server_name": "Uni Scores"})
    world.add_user(quick_site.engine, "grace")
    with writing(quick_site.engine) as session:
        grace = session.scalars(select(User).where(User.username == "grace")).one()
        send_link(session, grace, settings, NOW)
        address = begin_authenticator(session, grace, NOW, settings.server_name)
        mail = session.scalars(select(OutgoingMail).where(OutgoingMail.user_id == grace.id)).one()
        assert mail.subject == "Confirm your email address for Uni Scores"
        assert "your Uni Scores account" in mail.body
        assert "Evergold" not in mail.body
    assert pyotp.parse_uri(address).issuer == "Uni Scores"
    assert sender_of("scores@example.org", "Uni Scores").display_name == "Uni Scores"
    assert sender_of("Own <scores@example.org>", "Uni Scores").display_name == "Own"


def test_accents_come_as_a_style_sheet_that_browsers_keep(quick_site: Site, root: Person) -> None:
    with quick_site.client(**BROWSER) as nobody:
        assert "/looks.css" not in nobody.get("/").text
        found = change(root, accent="#00338D")
        assert (found["accent"], found["light"]["accent"]) == ("#00338d", "#00338d")
        assert found["dark"]["accent"] == nearest_accent("#00338d", DARK)
        for path in ("/", f"/embed{BOARD_PAGE}"):
            (address,) = re.findall(r'href="(/looks\.css\?v=[0-9a-f]{12})"', nobody.get(path).text)
        css = nobody.get(address)
        assert css.headers["Content-Type"].startswith("text/css")
        assert css.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "--accent: #00338d;" in css.text
        change(root, accent="")
        assert (nobody.get(address).text, nobody.get(address).headers["Cache-Control"]) == ("", "no-cache")


def test_everything_wrong_is_told_at_once_and_nothing_is_changed(root: Person) -> None:
    before = root.client.get(API).json()
    wrong = {"name": "", "accent": "#ffcc00", "accent_dark": "navy", "featured": ["idioms", "nope"], "front": "fine"}
    refused = root.client.patch(API, json=wrong)
    fields = refused.json()["error"]["details"]["fields"]
    assert (refused.status_code, set(fields)) == (422, {"name", "accent", "accent_dark", "featured"})
    assert "the nearest that passes is #" in fields["accent"]
    assert "'navy' is not one" in fields["accent_dark"]
    assert fields["featured"] == "There is no competition 'nope' on this server."
    assert root.client.get(API).json() == before


def test_a_logo_is_shown_to_everybody_and_runs_nothing(quick_site: Site, root: Person) -> None:
    sent = logo(root, SVG).json()
    assert sent["removed"] == ["Line 1: onload of <path>"]
    address = sent["logo"]["address"]
    with quick_site.client(**BROWSER) as nobody:
        assert f'<img src="{address}" width="96" height="32" alt="Evergold">' in nobody.get("/login").text
        shown = nobody.get(address)
        assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/svg+xml")
        assert "alert" not in shown.text
        assert "sandbox" in shown.headers["Content-Security-Policy"]
        assert "script-src" not in shown.headers["Content-Security-Policy"]
        assert shown.headers["Cache-Control"].endswith("immutable")
        assert nobody.get(address, headers={"If-None-Match": shown.headers["ETag"]}).status_code == 304
        dark = logo(root, png(), "dark").json()["logo_dark"]["address"]
        page = nobody.get("/login").text
        assert f'<source srcset="{dark}" media="(prefers-color-scheme: dark)"' in page
        assert nobody.get("/favicon.ico").headers["Location"].startswith("/static/favicon.svg"), "too wide"
        assert root.client.delete(f"{API}/logos/light").json()["logo"] is None
        assert nobody.get(address).status_code == 404
        for icon in ("/favicon.ico", "/apple-touch-icon.png"):
            assert nobody.get(icon).headers["Location"] == dark
    assert root.client.put(f"{API}/logos/sepia", files={"file": ("x", SVG)}).status_code == 422


def test_a_logo_that_another_process_has_is_found(quick_site: Site, root: Person) -> None:
    other = LiveState(quick_site.settings, lambda: NOW)
    other.look(quick_site.engine)
    address = logo(root, png()).json()["logo"]["address"]
    assert list_addresses(other) == []
    other.look(quick_site.engine)
    assert list_addresses(other) == [address]


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [(b"GIF89a", 422, "not an SVG or PNG"), (b"", 422, "empty"), (b"<" * 300_000, 422, "256 KiB")],
)
def test_a_file_that_is_no_logo_is_refused(root: Person, content: bytes, status: int, words: str) -> None:
    refused = logo(root, content)
    assert refused.status_code == status
    assert words in refused.json()["error"]["message"]
    assert root.client.get(API).json()["logo"] is None


def test_the_front_page_has_the_servers_text_and_its_featured_competitions(quick_site: Site, root: Person) -> None:
    world.add_competition(quick_site.engine, name="second")
    change(root, front="# Welcome\n\nTo **our** tasks.<script>", featured=["second"])
    with quick_site.client(**BROWSER) as nobody:
        page = nobody.get("/").text
        markup.check(page)
        assert "<strong>our</strong> tasks.&lt;script&gt;" in page
        assert "The gold stays hidden. <br>" not in page
        featured, _, rest = page.partition("group-featured")[2].partition("</section>")
        assert 'href="/competitions/second"' in featured
        assert 'href="/competitions/second"' not in rest, "once"
        assert "group-featured" not in nobody.get("/?open=1").text
        with writing(quick_site.engine) as session:
            session.execute(update(Competition).where(Competition.name == "second").values(stage=Stage.DRAFT))
        assert "second" not in text_of(nobody.get("/").text)
        assert "group-featured" not in nobody.get("/").text


def test_the_page_changes_and_explains(quick_site: Site, root: Person) -> None:
    with quick_site.browser(root.user) as browser:
        browser.follow_redirects = False
        page = browser.get("/admin/looks").text
        markup.check(page)
        fields = {"csrf_token": csrf_of(page), "name": "Ours", "accent": "#ffff00", "front": "Hello\r\nyou"}
        refused = browser.post("/admin/looks", data=fields)
        assert refused.status_code == 422
        assert "the nearest that passes is #" in refused.text
        assert 'value="#ffff00"' in refused.text, "what was typed is kept"
        assert browser.post("/admin/looks", data={**fields, "accent": "#123"}).status_code == 303
        assert root.client.get(API).json()["front"] == "Hello\nyou"
        upload = browser.post(
            "/admin/looks/logos/light", data={"csrf_token": csrf_of(page)}, files={"file": ("l.svg", SVG)}
        )
        assert upload.headers["Location"] == "/admin/looks?removed=1"
        assert "Removed from the logo: 1 part" in browser.get(upload.headers["Location"]).text
        assert browser.post("/admin/looks/logos/light/remove", data={"csrf_token": csrf_of(page)}).status_code == 303
        assert root.client.get(API).json()["logo"] is None
    with reading(quick_site.engine) as session:
        found = [(one.action, one.subject) for one in session.scalars(select(AuditEntry).order_by(AuditEntry.id))]
    assert [one for one in found if one[0].startswith("setting")] == [
        ("setting.change", "setting server_name"),
        ("setting.change", "setting accent"),
        ("setting.change", "setting front_text"),
        ("setting.change", "setting logo"),
        ("setting.reset", "setting logo"),
    ]


def test_a_change_and_its_undoing_from_the_command_line(quick_site: Site) -> None:
    state = LiveState(quick_site.settings, lambda: NOW)
    for name in ("Ours", "Evergold"):
        with writing(quick_site.engine) as session:
            change_looks(Act(session, None, NOW, get_settings()), {"name": name}, environment=quick_site.settings)
        state.look(quick_site.engine)
        assert state.looks.name == name


def test_no_page_names_the_program_where_the_server_has_a_name() -> None:
    """Check that only the footer names the program; titles end with the server's name automatically (`base.html`)."""
    named = {str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html") if "Evergold" in path.read_text()}
    assert named == {"base.html"}
