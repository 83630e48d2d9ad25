"""The package that teams install works on Linux, macOS and Windows: its code uses nothing that only some
systems have.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evergold.client import credentials

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog")
#: Other people's packages first: they know their systems by themselves, some by trying.
IMPORT_ALL = """
import asyncio, importlib, pkgutil, sys
import httpx, numpy, pydantic, rich.progress, typer, yaml
for name in {names!r}:
    sys.modules[name] = None
import evergold
modules = [module.name for module in pkgutil.walk_packages(evergold.__path__, "evergold.")]
modules = [name for name in modules if not name.endswith("__main__")]
for name in modules:
    importlib.import_module(name)
print(len(modules))
"""


def test_everything_is_imported_without_modules_that_only_posix_has() -> None:
    """Plug-ins and the server are not on that path: where only `evergold` is installed, nothing joins."""
    hidden = "import importlib.metadata as m; m.entry_points = lambda **_: ()\n"
    command = [sys.executable, "-c", hidden + IMPORT_ALL.format(names=POSIX_ONLY)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 60


def test_the_check_would_notice(tmp_path: Path) -> None:
    code = "import sys; sys.modules['resource'] = None; import workers.confined"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "import of resource halted" in done.stderr


def test_credentials_lie_where_the_system_keeps_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("APPDATA", str(tmp_path / "Roaming"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert credentials.credentials_path() == tmp_path / ".config" / "evergold" / "credentials.json"
    monkeypatch.setattr("sys.platform", "win32")
    assert credentials.credentials_path() == tmp_path / "Roaming" / "evergold" / "credentials.json"
    credentials.store(credentials.Credentials("https://a.example.org", "evg_x", "ada"))
    assert credentials.load() == credentials.Credentials("https://a.example.org", "evg_x", "ada")


def test_no_module_of_the_package_names_a_posix_one() -> None:
    """Check the code inside functions, too, which importing does not run."""
    folder = Path(credentials.__file__).parents[1]
    wanted = tuple(f"{word} {name}" for name in POSIX_ONLY for word in ("import", "from"))
    lines = [
        f"{path.relative_to(folder)}: {line.strip()}"
        for path in folder.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(wanted)
    ]
    assert lines == []
