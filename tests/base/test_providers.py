"""Providers in the environment: what each variable means, and what is wrong with one, in words without its value."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.base.config import InvalidSettings, Settings, get_settings

HUSH = "hush"
UNI = {
    "EVERGOLD_BASE_URL": "https://scores.example.org",
    "EVERGOLD_PROVIDERS__UNI__ISSUER": "https://login.example.edu/realms/staff",
    "EVERGOLD_PROVIDERS__UNI__CLIENT_ID": "evergold",
    "EVERGOLD_PROVIDERS__UNI__CLIENT_SECRET": HUSH,
}


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def settings(monkeypatch: pytest.MonkeyPatch, **more: str) -> Settings:
    for name, value in {**UNI, **more}.items():
        monkeypatch.setenv(name, value)
    return get_settings()


def test_several_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {
        "EVERGOLD_PROVIDERS__GITHUB__CLIENT_ID": "Ov23",
        "EVERGOLD_PROVIDERS__ORCID__CLIENT_ID": "APP-1",
        "EVERGOLD_PROVIDERS__WORK__KIND": "github",
        "EVERGOLD_PROVIDERS__WORK__ISSUER": "https://github.example.edu/",
        "EVERGOLD_PROVIDERS__WORK__CLIENT_ID": "Ov24",
        "EVERGOLD_PROVIDERS__WORK__TITLE": "Work",
    }
    known = settings(monkeypatch, **more).providers
    assert {name: (one.kind_of(name), one.issuer_of(name), one.title_of(name)) for name, one in known.items()} == {
        "uni": ("oidc", "https://login.example.edu/realms/staff", "login.example.edu"),
        "github": ("github", "https://github.com", "GitHub"),
        "orcid": ("orcid", "https://orcid.org", "ORCID"),
        "work": ("github", "https://github.example.edu", "Work"),
    }
    assert [known[name].scopes_of(name) for name in ("uni", "orcid", "github")] == [
        "openid profile email",
        "openid",
        "read:user user:email",
    ]
    assert not any(one.trusted for one in known.values())
    assert "hush" not in repr(known)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "EVERGOLD_PROVIDERS__UNI__ISSUER",
            "http://login.example.edu",
            "providers, uni: issuer must begin with https://",
        ),
        ("EVERGOLD_PROVIDERS__UNI__ISSUER", "https://login.example.edu/?realm=hush", "uni: issuer must be an address"),
        ("EVERGOLD_PROVIDERS__UNI__ISSUER", "", "uni: issuer is missing"),
        ("EVERGOLD_PROVIDERS__UNI__CLIENT_ID", "", "uni: client_id is missing"),
        ("EVERGOLD_PROVIDERS__UNI__SECRET", HUSH, "EVERGOLD_PROVIDERS__UNI__SECRET: there is no such setting"),
        ("EVERGOLD_PROVIDERS__UNI__TRUSTED", "hush", "EVERGOLD_PROVIDERS__UNI__TRUSTED must be true or false."),
        ("EVERGOLD_PROVIDERS__UNI__KIND", "hush", "EVERGOLD_PROVIDERS__UNI__KIND must be one of "),
        ("EVERGOLD_PROVIDERS__A-B__CLIENT_ID", "hush", "a-b: a name must have 1 to 40 letters and digits"),
        ("EVERGOLD_BASE_URL", "", "set base_url together with providers"),
        ("EVERGOLD_SECOND_FACTOR", "hush", "must be one of optional, administrators, organisers."),
        ("EVERGOLD_PROVIDERS", "hush", "EVERGOLD_PROVIDERS itself takes no value: set EVERGOLD_PROVIDERS__<NAME>__"),
        ("EVERGOLD_PROVIDERS__UNI", "hush", "EVERGOLD_PROVIDERS__UNI must be a mapping"),
    ],
)
def test_what_is_wrong_is_said_without_its_value(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    with pytest.raises(InvalidSettings) as refused:
        settings(monkeypatch, **{variable: value})
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_provider_on_this_machine_needs_no_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    for issuer in ("http://127.0.0.1:9000", "http://localhost", "http://[::1]:1"):
        get_settings.cache_clear()
        assert settings(monkeypatch, EVERGOLD_PROVIDERS__UNI__ISSUER=issuer).providers["uni"].issuer == issuer


def test_somebody_must_be_able_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGOLD_PASSWORDS", "false")
    with pytest.raises(InvalidSettings, match="nobody could log in"):
        get_settings()
    get_settings.cache_clear()
    assert settings(monkeypatch).passwords is False
