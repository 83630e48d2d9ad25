"""`evergold login`: a token is made for somebody who knows the password, and the owner of a given one is looked up."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.output import Code
from evergold.client import credentials
from tests.web.site import PASSWORD, Site, log_in


def test_who_logs_in_by_password_or_by_token_is_kept_with_the_server(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with log_in(site, "ada"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
        assert run(["login", "--server", site.url, "--username", "ada", "--password-stdin"]) == Code.OK
    kept = credentials.load()
    assert kept is not None
    assert (kept.server, kept.username, kept.token_id is not None) == (site.url, "ada", True)
    credentials.forget()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{kept.token}\n"))
    assert run(["login", "--server", site.url, "--token-stdin"]) == Code.OK
    assert credentials.load() == credentials.Credentials(site.url, kept.token, "ada")
