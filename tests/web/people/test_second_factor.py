"""Second factors: set up, needed at each log-in, replaced by recovery codes, wanted of some; log-ins that are ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import httpx
import pyotp
import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update

from app.base.db import reading, writing
from app.competitions.find import find_competition
from app.models import Authenticator, KnownDevice, LoginSession, OutgoingMail, RecoveryCode, Role, SecondStep, User
from app.people import auth
from app.people.logins import device_words
from app.people.rights import grant_role
from app.web.http.rate_limits import RateLimits
from tests.web.access import reader_of
from tests.web.site import BROWSER, PASSWORD, Site, a_site, csrf_of, log_in
from tests.web.test_browser import chromium  # noqa: F401 - a fixture
from tests.world import COMPETITION

LOGINS = "/account/logins"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def sent(browser: httpx.Client, path: str, page: str, **fields: str) -> httpx.Response:
    return browser.post(path, data={**fields, "csrf_token": csrf_of(page)})


def code_of(site: Site, secret: str, steps: int = 0) -> str:
    return pyotp.TOTP(secret).at(site.now + timedelta(seconds=30 * steps))


def set_up(site: Site, browser: httpx.Client) -> tuple[str, list[str]]:
    """Return the secret of the app, and the recovery codes, of the logged-in user; afterwards the clock is
    a minute on.
    """
    page = sent(browser, f"{LOGINS}/app/begin", browser.get(LOGINS).text, proof=PASSWORD)
    assert page.url.path == f"{LOGINS}/app", page.text
    secret = page.text.split("Key: <code>")[1].split("<")[0]
    codes = sent(browser, f"{LOGINS}/app", page.text, code=code_of(site, secret)).text
    site.set_clock(site.now + timedelta(minutes=1))
    return secret, re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", codes)


@contextmanager
def fresh(site: Site, **headers: str) -> Iterator[httpx.Client]:
    """A browser in which nobody is logged in."""
    with site.client(**{**BROWSER, **headers}) as browser:
        browser.follow_redirects = True
        yield browser


def password(browser: httpx.Client, username: str = "ada", **more: str) -> httpx.Response:
    page = browser.get("/login").text
    return sent(browser, "/login", page, username=username, password=PASSWORD, next="/submissions", **more)


def who(browser: httpx.Client) -> str:
    page = browser.get("/account")
    return "" if page.url.path == "/login" else page.text.split('<p class="meta"><span>')[1].split("<")[0]


def mails(site: Site) -> list[str]:
    with reading(site.engine) as session:
        return list(session.scalars(select(OutgoingMail.body).order_by(OutgoingMail.id)))


def test_a_log_in_takes_the_code_of_the_app(site: Site) -> None:
    with log_in(site) as ada:
        secret, codes = set_up(site, ada)
        assert len(set(codes)) == 10
        assert "Authenticator app, since" in ada.get(LOGINS).text
    assert any("second factor" in body for body in mails(site))
    with fresh(site) as browser:
        page = password(browser)
        assert page.url.path == "/login/second"
        assert who(browser) == "", "the password alone opens nothing"
        wrong = sent(browser, "/login/second", page.text, code="000000")
        assert wrong.status_code == 401
        answer = sent(browser, "/login/second", page.text, code=code_of(site, secret))
        assert answer.url.path == "/submissions"
        assert who(browser) == "ada"
        assert "password, second factor" in browser.get(LOGINS).text


def test_a_code_is_taken_once_and_while_the_app_shows_it(site: Site) -> None:
    with log_in(site) as ada:
        secret, _ = set_up(site, ada)
    code = code_of(site, secret)
    with fresh(site) as browser:
        assert sent(browser, "/login/second", password(browser).text, code=code).url.path == "/submissions"
    with fresh(site) as browser:
        assert sent(browser, "/login/second", password(browser).text, code=code).status_code == 401
        old = code_of(site, secret, -3)
        assert sent(browser, "/login/second", password(browser).text, code=old).status_code == 401


def test_a_recovery_code_opens_once_and_tells_the_owner(site: Site) -> None:
    with log_in(site) as ada:
        _, codes = set_up(site, ada)
    before = len(mails(site))
    with fresh(site) as browser:
        page = password(browser).text
        assert sent(browser, "/login/second", page, code=codes[3].upper().replace("-", " ")).url.path == "/submissions"
        assert "9 recovery codes left" in browser.get(LOGINS).text
    assert len(mails(site)) > before
    with fresh(site) as browser:
        assert sent(browser, "/login/second", password(browser).text, code=codes[3]).status_code == 401
    with reading(site.engine) as session:
        assert not any(codes[3] in row.code_hash for row in session.scalars(select(RecoveryCode)))


def test_new_codes_replace_the_old_ones(site: Site) -> None:
    with log_in(site) as ada:
        _, codes = set_up(site, ada)
        page = sent(ada, f"{LOGINS}/codes", ada.get(LOGINS).text, proof=PASSWORD).text
        [*new] = re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", page)
    with fresh(site) as browser:
        page = password(browser).text
        assert sent(browser, "/login/second", page, code=codes[0]).status_code == 401
        assert sent(browser, "/login/second", page, code=new[0]).url.path == "/submissions"


def test_wrong_codes_end_the_log_in_and_are_bounded(site: Site) -> None:
    with log_in(site) as ada:
        secret, _ = set_up(site, ada)
        with fresh(site) as browser:
            page = password(browser).text
            assert [sent(browser, "/login/second", page, code="1").status_code for _ in range(6)] == [
                *[401] * 4,
                404,
                404,
            ]
            right = code_of(site, secret)
            assert sent(browser, "/login/second", page, code=right).status_code == 404, "it begins with the password"
            for _ in range(3):
                page = password(browser).text
                for _ in range(5):
                    sent(browser, "/login/second", page, code="1")
            assert sent(browser, "/login/second", password(browser).text, code=right).status_code == 429
        assert who(ada) == "ada", "whoever is logged in stays"


def test_the_second_step_is_of_the_browser_that_took_the_first(site: Site) -> None:
    with log_in(site) as ada:
        secret, _ = set_up(site, ada)
    with fresh(site) as browser, fresh(site) as other:
        password(browser)
        page = other.get("/login").text
        assert sent(other, "/login/second", page, code=code_of(site, secret)).status_code == 404
        assert other.get("/login/second").status_code == 404
        site.set_clock(site.now + timedelta(minutes=11))
        assert browser.get("/login/second").status_code == 404
    with reading(site.engine) as session:
        assert len(session.scalars(select(SecondStep)).all()) == 1


def test_setting_up_takes_the_password_and_a_first_code_and_ends_other_log_ins(site: Site) -> None:
    with log_in(site) as ada, fresh(site) as before:
        password(before)
        page = ada.get(LOGINS).text
        assert sent(ada, f"{LOGINS}/app/begin", page, proof="not hers at all").status_code == 422
        page = sent(ada, f"{LOGINS}/app/begin", page, proof=PASSWORD).text
        assert sent(ada, f"{LOGINS}/app", page, code="000000").status_code == 422
        with fresh(site) as browser:
            assert password(browser).url.path == "/submissions", "it does not count yet"
        assert who(before) == "ada"
        set_up(site, ada)
        assert (who(ada), who(before)) == ("ada", "")
        assert ada.get(f"{LOGINS}/app").status_code == 404, "its key is not shown again"
        again = sent(ada, f"{LOGINS}/app/begin", ada.get(LOGINS).text, proof=PASSWORD)
        assert again.status_code == 403


def test_removing_takes_the_password_and_all_codes(site: Site) -> None:
    with log_in(site) as ada:
        set_up(site, ada)
        page = ada.get(LOGINS).text
        assert sent(ada, f"{LOGINS}/app/remove", page, proof="not hers at all").status_code == 422
        assert "Removed." in sent(ada, f"{LOGINS}/app/remove", page, proof=PASSWORD).text
        assert sent(ada, f"{LOGINS}/codes", page, proof=PASSWORD).status_code == 403
    with fresh(site) as browser:
        assert password(browser).url.path == "/submissions"
    with reading(site.engine) as session:
        assert session.scalars(select(RecoveryCode)).all() == []
        assert session.scalars(select(Authenticator)).all() == []


def test_programs_log_in_with_tokens_where_a_password_is_not_enough(site: Site) -> None:
    with log_in(site) as ada:
        set_up(site, ada)
    with writing(site.engine) as session:
        user = session.scalars(select(User).where(User.username == "ada")).one()
        _, token = auth.create_token(session, user, "script", site.now)
    with site.client(Authorization=f"Bearer {token}") as script:
        assert script.get("/api/v1/me").json()["username"] == "ada"
    with site.client() as program:
        credentials = {"username": "ada", "password": PASSWORD}
        refused = program.post("/api/v1/tokens", json={"name": "x", **credentials})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor_needed")
        assert program.post("/api/api-token-auth/", data=credentials).status_code == 403
        program.get("/accounts/login/")
        form = {**credentials, "csrfmiddlewaretoken": program.cookies["csrftoken"]}
        assert program.post("/accounts/login/", data=form).status_code == 403
        assert program.get("/api/my_profile/").status_code == 401


def test_a_new_password_by_mail_is_no_second_factor(site: Site) -> None:
    with log_in(site) as ada:
        set_up(site, ada)
    from app.people.password_resets import make_link, use

    with writing(site.engine) as session:
        _, link = make_link(session, "ada", site.settings, site.now)
        use(session, link.partition("link=")[2], PASSWORD, site.settings, site.now)
    with fresh(site) as browser:
        assert password(browser).url.path == "/login/second"


@pytest.mark.browser
def test_everybody_can_read_the_pages(site: Site, chromium: Browser) -> None:  # noqa: F811
    """Check axe's rules, without scripts, on a phone; and that the form works in a browser."""
    with log_in(site) as ada, reader_of(chromium, site.url, ada) as reader:
        sent(ada, f"{LOGINS}/app/begin", ada.get(LOGINS).text, proof=PASSWORD)
        assert reader.complaints(reader.go(f"{LOGINS}/app")) == []
        reader.page.fill("#code", code_of(site, reader.page.inner_text("p.secret code")))
        reader.page.click("text=Set up")
        reader.page.wait_for_selector("#codes")
        assert reader.complaints(None) == []
        assert reader.complaints(reader.go(LOGINS)) == []


# ------------------------------------------------------------------------------------------------------ wanted


@contextmanager
def wanting(site: Site, of: str) -> Iterator[Site]:
    settings = site.settings.model_copy(update={"second_factor": of})
    with a_site(site.app, site.url, site.engine, settings) as found:
        yield found


def make(site: Site, username: str, role: str) -> None:
    with writing(site.engine) as session:
        if role == "administrator":
            session.execute(update(User).where(User.username == username).values(is_administrator=True))
        else:
            user = session.scalars(select(User).where(User.username == username)).one()
            grant_role(session, find_competition(session, COMPETITION), user, Role.ORGANISER, site.now)


@pytest.mark.parametrize(
    ("of", "role", "is_wanted"),
    [
        ("administrators", "administrator", True),
        ("administrators", "organiser", False),
        ("organisers", "organiser", True),
        ("organisers", "administrator", True),
        ("organisers", "", False),
        ("optional", "administrator", False),
    ],
)
def test_who_must_have_one_has_nothing_else_until_then(site: Site, of: str, role: str, is_wanted: bool) -> None:
    """Check somebody who was logged in before getting the role, too."""
    with wanting(site, of) as there, log_in(there) as ada:
        if role:
            make(there, "ada", role)
        for path in ("/account", "/", f"/competitions/{COMPETITION}/desk"):
            assert (ada.get(path).url.path == LOGINS) is is_wanted, path
        refused = ada.get("/api/v1/me", headers={"Accept": "application/json"})
        assert (refused.status_code == 403) is is_wanted
        if is_wanted:
            assert refused.json()["error"]["code"] == "second_factor_needed"
            page = ada.get(LOGINS).text
            assert ada.post("/account/tokens", data={"name": "x", "csrf_token": csrf_of(page)}).url.path == LOGINS
            set_up(there, ada)
            assert ada.get("/account").url.path == "/account"
            sent(ada, f"{LOGINS}/app/remove", ada.get(LOGINS).text, proof=PASSWORD)
            assert ada.get("/account").url.path == LOGINS


def test_tokens_go_on_where_a_second_factor_is_wanted(site: Site) -> None:
    with wanting(site, "organisers") as there:
        root = there.person("root", is_administrator=True)
        with root.client as script:
            assert script.get("/api/v1/audit").status_code == 200


# -------------------------------------------------------------------------------------------------- log-ins, devices


def test_log_ins_are_listed_and_ended(site: Site) -> None:
    with (
        log_in(site) as ada,
        log_in(site, "eve") as eve,
        fresh(site, **{"User-Agent": FIREFOX}) as one,
        fresh(site) as another,
    ):
        password(one)
        password(another)
        page = ada.get(LOGINS).text
        assert "Firefox on Linux" in page
        numbers = re.findall(rf"{LOGINS}/(\d+)/end", page)
        assert len(numbers) == 2
        for number in numbers:  # of somebody else they are nothing
            assert sent(eve, f"{LOGINS}/{number}/end", eve.get(LOGINS).text).status_code == 404
        sent(ada, f"{LOGINS}/{numbers[1]}/end", page)
        assert [who(ada), who(one), who(another)] == ["ada", "", "ada"]
        sent(ada, f"{LOGINS}/end-others", page)
        assert [who(ada), who(another), who(eve)] == ["ada", "", "eve"]


def test_a_log_in_in_a_new_browser_is_told_to_the_owner(site: Site) -> None:
    with log_in(site) as ada:
        assert mails(site) == [], "the first is of whoever registered"
        sent(ada, "/logout", ada.get("/account").text)
        password(ada)
        assert mails(site) == [], "the same browser"
    with fresh(site, **{"User-Agent": FIREFOX}) as new:
        password(new)
        [told] = mails(site)
        assert "with password" in told
        assert "Firefox on Linux" in told
    with reading(site.engine) as session:
        assert len(session.scalars(select(KnownDevice)).all()) == 2


def test_when_a_log_in_was_last_seen_is_noted_now_and_then(site: Site) -> None:
    def seen() -> object:
        with reading(site.engine) as session:
            return session.scalars(select(LoginSession.seen_at)).one()

    with log_in(site) as ada:
        began = site.now
        site.set_clock(began + timedelta(minutes=10))
        ada.get("/account")
        assert seen() == began
        site.set_clock(began + timedelta(minutes=20))
        ada.get("/account")
        assert seen() == site.now


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/143.0 Safari/537.36",
            "Chrome on Windows",
        ),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/143.0 Safari/537.36 Edg/143.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1", "Safari on iOS"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/143.0 Mobile Safari/537.36", "Chrome on Android"),
        ("<script>", "a program"),
        ("", "a program"),
    ],
)
def test_browsers_are_named_in_words(user_agent: str, words: str) -> None:
    assert device_words(user_agent) == words


def test_limits_of_codes_can_be_switched_off(site: Site) -> None:
    limits = RateLimits(site.settings.model_copy(update={"failed_logins_per_hour_and_account": 0}))
    assert limits.rules.failed_second.limit == 0
