"""Log-ins with real providers in another process: who gets into which account, and which answers are refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser
from pydantic import SecretStr
from sqlalchemy import select, update

from app.base.config import Settings
from app.base.db import reading, writing
from app.base.providers import Provider
from app.models import Authenticator, Identity, LoginSession, MailLink, OutgoingMail, ProviderLogin, User
from app.people import auth
from app.web.http.rate_limits import RateLimits
from tests import letters, oidc
from tests.oidc import Providers, answer_of
from tests.processes import missing
from tests.web.access import reader_of
from tests.web.site import BROWSER, PASSWORD, Site, a_site, csrf_of, log_in
from tests.web.test_browser import chromium  # noqa: F401 - a fixture

ADA = "ada@example.org"
NEW = {"username": "ada", "email": "", "display_name": "Ada"}


@pytest.fixture(scope="module")
def there() -> Iterator[Providers]:
    if words := oidc.why_not():
        missing(words)
    with oidc.providers() as found:
        yield found


def settings_with(site: Site, there: Providers, **more: object) -> Settings:
    """The settings of a server with all of them; where the test's server answers is what they know."""
    secret = SecretStr(oidc.SECRET)
    known = {
        "uni": Provider(title="Uni", issuer=there.uni, client_id="uni", client_secret=secret),
        "hub": Provider(title="Hub", issuer=there.hub, client_id="hub", client_secret=secret),
        "orcid": Provider(issuer=there.uni, client_id="orcid", client_secret=secret),
        "github": Provider(issuer=there.github, client_id="evergold", client_secret=secret),
    }
    return site.settings.model_copy(update={"providers": known, "base_url": site.url, **more})


@pytest.fixture
def site(empty_site: Site, there: Providers) -> Iterator[Site]:
    """A server whose people log in with passwords and with four providers."""
    settings = settings_with(empty_site, there)
    with a_site(empty_site.app, empty_site.url, empty_site.engine, settings) as found:
        yield found


@pytest.fixture
def browser(site: Site) -> httpx.Client:
    browser = site.client(**BROWSER)
    browser.follow_redirects = True
    return browser


def begun(browser: httpx.Client, provider: str = "uni") -> str:
    """The address at the provider to which the log-in page leads."""
    answer = browser.get(f"/login/with/{provider}?next=/submissions", follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def logged_in_with(browser: httpx.Client, login: str, provider: str = "uni") -> httpx.Response:
    return browser.get(answer_of(begun(browser, provider), login))


def sent(browser: httpx.Client, path: str, page: str, **fields: str) -> httpx.Response:
    return browser.post(path, data={**fields, "csrf_token": csrf_of(page)})


def opened(browser: httpx.Client, login: str = "ada", provider: str = "uni", **fields: str) -> httpx.Response:
    """An account made at the first log-in."""
    page = logged_in_with(browser, login, provider)
    assert page.url.path == "/login/finish", page.text
    return sent(browser, "/login/finish/account", page.text, **{**NEW, **fields})


def who(browser: httpx.Client) -> str:
    """The user name on the account page; empty for nobody."""
    page = browser.get("/account")
    return "" if page.url.path == "/login" else page.text.split('<p class="meta"><span>')[1].split("<")[0]


def user(site: Site, name: str) -> User:
    with reading(site.engine) as session:
        return session.scalars(select(User).where(User.username == name)).one()


def users(site: Site) -> int:
    with reading(site.engine) as session:
        return len(session.scalars(select(User.id).where(User.password_hash.is_not(None))).all())


def identities(site: Site) -> list[tuple[int, str, str]]:
    with reading(site.engine) as session:
        return [(one.user_id, one.provider, one.subject) for one in session.scalars(select(Identity))]


# --------------------------------------------------------------------------------------------------- the usual way


def test_the_first_log_in_makes_an_account_the_next_opens_it(site: Site, browser: httpx.Client) -> None:
    page = browser.get("/login?next=/submissions").text
    assert 'href="/login/with/uni?next=/submissions"' in page.replace("%2F", "/")
    answer = opened(browser)
    assert answer.url.path == "/submissions"
    ada = user(site, "ada")
    assert (ada.email, ada.email_confirmed, ada.has_password) == (ADA, True, False)
    with site.client(**BROWSER) as another:
        another.follow_redirects = True
        assert logged_in_with(another, "ada").url.path == "/submissions"
        assert who(another) == "ada"
    assert identities(site) == [(ada.id, "uni", "ada")]
    with reading(site.engine) as session:
        assert session.scalars(select(ProviderLogin)).all() == []


def test_no_password_opens_an_account_without_one(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    with site.client(**BROWSER) as other:
        for password in ("", "!", PASSWORD):
            page = other.get("/login").text
            assert sent(other, "/login", page, username="ada", password=password).status_code == 401


def test_github_is_asked_for_the_number_and_the_proved_address(site: Site, browser: httpx.Client) -> None:
    page = browser.get(begun(browser, "github"))  # its people are logged in there, and agree at once
    assert page.url.path == "/login/finish"
    assert "octocat" in page.text
    assert "octo@example.org" in page.text
    sent(browser, "/login/finish/account", page.text, **{**NEW, "username": "octo"})
    assert identities(site) == [(user(site, "octo").id, "github", "583231")]
    assert user(site, "octo").email == "octo@example.org"


def test_orcid_proves_an_id_and_no_address(site: Site, browser: httpx.Client) -> None:
    """Check that its addresses are not requested; so one is typed, and to be confirmed."""
    orcid = "0000-0002-1825-0097"
    opened(browser, orcid, "orcid", username="josiah", email="josiah@example.org")
    josiah = user(site, "josiah")
    assert (josiah.email_confirmed, josiah.orcid) == (False, None)
    page = browser.get("/account/logins").text
    sent(browser, "/account/logins/orcid", page, shown="1")
    assert user(site, "josiah").orcid == orcid
    sent(browser, "/account/logins/orcid", page)
    assert user(site, "josiah").orcid is None


def test_who_has_no_orcid_id_shows_none(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    page = browser.get("/account").text
    assert sent(browser, "/account/logins/orcid", page, shown="1").status_code == 404
    assert user(site, "ada").orcid is None


def test_what_is_no_orcid_id_is_refused(browser: httpx.Client) -> None:
    assert logged_in_with(browser, "ada", "orcid").status_code == 403


def test_who_is_refused_there_is_not_logged_in_here(site: Site, browser: httpx.Client) -> None:
    answer = logged_in_with(browser, "nobody")
    assert answer.status_code == 403
    assert "Uni did not log you in" in answer.text
    assert who(browser) == ""


# -------------------------------------------------------------------------------------------- state, PKCE, mix-up


def test_an_answer_is_taken_once(site: Site, browser: httpx.Client) -> None:
    back = answer_of(begun(browser), "ada")
    assert browser.get(back).url.path == "/login/finish"
    assert browser.get(back).status_code == 404


def test_an_answer_is_taken_in_the_browser_that_began(site: Site, browser: httpx.Client) -> None:
    """Check it, since otherwise somebody could log others in as themselves, and read what they send."""
    back = answer_of(begun(browser), "mallory")
    with site.client(**BROWSER) as victim:
        assert victim.get(back).status_code == 404
        begun(victim)  # one that has a log-in of its own under way
        assert victim.get(back).status_code == 404
        victim.follow_redirects = True
        assert who(victim) == ""


@pytest.mark.parametrize("change", [{"state": "another"}, {"state": ""}, {"code": "another"}])
def test_a_changed_answer_is_refused(browser: httpx.Client, change: dict[str, str]) -> None:
    assert changed(browser, answer_of(begun(browser), "ada"), change).status_code in (403, 404)
    assert who(browser) == ""


def changed(browser: httpx.Client, back: str, change: dict[str, str]) -> httpx.Response:
    parts = urlsplit(back)
    fields = {name: values[0] for name, values in parse_qs(parts.query).items()} | change
    return browser.get(f"{parts.path}?{urlencode({name: value for name, value in fields.items() if value})}")


def test_a_code_of_another_log_in_is_refused_by_its_verifier(site: Site, browser: httpx.Client) -> None:
    """An injected code: stolen from a victim's log-in, put into the attacker's own."""
    with site.client(**BROWSER) as victim:
        stolen = parse_qs(urlsplit(answer_of(begun(victim), "ada")).query)["code"][0]
    answer = changed(browser, answer_of(begun(browser), "mallory"), {"code": stolen})
    assert answer.status_code == 403
    assert who(browser) == ""


@pytest.mark.parametrize("issuer", ["another", "none"])
def test_an_answer_of_another_issuer_is_refused(browser: httpx.Client, there: Providers, issuer: str) -> None:
    """Issuer mix-up: the browser began with one provider, and the answer is another's."""
    change = {"iss": there.hub if issuer == "another" else ""}
    answer = changed(browser, answer_of(begun(browser), "ada"), change)
    assert answer.status_code == 403
    assert "does not come from the provider that you chose" in answer.text


def test_an_answer_at_another_providers_address_is_refused(browser: httpx.Client) -> None:
    back = answer_of(begun(browser, "uni"), "ada").replace("/with/uni/", "/with/hub/")
    assert browser.get(back).status_code == 404


def test_the_address_at_the_provider_has_state_nonce_and_challenge(browser: httpx.Client, site: Site) -> None:
    asked = parse_qs(urlsplit(begun(browser)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [f"{site.url}/login/with/uni/callback"]
    again = parse_qs(urlsplit(begun(browser)).query)
    assert all(asked[name] != again[name] for name in ("state", "nonce", "code_challenge"))
    assert oidc.SECRET not in str(asked)


@pytest.mark.parametrize(
    "how",
    [
        "nonce",
        "no nonce",
        "issuer",
        "audience",
        "two audiences",
        "expired",
        "no subject",
        "another subject",  # than that of the userinfo
        "unsigned",
        "signed with the client's secret",
        "signed with another key",
    ],
)
def test_a_false_token_is_refused(site: Site, browser: httpx.Client, there: Providers, how: str) -> None:
    back = answer_of(begun(browser), "ada")
    there.bend(how)
    answer = browser.get(back)
    assert answer.status_code == 403, how
    assert browser.get("/login/finish").status_code == 404
    assert users(site) == 0


def test_a_true_token_signed_anew_is_believed(browser: httpx.Client, there: Providers) -> None:
    """Check that tokens are refused only for what the test before does to them."""
    back = answer_of(begun(browser), "ada")
    there.bend("nothing")
    assert browser.get(back).url.path == "/login/finish"


def test_a_log_in_that_nobody_finishes_ends(site: Site, browser: httpx.Client) -> None:
    page = logged_in_with(browser, "ada").text
    site.set_clock(site.now + timedelta(minutes=31))
    assert sent(browser, "/login/finish/account", page, **NEW).status_code == 404
    assert users(site) == 0


def test_a_provider_that_is_away_is_said_to_be(site: Site, browser: httpx.Client) -> None:
    away = Provider(title="Uni", issuer="http://127.0.0.1:9/nothing", client_id="uni")
    settings = site.settings.model_copy(update={"providers": {"uni": away}})
    with a_site(site.app, site.url, site.engine, settings) as changed_site:
        browser = changed_site.client(**BROWSER)
        answer = browser.get("/login/with/uni")
        assert answer.status_code == 503
        assert "Uni does not answer" in answer.text
        assert browser.get("/login/with/nowhere").status_code == 404


def test_log_ins_of_a_network_are_bounded(site: Site, browser: httpx.Client) -> None:
    site.app.state.rate_limits = RateLimits(site.settings.model_copy(update={"passwords_per_hour_and_address": 2}))
    begun(browser)
    begun(browser)
    assert browser.get("/login/with/uni").status_code == 429


# ------------------------------------------------------------------------------- linking, merging, pre-hijacking


def test_an_address_alone_opens_no_account(site: Site, browser: httpx.Client) -> None:
    """Check that the provider's statement that the address is ada's is not trusted: it may be wrong, or hostile."""
    with log_in(site, "ada"):
        pass
    page = logged_in_with(browser, "ada")
    assert page.url.path == "/login/finish"
    answer = sent(browser, "/login/finish/account", page.text, **{**NEW, "username": "ada2"})
    assert answer.status_code == 409
    assert "This address already has an account" in answer.text
    assert (who(browser), identities(site), users(site)) == ("", [], 1)


def trusting(site: Site) -> Settings:
    known = site.settings.providers
    trusted = {**known, "uni": known["uni"].model_copy(update={"trusted": True})}
    return site.settings.model_copy(update={"providers": trusted})


def test_a_trusted_providers_word_links_a_confirmed_address(site: Site) -> None:
    with log_in(site, "ada"):
        pass
    with a_site(site.app, site.url, site.engine, trusting(site)) as there:
        browser = there.client(**BROWSER)
        browser.follow_redirects = True
        for login in ("mallory", "said"):  # the address is not said to be theirs
            assert logged_in_with(browser, login).url.path == "/login/finish"
        assert logged_in_with(browser, "ada").url.path == "/submissions"
        assert who(browser) == "ada"
    with reading(site.engine) as session:
        told = session.scalars(select(OutgoingMail.body).where(OutgoingMail.recipient == ADA)).all()
    assert any("now opens" in body for body in told)


def test_nor_does_it_link_an_unconfirmed_address_or_an_administrators(site: Site) -> None:
    with log_in(site, "ada", is_confirmed=False), log_in(site, "root"):
        pass
    with writing(site.engine) as session:
        session.execute(update(User).where(User.username == "root").values(is_administrator=True))
    with a_site(site.app, site.url, site.engine, trusting(site)) as there:
        for login in ("ada", "root"):
            browser = there.client(**BROWSER)
            browser.follow_redirects = True
            assert logged_in_with(browser, login).url.path == "/login/finish"
    assert identities(site) == []


def test_who_registered_first_with_anothers_address_has_nothing_of_them(site: Site, browser: httpx.Client) -> None:
    """Pre-hijacking: the squatter's password, log-in and token open the squatter's account, never the owner's."""
    with log_in(site, "squatter", is_confirmed=False) as squatter:
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "squatter").values(email=ADA))
            _, token = auth.create_token(session, user(site, "squatter"), "mine", site.now)
        answer = opened(browser)
        assert answer.url.path == "/submissions", answer.text
        assert who(browser) == "ada"
        assert who(squatter) == "squatter"
        assert "belongs to another person" in squatter.get("/account").text
    assert (user(site, "ada").email, user(site, "ada").email_confirmed) == (ADA, True)
    assert not user(site, "squatter").has_address
    with site.client(Authorization=f"Bearer {token}") as script:
        assert script.get("/api/v1/me").json()["username"] == "squatter"
    with site.client(**BROWSER) as other:
        other.follow_redirects = True
        page = other.get("/login").text
        assert sent(other, "/login", page, username=ADA, password=PASSWORD).status_code == 401


def test_an_address_that_the_provider_does_not_vouch_for_is_taken_from_nobody(
    site: Site, browser: httpx.Client
) -> None:
    with log_in(site, "ada", is_confirmed=False):
        pass
    page = logged_in_with(browser, "mallory").text
    answer = sent(browser, "/login/finish/account", page, username="mallory", email=ADA, display_name="")
    assert answer.status_code == 409
    assert user(site, "ada").email == ADA


def test_the_password_links(site: Site, browser: httpx.Client) -> None:
    with log_in(site, "ada"):
        pass
    page = logged_in_with(browser, "silent").text
    wrong = sent(browser, "/login/finish/password", page, owner="ada", password="not hers at all")
    assert wrong.status_code == 401
    assert (who(browser), identities(site)) == ("", [])
    answer = sent(browser, "/login/finish/password", page, owner="ada", password=PASSWORD)
    assert answer.url.path == "/submissions"
    assert who(browser) == "ada"
    assert identities(site) == [(user(site, "ada").id, "uni", "silent")]


def mailed(site: Site, browser: httpx.Client, login: str = "silent") -> str:
    """The link that was mailed to ada's address."""
    page = logged_in_with(browser, login).text
    answer = sent(browser, "/login/finish/mail", page, address=ADA)
    assert "If <bdi>ada@example.org</bdi> has an account here" in answer.text
    [link] = letters.links(site.engine, MailLink.LOGIN, site.now, site.settings)
    return link


def test_a_mailed_link_links_in_the_browser_that_asked(site: Site, browser: httpx.Client) -> None:
    with log_in(site, "ada") as before:
        link = mailed(site, browser)
        assert who(before) == "ada"
        with site.client(**BROWSER) as another:  # the owner's, who never asked: somebody else's identity is not theirs
            assert another.get(link).status_code == 404
        page = browser.get(link)
        assert "silent" in page.text
        assert identities(site) == [], "only looking changes nothing"
        secret = parse_qs(urlsplit(link).query)["link"][0]
        answer = sent(browser, "/login/finish/link", page.text, link=secret)
        assert answer.url.path == "/submissions"
        assert (who(browser), who(before)) == ("ada", "ada")
    assert user(site, "ada").has_password


def test_no_mail_tells_who_has_an_account(site: Site, browser: httpx.Client) -> None:
    page = logged_in_with(browser, "silent").text
    answer = sent(browser, "/login/finish/mail", page, address=ADA)
    assert "If <bdi>ada@example.org</bdi> has an account here" in answer.text
    assert letters.links(site.engine, MailLink.LOGIN, site.now, site.settings) == []


def test_a_guessed_link_links_nothing(site: Site, browser: httpx.Client) -> None:
    with log_in(site, "ada"):
        pass
    mailed(site, browser)
    page = browser.get("/login/finish").text
    for secret in ("", "guessed"):
        assert sent(browser, "/login/finish/link", page, link=secret).status_code == 404
    assert identities(site) == []


def test_a_mailed_link_to_an_unconfirmed_address_ends_every_other_way_in(site: Site, browser: httpx.Client) -> None:
    """Check an account of somebody who registered with ada's address and linked an identity: nothing of theirs opens it
    afterwards.
    """
    with log_in(site, "squatter", is_confirmed=False) as squatter:
        with writing(site.engine) as session:
            session.execute(update(User).where(User.username == "squatter").values(email=ADA))
            _, token = auth.create_token(session, user(site, "squatter"), "mine", site.now)
        page = squatter.get("/account/logins").text
        onward = sent(squatter, "/account/logins/hub/link", page, proof=PASSWORD).text
        address = onward.split('rel="nofollow noopener" href="')[1].split('"')[0].replace("&amp;", "&")
        assert squatter.get(answer_of(address, "mallory")).url.path == "/account/logins"
        link = mailed(site, browser)
        page = browser.get(link).text
        sent(browser, "/login/finish/link", page, link=parse_qs(urlsplit(link).query)["link"][0])
        assert who(browser) == "squatter", "its name stays, and is the new owner's"
        assert who(squatter) == ""
        with site.client(Authorization=f"Bearer {token}") as script:
            assert script.get("/api/v1/me").status_code == 401
        page = squatter.get("/login").text
        assert sent(squatter, "/login", page, username="squatter", password=PASSWORD).status_code == 401
        assert logged_in_with(squatter, "mallory", "hub").url.path == "/login/finish"
    assert identities(site) == [(user(site, "squatter").id, "uni", "silent")]


def linked(browser: httpx.Client, login: str, provider: str = "hub", proof: str = PASSWORD) -> httpx.Response:
    """The answer when somebody who is logged in links an identity."""
    page = browser.get("/account/logins").text
    onward = sent(browser, f"/account/logins/{provider}/link", page, proof=proof)
    if onward.status_code != 200:
        return onward
    address = onward.text.split('rel="nofollow noopener" href="')[1].split('"')[0].replace("&amp;", "&")
    return browser.get(answer_of(address, login))


def test_who_is_logged_in_links_by_the_password_and_unlinks(site: Site) -> None:
    with log_in(site, "ada") as browser:
        assert linked(browser, "grace", proof="not hers at all").status_code == 422
        assert identities(site) == []
        assert "Linked: from now on" in linked(browser, "grace").text
        ada = user(site, "ada")
        assert identities(site) == [(ada.id, "hub", "grace")]
        page = browser.get("/account/logins").text
        number = page.split("/unlink")[0].rsplit("/", 1)[1]
        assert sent(browser, f"/account/logins/{number}/unlink", page, proof="not hers").status_code == 422
        assert "Unlinked" in sent(browser, f"/account/logins/{number}/unlink", page, proof=PASSWORD).text
        assert identities(site) == []
        with log_in(site, "eve") as eve:
            linked(browser, "grace")
            page = eve.get("/account/logins").text
            number = browser.get("/account/logins").text.split("/unlink")[0].rsplit("/", 1)[1]
            assert sent(eve, f"/account/logins/{number}/unlink", page, proof=PASSWORD).status_code == 404
    assert len(identities(site)) == 1


def test_the_last_way_in_stays(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    page = browser.get("/account/logins").text
    number = page.split("/unlink")[0].rsplit("/", 1)[1]
    answer = sent(browser, f"/account/logins/{number}/unlink", page)
    assert answer.status_code == 403
    assert "only way into your account" in answer.text
    assert len(identities(site)) == 1


def test_without_a_password_a_new_log_in_proves_who_one_is(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    site.set_clock(site.now + timedelta(minutes=16))
    assert linked(browser, "grace", proof="").status_code == 422
    page = browser.get("/account").text
    assert sent(browser, "/account/email", page, email="new@example.org").status_code == 422
    assert user(site, "ada").email == ADA
    sent(browser, "/logout", page)
    logged_in_with(browser, "ada")
    assert "Linked: from now on" in linked(browser, "grace", proof="").text


def test_two_accounts_are_not_merged(site: Site, browser: httpx.Client) -> None:
    """An identity that opens one account is not taken into another."""
    opened(browser, "grace", "hub", username="grace")
    with log_in(site, "ada") as ada:
        answer = linked(ada, "grace")
        assert answer.status_code == 409
        assert "opens another account" in answer.text
    assert [owner for owner, _, _ in identities(site)] == [user(site, "grace").id]


def test_the_same_name_at_two_providers_is_two_people(site: Site, browser: httpx.Client) -> None:
    opened(browser, "silent", "uni", username="one", email="one@example.org")
    with site.client(**BROWSER) as other:
        other.follow_redirects = True
        assert logged_in_with(other, "silent", "hub").url.path == "/login/finish"


def test_who_logged_out_meanwhile_links_nothing(site: Site) -> None:
    with log_in(site, "ada") as browser:
        page = browser.get("/account/logins").text
        onward = sent(browser, "/account/logins/hub/link", page, proof=PASSWORD).text
        address = onward.split('rel="nofollow noopener" href="')[1].split('"')[0].replace("&amp;", "&")
        sent(browser, "/logout", browser.get("/account").text)
        assert browser.get(answer_of(address, "grace")).status_code == 403
        assert identities(site) == []


def test_a_log_in_for_linking_makes_no_account(site: Site) -> None:
    with log_in(site, "ada") as browser:
        linked(browser, "grace")
        assert browser.get("/login/finish").status_code == 404


def with_second_factor(site: Site, name: str) -> None:
    with writing(site.engine) as session:
        owner = session.scalars(select(User).where(User.username == name)).one()
        new = {"secret": "A" * 32, "created_at": site.now, "confirmed_at": site.now, "last_step": None}
        session.add(Authenticator(user_id=owner.id, **new))


def test_a_provider_is_a_first_factor_and_no_more(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    with_second_factor(site, "ada")
    with a_site(site.app, site.url, site.engine, trusting(site)) as there:
        other = there.client(**BROWSER)
        other.follow_redirects = True
        assert logged_in_with(other, "ada").url.path == "/login/second"
        assert who(other) == ""


def test_who_has_the_first_factor_alone_adds_no_way_in(site: Site, browser: httpx.Client) -> None:
    with log_in(site, "ada"):
        pass
    with_second_factor(site, "ada")
    page = logged_in_with(browser, "silent").text
    assert sent(browser, "/login/finish/password", page, owner="ada", password=PASSWORD).status_code == 403
    link = mailed(site, browser, "silent")
    page = browser.get(link).text
    secret = parse_qs(urlsplit(link).query)["link"][0]
    assert sent(browser, "/login/finish/link", page, link=secret).status_code == 403
    assert (identities(site), who(browser)) == ([], "")


# ---------------------------------------------------------------------------------------------- without passwords


def test_passwords_can_be_switched_off(site: Site, browser: httpx.Client, there: Providers) -> None:
    with log_in(site, "ada"):
        pass
    settings = settings_with(site, there, passwords=False)
    with a_site(site.app, site.url, site.engine, settings) as without:
        browser = without.client(**BROWSER)
        browser.follow_redirects = True
        page = browser.get("/login").text
        assert 'name="password"' not in page
        assert browser.get("/register").url.path == "/login"
        answer = logged_in_with(browser, "silent")
        assert 'name="password"' not in answer.text
        for path, fields in (
            ("/login", {"username": "ada", "password": PASSWORD}),
            ("/register", {"username": "eve", "email": "eve@example.org", "password": PASSWORD}),
            ("/password/forgot", {"username": "ada"}),
            ("/login/finish/password", {"owner": "ada", "password": PASSWORD}),
        ):
            refused = sent(browser, path, answer.text, **fields)
            assert refused.status_code == 403, path
            assert "takes no passwords" in refused.text
        script = without.client()
        refused = script.post("/api/v1/tokens", json={"name": "x", "username": "ada", "password": PASSWORD})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "passwords_off")
        new = {"username": "eve", "email": "eve@example.org", "password": PASSWORD}
        assert script.post("/api/v1/register", json=new).status_code == 403
        link = mailed(without, browser)
        page = browser.get(link).text
        sent(browser, "/login/finish/link", page, link=parse_qs(urlsplit(link).query)["link"][0])
        assert who(browser) == "ada", "the way over for who had a password"
        account = browser.get("/account").text
        assert 'action="/account/password"' not in account
    with reading(site.engine) as session:
        assert len(session.scalars(select(LoginSession)).all()) == 2


def test_no_page_shows_the_clients_secret(site: Site, browser: httpx.Client) -> None:
    opened(browser)
    for path in ("/login", "/register", "/account", "/account/logins", "/status", "/openapi.json"):
        assert oidc.SECRET not in browser.get(path).text
    assert oidc.SECRET not in repr(site.settings)


@pytest.mark.browser
def test_everybody_can_read_the_pages(site: Site, browser: httpx.Client, chromium: Browser) -> None:  # noqa: F811
    """Check axe's rules, without scripts, on a phone."""
    with log_in(site, "ada") as ada:
        linked(ada, "grace")
        linked(ada, "0000-0002-1825-0097", "orcid")
        link = mailed(site, browser)
        for person, paths in (
            (None, ("/login", "/register")),
            (browser, ("/login/finish", link.removeprefix(site.url))),
            (ada, ("/account/logins",)),
        ):
            with reader_of(chromium, site.url, person) as reader:
                for path in paths:
                    page = reader.go(path)
                    assert reader.complaints(page) == [], path
