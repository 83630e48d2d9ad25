"""Two distributions from one checkout: what teams install (`evergold/pyproject.toml`), and the server."""

from __future__ import annotations

import tomllib
from typing import Any

from evergold.version import VERSION
from tests.processes import REPOSITORY

EVERGOLD = REPOSITORY / "evergold"


def project(path: str) -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / path).read_text(encoding="utf-8"))


def test_server_and_client_have_one_version() -> None:
    """Both read it from `evergold.version`, and the server takes no other client."""
    client, server = project("evergold/pyproject.toml"), project("pyproject.toml")
    for document in (client, server):
        assert document["project"]["dynamic"] == ["version"]
        assert document["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "evergold.version.VERSION"}
    assert server["project"]["dependencies"] == [f"evergold=={VERSION}"]


def test_every_folder_of_the_package_is_named_where_it_is_built() -> None:
    folders = {path.parent for path in EVERGOLD.rglob("__init__.py") if "build" not in path.parts}
    names = {".".join(folder.relative_to(REPOSITORY).parts) for folder in folders}
    assert set(project("evergold/pyproject.toml")["tool"]["setuptools"]["packages"]) == names


def test_both_have_the_same_licence() -> None:
    assert (EVERGOLD / "LICENSE").read_bytes() == (REPOSITORY / "LICENSE").read_bytes()
