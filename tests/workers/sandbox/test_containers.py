"""Programs with an image, on a real Docker daemon and on Podman."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from app.base.config import get_settings
from app.base.db import reading, writing
from app.base.storage import storage_of, store_upload
from app.competitions.find import find_phase_task
from app.declarations.apply.apply import apply_phases
from app.declarations.check import load_competitions
from app.models import RunStatus, ScoreRow, User
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from tests import dockers, programs
from tests.processes import REPOSITORY, wait_until
from tests.sealed import make_key, seal_gold
from tests.workers.sandbox.conftest import LIMITS, MANY, Place
from tests.world import NOW, add_user, the_run
from workers.sandbox import Ended, Environment, Limits, Outcome, Program, SandboxUnavailable, run
from workers.sandbox.containers import PINNED
from workers.score import score_submission

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def docker() -> Iterator[str]:
    """The address of a daemon; images are an extra of a server, and so is this test."""
    with dockers.daemon() as address:
        if address is None:
            pytest.skip(dockers.ABSENT)
        before = os.environ.get("DOCKER_HOST")
        os.environ["DOCKER_HOST"] = address
        yield address
        os.environ.pop("DOCKER_HOST")
        if before is not None:
            os.environ["DOCKER_HOST"] = before


@pytest.fixture(scope="module")
def image(docker: str) -> Iterator[str]:
    with dockers.image("docker") as digest:
        yield digest


@pytest.fixture(scope="module")
def podman_image() -> Iterator[str]:
    if shutil.which("podman") is None:
        pytest.skip("no Podman here: install the package podman")
    with dockers.image("podman") as digest:
        yield digest


@dataclass(frozen=True, slots=True)
class Harbour:
    """A place whose programs run in an image."""

    place: Place
    program: str
    image: str

    def containers(self) -> list[str]:
        asked = [self.program, "ps", "--all", "--quiet", "--filter", "name=evergold-"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()

    def run(self, code: str, limits: Limits = LIMITS) -> Outcome:
        (self.place.program / "score.py").write_text(code)
        program = Program(self.place.program, ("python3", "$program/score.py", "$input", "$output"))
        return run(program, self.place.gold, self.place.submission, Environment(image=self.image), limits)


@pytest.fixture(params=["docker", "podman"])
def harbour(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harbour]:
    image = request.getfixturevalue("image" if request.param == "docker" else "podman_image")
    monkeypatch.setenv("EVERGOLD_SANDBOX_CONTAINERS", request.param)
    place = Place(tmp_path, tmp_path)
    place.write({"program/lib.py": "", "gold/gold.txt": "right\n", "submission/answer.txt": "right\n"})
    found = Harbour(place, request.param, image)
    yield found
    assert found.containers() == [], "nothing outlives its run"


def test_program_in_an_image_scores_as_elsewhere(harbour: Harbour) -> None:
    outcome = harbour.run("""
import json, os, sys
gold, answer = (open(sys.argv[1] + name).read() for name in ("/ref/gold.txt", "/res/answer.txt"))
json.dump({"accuracy": float(gold == answer)}, open(sys.argv[2] + "/scores.json", "w"))
print(os.getresuid(), os.getcwd(), sorted(os.listdir("/app")))
""")
    assert (outcome.ended, outcome.scores) == (Ended.FINISHED, b'{"accuracy": 1.0}'), outcome.stderr.decode()
    folders = ["input", "output", "program", "shared", "shm", "tmp"]
    assert outcome.stdout.decode() == f"(65534, 65534, 65534) /app/program {folders}\n"


def test_image_gives_no_rights_no_network_and_nothing_to_write_to(harbour: Harbour) -> None:
    outcome = harbour.run("""
import os, socket
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
print({value.strip() for name, value in status.items() if name.startswith("Cap")}, status["NoNewPrivs"].strip())
gold = "/app/input/ref/"
for path in ("/new", "/usr/new", "/etc/new", gold + "new", gold + "gold.txt", "/proc/sys/kernel/core_pattern"):
    try:
        os.close(os.open(path, os.O_WRONLY | (0 if os.path.exists(path) else os.O_CREAT)))
        print("opened", path)
    except OSError:
        pass
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
    print("connected")
except OSError as error:
    print(error.strerror)
print(sorted(os.listdir("/sys/class/net")))
""")
    assert outcome.stdout.decode().splitlines() == [
        f"{{'{'0' * 16}'}} 1",
        "Network is unreachable",
        "['lo']",
    ], outcome.stderr.decode()


def test_bounds_of_time_memory_processes_and_size_hold(harbour: Harbour) -> None:
    outcome = harbour.run("import time\nprint('began')\ntime.sleep(600)", replace(LIMITS, seconds=3.0))
    assert (outcome.ended, outcome.stdout) == (Ended.TOO_LATE, b"began\n")
    outcome = harbour.run("""
import os, time
for _ in range(5):
    if os.fork() == 0:
        held = b"x" * (90 << 20)
        time.sleep(60)
        os._exit(0)
while True:
    pid, status = os.wait()
    if status:
        raise SystemExit(9)
""")
    assert outcome.ended is Ended.TOO_MUCH_MEMORY, outcome
    outcome = harbour.run(MANY)
    assert outcome.stdout == b"15 Resource temporarily unavailable\n"
    outcome = harbour.run("open('/app/output/large', 'wb').write(bytes(20 << 20))")
    assert outcome.ended is Ended.TOO_MUCH_WRITTEN


def test_nothing_outlives_a_worker_that_is_killed(harbour: Harbour, tmp_path: Path) -> None:
    """The container notices that nobody holds its stdin any more."""
    (harbour.place.program / "score.py").write_text("import time\ntime.sleep(600)\n")
    script = tmp_path / "worker.py"
    place = harbour.place
    script.write_text(f"""
from pathlib import Path
from workers.sandbox import Environment, Limits, Program, run
program = Program(Path({str(place.program)!r}), ("python3", "score.py"))
run(program, Path({str(place.gold)!r}), Path({str(place.submission)!r}), Environment(image={harbour.image!r}), Limits())
""")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    worker = subprocess.Popen([sys.executable, script], cwd=REPOSITORY, env=environment)
    try:
        wait_until(harbour.containers, "the container runs")
    finally:
        worker.kill()
        worker.wait()
    wait_until(lambda: not harbour.containers(), "the container is gone")


#: Starts the strictest sandbox that works there, and runs a program that lists /proc.
WORKER = """
import sys
from pathlib import Path
from workers.sandbox import Environment, Limits, Program, SandboxUnavailable, find_backend, run
try:
    backend = find_backend()
except SandboxUnavailable as error:
    sys.exit(str(error))
folders = [Path("/tmp", name) for name in ("program", "gold", "submission")]
for folder in folders:
    folder.mkdir()
(folders[0] / "score.py").write_text("import os; print(os.path.exists('/proc/self'), os.getuid())")
program = Program(folders[0], ("python3", "score.py"))
outcome = run(program, *folders[1:], Environment(Path(sys.argv[1])), Limits(seconds=60))
print(backend.has_proc, backend.has_lock, outcome.ended, outcome.stdout.decode().strip(), outcome.detail)
"""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "No permissions to create new namespace"),
        (("seccomp=program-worker.seccomp.json",), "False False finished False 65534"),
        (("seccomp=program-worker.seccomp.json", "systempaths=unconfined"), "True True finished True 65534"),
    ],
)
def test_a_worker_in_a_container_has_a_sandbox_with_its_profile_alone(
    image: str, bare: Path, options: tuple[str, ...], said: str
) -> None:
    """Start a container as docker-compose.yml does, but with this machine's Python and code."""
    mounted = {"/usr", sys.base_prefix, str(REPOSITORY), str(bare.parent)}
    volumes = [part for path in sorted(mounted) for part in ("--volume", f"{path}:{path}:ro")]
    secured = [part for option in ("no-new-privileges", *options) for part in ("--security-opt", option)]
    restricted = ["--network=none", "--user=10001:10001", "--cap-drop=ALL", "--read-only", "--tmpfs=/tmp:mode=1777"]
    words = [sys.executable, "-c", WORKER, str(bare)]
    command = ["docker", "run", "--rm", *restricted, *secured, *volumes, "--workdir", str(REPOSITORY), image, *words]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert said in done.stdout + done.stderr, done.stdout + done.stderr


def test_image_must_be_pinned_and_here_and_docker_must_be_allowed(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SandboxUnavailable, match="has no digest"):
        replace(harbour, image="python:3.12").run("")
    with pytest.raises(SandboxUnavailable, match=f"is not on this machine: {harbour.program} pull"):
        replace(harbour, image=f"example/scorer@sha256:{'0' * 64}").run("")
    monkeypatch.setenv("EVERGOLD_SANDBOX_CONTAINERS", "none")
    with pytest.raises(SandboxUnavailable, match="EVERGOLD_SANDBOX_CONTAINERS"):
        harbour.run("")


@pytest.mark.parametrize(
    ("name", "is_pinned"),
    [
        (f"sha256:{'a' * 64}", True),
        (f"codalab/codalab-legacy@sha256:{'0' * 64}", True),
        (f"registry.example.org:5000/a/b:py37@sha256:{'0' * 64}", True),
        ("codalab/codalab-legacy:py37", False),
        (f"--privileged@sha256:{'0' * 63}", False),
        (f"a@sha256:{'0' * 64}\n--privileged", False),
    ],
)
def test_only_names_with_a_digest_are_pinned(name: str, is_pinned: bool) -> None:
    assert bool(PINNED.fullmatch(name)) is is_pinned


@pytest.mark.usefixtures("workplace")
def test_worker_scores_a_submission_by_a_program_in_an_image(
    engine: Engine, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Declared, gold sealed for it, submitted, scored, and signed with the image's digest."""
    folder, gold, ada = tmp_path / "forms", tmp_path / "ref", add_user(engine, "ada")
    gold.mkdir()
    (gold / "gold.csv").write_text(programs.GOLD)
    loaded = load_competitions(programs.write_competition(folder, programs.document(image=image)))
    with writing(engine) as session:
        apply_phases(session, loaded, storage=storage_of(get_settings()), now=NOW)
    make_key(engine)
    seal_gold(engine, gold, places=(f"{programs.COMPETITION}/{programs.PHASE}/{programs.TASK}",))

    waiting = _sent(engine, ada, programs.GOOD)
    monkeypatch.setenv("EVERGOLD_SANDBOX_CONTAINERS", "none")
    score_submission(waiting)
    found = the_run(engine, waiting)
    assert (found.status, found.attempts) == (RunStatus.QUEUED, 0)
    assert "programs with an image need Docker or Podman" in (found.failure or "")

    monkeypatch.setenv("EVERGOLD_SANDBOX_CONTAINERS", "docker")
    score_submission(waiting)
    found = the_run(engine, waiting)
    assert found.status == RunStatus.SCORED, found.failure
    with reading(engine) as session:
        rows = session.scalars(select(ScoreRow).where(ScoreRow.run_id == waiting)).all()
    assert {row.metric: row.value for row in rows} == {"accuracy": 0.75, "covered": 4.0, "both": 2.375}
    digest = image.removeprefix("sha256:")[:12]
    assert {f"|image:{digest}|" in row.signature for row in rows} == {True}, rows[0].signature

    crashing = _sent(engine, ada, programs.answers("crash"))
    score_submission(crashing)
    assert the_run(engine, crashing).status == RunStatus.REJECTED


def _sent(engine: Engine, user: User, content: str) -> int:
    stored = store_upload([content.encode()], storage_of(get_settings()), limit_bytes=len(content))
    with writing(engine) as session:
        asked = find_phase_task(session, programs.COMPETITION, programs.PHASE, programs.TASK)
        sender = Sender(session.merge(user), NOW)
        return accept_submission(session, asked, stored, sender, SubmissionForm(filename="answers.csv")).run_id
