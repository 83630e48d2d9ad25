"""Settings that may change while the server runs: what each takes, and which addresses may be registered."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.base.live_settings import FRONT_CHARACTERS, MOST_FEATURED, SERVER_NAME_CHARACTERS, LiveSettings


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("contact", "", ""),
        ("contact", "help@example.org", "help@example.org"),
        ("contact", "https://example.org/help", "https://example.org/help"),
        ("contact", "http://example.org/help", "http://example.org/help"),
        ("mail_domains", " @Uni.Example,lab.example, uni.example ", "uni.example, lab.example"),
        ("server_name", "  Scores of\n Example ", "Scores of Example"),
        ("server_name", "x" * SERVER_NAME_CHARACTERS, "x" * SERVER_NAME_CHARACTERS),
        ("accent", " ", ""),
        ("accent", "#00338D", "#00338d"),
        ("front_text", "x" * FRONT_CHARACTERS, "x" * FRONT_CHARACTERS),
        ("featured", "demo,\nother, demo", "demo, other"),
    ],
)
def test_what_is_right_is_kept_in_one_form(name: str, given: Any, kept: Any) -> None:
    assert getattr(LiveSettings(**{name: given}), name) == kept


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("contact", "somewhere"),
        ("contact", "ftp://example.org"),
        ("banned_domains", "uni.example, b@d"),
        ("server_name", " "),
        ("server_name", "x" * (SERVER_NAME_CHARACTERS + 1)),
        ("accent", "navy"),
        ("accent", "#ffcc00"),
        ("accent_dark", "#001133"),
        ("front_text", "x" * (FRONT_CHARACTERS + 1)),
        ("front_text", "a\0b"),
        ("featured", ",".join(map(str, range(MOST_FEATURED + 1)))),
        ("featured", "x" * 101),
        ("questions_per_hour", -1),
    ],
)
def test_what_is_wrong_is_refused(name: str, given: Any) -> None:
    with pytest.raises(ValidationError):
        LiveSettings(**{name: given})


@pytest.mark.parametrize(
    ("email", "sentence"),
    [
        ("a@uni.example", ""),
        ("a@Cs.Uni.Example", ""),
        ("a@notuni.example", "This server takes addresses of uni.example only."),
        ("a@spam.uni.example", "This server takes no addresses of this domain."),
        ("a@x.spam.uni.example", "This server takes no addresses of this domain."),
    ],
)
def test_an_address_is_refused_for_its_domain(email: str, sentence: str) -> None:
    settings = LiveSettings(mail_domains="uni.example", banned_domains="spam.uni.example")
    assert settings.refusal_of(email) == sentence
    assert LiveSettings().refusal_of(email) == ""
