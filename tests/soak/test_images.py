"""Commands of docs/running.md, "In containers, step by step", run exactly as documented: images built from a checkout's
files, a whole server in Docker, nothing of it left behind. Without a Docker that responds, it is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.processes import REPOSITORY, wait_until

GUIDE = (REPOSITORY / "docs/running.md").read_text()
SECTION = GUIDE[GUIDE.index("## In containers, step by step") : GUIDE.index("## Several machines")]
SET_UP, CHANGED = re.findall(r"```bash\n(.*?)```", SECTION, re.DOTALL)
WEB, SECOND_WEB = "http://127.0.0.1:8321", "http://127.0.0.1:8322"
SETTINGS = ("STORAGE=s3", "S3_ACCESS_KEY_ID=somebody", "S3_SECRET_ACCESS_KEY=whoever")
#: Images are built from nothing, with all that they install.
BUILD_SECONDS = 1200

DOWN = "docker compose --profile bucket down --volumes"

Shell = Callable[[str], subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.soak, pytest.mark.services, pytest.mark.timeout(2 * BUILD_SECONDS)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Commands in a folder with what the repository has, for a project of Compose that is all gone afterwards."""
    if not shutil.which("docker") or subprocess.run(["docker", "compose", "ls"], capture_output=True).returncode != 0:
        pytest.skip("no Docker answers here")
    folder = tmp_path_factory.mktemp("images")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / name, folder / name)
    environment = os.environ | {"COMPOSE_PROJECT_NAME": f"evergold-test-{uuid.uuid4().hex[:8]}"}

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS
        )

    yield run
    gone = run(DOWN)
    assert gone.returncode == 0, gone.stderr


def test_the_guide_leads_from_a_checkout_to_a_server_whose_web_container_has_no_keys(shell: Shell) -> None:
    here = SET_UP.replace("sudo ", "" if os.geteuid() == 0 else "sudo ").replace(
        "docker compose exec web evergold account create",
        "echo correct horse 9 battery | docker compose exec -T web evergold account create --password-stdin",
    )
    done = shell(f"set -e\n{here}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Made key " in done.stdout
    assert "ada has an account, and is an administrator." in done.stdout
    wait_until(lambda: _is_ready(WEB), "every part is well", seconds=120)
    assert shell("docker compose exec -T web ls /srv/keys /srv/gold").returncode != 0
    assert shell("docker compose exec -T worker ls /srv/keys").stdout == "workers.key\n"
    changed = shell(f"set -e\n{CHANGED}")
    assert changed.returncode == 0, changed.stdout + changed.stderr
    assert "0 errors" in changed.stdout + changed.stderr


def test_with_a_bucket_two_of_each_share_no_folder_and_all_is_well(shell: Shell) -> None:
    """The demo's competition, whose baselines are stored before anything else."""
    done = shell(
        f"set -e\n{DOWN}\nprintf 'EVERGOLD_%s\\n' {' '.join(SETTINGS)} >> .env\ncp -r phases.yaml demo competitions/\n"
        "docker compose --profile bucket up -d --build"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for web in (WEB, SECOND_WEB):
        wait_until(lambda web=web: _is_ready(web), "every part is well", seconds=120)  # type: ignore[misc]
    checked = shell("docker compose run --rm web storage check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert re.search(r"^[1-9]\d* files named by the database, 0 other files", checked.stdout, re.MULTILINE)


def _is_ready(web: str) -> bool:
    try:
        return httpx.get(f"{web}/readyz").status_code == 200
    except httpx.TransportError:
        return False
