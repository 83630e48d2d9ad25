"""The data directory and the port: what can prevent a start, each reported in one line."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.server import programs
from app.server.datadir import LOCK_NAME, ServeError, lock_data_dir, note_holder
from app.server.web import address_of, answers, is_private, listening
from tests.processes import short_folder


def test_second_server_on_the_same_data_is_refused_with_the_address_of_the_first(tmp_path: Path) -> None:
    with lock_data_dir(tmp_path / "var") as lock:
        note_holder(lock, "http://127.0.0.1:8321")
        with pytest.raises(ServeError) as caught, lock_data_dir(tmp_path / "var"):
            pass
    assert str(caught.value) == (
        f"A server already runs on {tmp_path / 'var'} (process {os.getpid()}, http://127.0.0.1:8321)."
    )


def test_lock_is_free_again_after_the_server(tmp_path: Path) -> None:
    for _ in range(2):
        with lock_data_dir(tmp_path / "var"):
            pass


def test_leftovers_of_a_killed_server_are_waited_for(tmp_path: Path) -> None:
    """The lock is held by somebody else than the process noted in it, which is dead: as after kill -9."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    path = tmp_path / LOCK_NAME
    holder_code = (
        f"import fcntl, time; f = open({str(path)!r}, 'a'); fcntl.flock(f, 2); print('held', flush=True); time.sleep(1)"
    )
    path.write_text(f'{{"process": {dead.pid}, "address": null}}')
    with subprocess.Popen([sys.executable, "-c", holder_code], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with lock_data_dir(tmp_path):
            assert holder.wait(60) == 0  # we came in only after it was gone


def test_data_dir_that_is_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("")
    said = r"^Cannot write to the data directory .*var: .*--data-dir\.$"
    with pytest.raises(ServeError, match=said), lock_data_dir(tmp_path / "var"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_data_dir_without_permission_is_explained(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ServeError, match="Permission denied"), lock_data_dir(tmp_path / "var"):
        pass


def test_taken_port_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ServeError) as caught, listening("127.0.0.1", port):
            pass
    assert str(caught.value).startswith(f"Port {port} on 127.0.0.1 is taken by another program")


@pytest.mark.parametrize("host", ["no such host", "x" * 70, "192.0.2.1"])
def test_impossible_host_is_explained(host: str) -> None:
    with pytest.raises(ServeError, match=f"^Cannot listen on {host}, port 8321: "), listening(host, 8321):
        pass


def test_free_port_is_found_and_named() -> None:
    with listening("127.0.0.1", 0) as listener:
        assert address_of("127.0.0.1", listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert not answers(listener)  # nobody serves it yet


def test_only_loopback_is_private() -> None:
    with listening("127.0.0.1", 0) as near, listening("::1", 0) as near_too:
        assert is_private(near)
        assert is_private(near_too)
    with socket.socket() as far:
        far.bind(("0.0.0.0", 0))  # noqa: S104 - bound for a moment, never listened on
        assert not is_private(far)


def test_address_for_all_interfaces_is_one_that_can_be_opened() -> None:
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert address_of("0.0.0.0", listener) == f"http://127.0.0.1:{port}"  # noqa: S104 - not bound
        assert address_of("::", listener) == f"http://[::1]:{port}"


# ----------------------------------------------------------------------------------------------------------- broker


def test_socket_lies_in_the_data_dir_when_its_path_is_short() -> None:
    with short_folder() as folder:
        assert programs.socket_path(folder) == folder / "broker" / "valkey.sock"


def test_long_path_gets_a_private_folder_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        deep = folder / ("x" * 100)
        path = programs.socket_path(deep)
        assert path
        assert len(str(path)) <= programs.SOCKET_PATH_BYTES
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert programs.socket_path(deep) == path


def test_folder_that_others_may_open_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        deep = folder / ("x" * 100)
        path = programs.socket_path(deep)
        assert path
        path.parent.chmod(0o755)
        assert programs.socket_path(deep) is None


def test_odd_characters_in_the_path_are_quoted() -> None:
    assert programs.broker_address(Path("/srv/a b%/é?.sock")) == "redis+socket:///srv/a%20b%25/%C3%A9%3F.sock"
