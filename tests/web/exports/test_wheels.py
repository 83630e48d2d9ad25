"""The wheel of the client comes from the server itself, and pip finds, checks and installs it from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.exports.client_wheel import client_wheel
from evergold.version import VERSION
from tests.distributions import PIP
from tests.web.site import BROWSER, Site


def test_pip_installs_the_wheel_by_the_page_of_links(site: Site, tmp_path: Path) -> None:
    """Install with no index, and against the hash in the link."""
    found = ("--no-deps", "--no-index", "--no-cache-dir", "--find-links", f"{site.url}/wheels/", f"evergold=={VERSION}")
    done = subprocess.run(  # noqa: S603 - pip of this environment
        [*PIP, "install", "--target", str(tmp_path), *found], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    code = "import evergold.version; print(evergold.version.VERSION, evergold.__file__)"
    told = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert told.stdout.split() == [VERSION, str(tmp_path / "evergold" / "__init__.py")], told.stderr


def test_a_wheel_is_sent_once_and_no_other_is_there(site: Site) -> None:
    wheel = client_wheel()
    with site.client(**BROWSER) as anybody:
        page = anybody.get("/wheels/")
        assert f'href="{wheel.filename}#sha256={wheel.sha256}"' in page.text
        assert f"pip install --find-links {site.url}/wheels/" in page.text
        sent = anybody.get(f"/wheels/{wheel.filename}")
        assert sent.content == wheel.content
        again = anybody.get(f"/wheels/{wheel.filename}", headers={"If-None-Match": sent.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        missing = anybody.get("/wheels/evergold-9.9.9-py3-none-any.whl")
        assert (missing.status_code, wheel.filename in missing.text) == (404, True)
