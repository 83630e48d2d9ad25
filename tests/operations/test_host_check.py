"""Findings about a machine: what holds, what is broken, and what only root can find out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.operations.host_check import Answer, Places, Users, check_host

#: Somebody who has no account here.
STRANGER = 54_321
EVERGOLD = Path(sys.executable).with_name("evergold")


def places_in(folder: Path) -> Places:
    named = {name: folder / name for name in ("storage", "sealed", "mail", "key", "gold", "vectors")}
    return Places(database=None, **named)


def answers(users: Users, places: Places) -> dict[str, tuple[Answer, str]]:
    return {one.promise: (one.answer, one.advice) for one in check_host(users, places, EVERGOLD)}


def test_what_is_not_there_is_read_by_nobody(tmp_path: Path) -> None:
    me = os.geteuid()
    found = answers(Users(me, me, me, me), places_in(tmp_path))
    assert found["web cannot read plain gold"] == (Answer.HOLDS, f"there is no {tmp_path / 'gold'} now")
    assert not [promise for promise in found if " can st" in promise], "nothing to be stored to"


def test_a_worker_without_a_key_is_broken_for_it_could_open_no_gold(tmp_path: Path) -> None:
    me = os.geteuid()
    places = places_in(tmp_path)
    missing = answers(Users(me, me, me, me), places)["worker can read its key"]
    assert missing == (Answer.BROKEN, f"there is no {places.key}: `evergold gold keygen`, as the worker's user")
    places.key.write_text("key")
    assert answers(Users(me, me, me, me), places)["worker can read its key"][0] is Answer.HOLDS


def test_who_cannot_run_the_command_at_all_is_named(tmp_path: Path) -> None:
    me = os.geteuid()
    closed = tmp_path / "evergold"
    closed.write_text("#!/bin/sh\nexit 0\n")
    closed.chmod(0o700 if me == 0 else 0o600)
    user = STRANGER if me == 0 else me
    found = {one.promise: one for one in check_host(Users(user, me, user, user), places_in(tmp_path), closed)}
    assert found["web can run `evergold`"].answer is Answer.BROKEN
    assert str(closed) in found["web can run `evergold`"].advice
    expected = Answer.HOLDS if me == 0 else Answer.BROKEN
    assert found["worker can run `evergold`"].answer is expected


def test_the_command_itself_runs_for_who_installed_it(tmp_path: Path) -> None:
    me = os.geteuid()
    assert answers(Users(me, me, me, me), places_in(tmp_path))["sweep can run `evergold`"][0] is Answer.HOLDS


def test_what_the_wrong_one_reads_is_broken_and_what_the_right_one_cannot_write_too(tmp_path: Path) -> None:
    me = os.geteuid()
    places = places_in(tmp_path)
    places.gold.write_text("gold")
    places.storage.mkdir(mode=0o500)
    one = STRANGER if me == 0 else me
    found = answers(Users(web=one, worker=one, sweep=one, other=me), places)
    assert found["other users of this machine cannot read plain gold"][0] is Answer.BROKEN
    stored = found["web can store uploads"]
    assert stored == (Answer.BROKEN, f"{places.storage}: see EVERGOLD_FILES_GROUP, and the folders above it")
    assert found["web and worker run as different users"][0] is Answer.BROKEN


def test_what_only_root_could_try_is_unknown_whether_it_is_there_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = places_in(tmp_path)
    places.storage.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    users = Users(web=STRANGER + 1, worker=STRANGER + 2, sweep=STRANGER + 3, other=STRANGER + 4)
    unknown = (Answer.UNKNOWN, "run this as root")
    found = answers(users, places)
    for promise in ("web cannot read plain gold", "other users of this machine cannot read uploads"):
        assert found[promise] == unknown, promise
    assert found["web can store uploads"] == unknown
