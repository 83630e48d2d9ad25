"""docs/running.md, "Three users on one host": the units, the settings and the nginx site are what this code has."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from app.base.config import Settings
from app.server.programs import WAYS_TO_GOLD
from evergold.cli.parts import whole
from tests.processes import REPOSITORY

GUIDE = (REPOSITORY / "docs/running.md").read_text()
SECTION = GUIDE[GUIDE.index("## Three users on one host") : GUIDE.index("## Behind a reverse proxy")]
UNITS = dict(re.findall(r"system/evergold-(\w+)\.service`:\n\n```ini\n(.*?)```", SECTION, re.DOTALL))
FILES = dict(re.findall(r"`/etc/evergold/(\w+)\.env`.*?```ini\n(.*?)```", SECTION, re.DOTALL))


def unit(name: str) -> dict[str, list[str]]:
    """The lines of its [Service], by key."""
    service = UNITS[name].split("[Service]\n")[1].split("\n[Install]")[0]
    lines = [line.partition("=") for line in service.splitlines() if line]
    return {key: [value for one, _, value in lines if one == key] for key, _, _ in lines}


def settings_in(name: str) -> dict[str, str]:
    parser = configparser.ConfigParser(delimiters="=", interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(f"[settings]\n{FILES[name]}")
    return {key: value.strip('"') for key, value in parser["settings"].items()}  # as systemd reads them


def test_each_part_runs_as_a_user_of_its_own_in_the_shared_group() -> None:
    assert set(UNITS) == {"web", "worker", "sweep"}
    users = [unit(name)["User"][0] for name in UNITS]
    assert users == [f"evergold-{name}" for name in UNITS]
    for name in UNITS:
        assert unit(name)["SupplementaryGroups"] == [settings_in("evergold")["EVERGOLD_FILES_GROUP"]]
        assert unit(name)["UMask"] == ["0077"]


@pytest.mark.parametrize("name", ["web", "worker", "sweep"])
def test_what_a_unit_starts_is_a_command_that_there_is(name: str) -> None:
    [line] = unit(name)["ExecStart"]
    words = shlex.split(line)[1:]
    commands = getattr(typer.main.get_command(whole()), "commands")  # noqa: B009 - its type says nothing of them
    assert words[0] == name
    options = {option for parameter in commands[name].params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_only_workers_are_told_where_gold_and_keys_lie() -> None:
    assert set(settings_in("worker")) >= WAYS_TO_GOLD
    assert not set(settings_in("evergold")) & WAYS_TO_GOLD
    with_gold = [name for name in UNITS if "/etc/evergold/worker.env" in unit(name)["EnvironmentFile"]]
    assert with_gold == ["worker"]


def test_the_shared_settings_are_settings_and_work_together() -> None:
    named: dict[str, Any] = {
        name.removeprefix("EVERGOLD_").lower(): value for name, value in settings_in("evergold").items()
    }
    assert set(named) <= set(Settings.model_fields)
    settings = Settings(**named)
    assert settings.secure_cookies


@pytest.mark.parametrize("name", sorted(FILES))
def test_shells_read_the_files_of_settings_as_systemd_does(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(FILES[name])
    read = ["bash", "-c", f"set -ae; . {tmp_path}/file; env --null"]
    told = subprocess.run(read, env={}, check=True, capture_output=True, text=True).stdout.split("\0")
    assert {f"{key}={value}" for key, value in settings_in(name).items()} <= set(told)


def test_commands_run_with_the_settings_that_their_user_may_read(tmp_path: Path) -> None:
    """Check the guide's function, with another folder of settings, and `sudo` and `evergold` that print their
    arguments.
    """
    [function] = re.findall(r"```bash\n(as\(\) .*?; \})\n", SECTION, re.DOTALL)
    (tmp_path / "evergold.env").write_text('ONE="a b"\n')
    (tmp_path / "evergold").write_text('#!/bin/sh\necho "$ONE: $*"\n')
    (tmp_path / "sudo").write_text('#!/bin/sh\necho "$2"\nshift 2\nexec "$@"\n')
    for name in ("evergold", "sudo"):
        (tmp_path / name).chmod(0o755)
    here = function.replace("/opt/evergold/bin", str(tmp_path)).replace(
        "/etc/evergold/*.env", f"{tmp_path}/evergold.env"
    )
    script = f"PATH={tmp_path}:$PATH\n{here}\nas web account create ada --admin"
    said = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == ["evergold-web", "a b: account create ada --admin"]


def test_the_proxy_passes_on_what_the_server_needs() -> None:
    [site] = re.findall(r"```nginx\n(.*?)```", SECTION, re.DOTALL)
    assert site.count("{") == site.count("}")
    assert "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;" in site
    assert "listen 443 ssl;" in site
    [limit] = re.findall(r"client_max_body_size (\d+)m;", site)
    assert int(limit) * 2**20 > Settings().upload_limit_bytes
