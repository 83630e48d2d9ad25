"""`evergold gold …`, from the first key to the proof that gold was never exchanged; the workers' side as a process."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.base.config import get_settings
from app.base.db import get_engine
from evergold.cli import run
from evergold.cli.output import Code
from tests.sealed import PLACE, files_with
from tests.workers.files import GOLD, upload
from tests.world import add_competition, add_user, the_run
from workers import gold, gold_commands
from workers.score import score_submission

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evergold(
    sqlite_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Evergold]:
    """Run `evergold …` with a server with one competition; return exit code, stdout, stderr, also of child
    processes.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    get_settings.cache_clear()
    add_competition(sqlite_engine, per_day=None)

    def evergold(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err, captured.err
        return code, captured.out, captured.err

    yield evergold
    get_engine(get_settings().database_address).dispose()


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' side without a process of its own, which takes seconds to start; one test has the real thing."""

    def called(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        module = command.index("workers.gold_commands")
        return subprocess.CompletedProcess(command, gold_commands.main(command[module + 1 :]))

    monkeypatch.setattr("app.cli.gold.subprocess.run", called)
    gold._cache.clear()


quick = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    path = tmp_path / "gold.csv"
    path.write_text(GOLD.replace("d1", "CANARY-9"))
    return path


def test_from_the_first_key_to_the_proof(
    evergold: Evergold, sqlite_engine: Engine, gold_file: Path, tmp_path: Path
) -> None:
    code, out, _ = evergold("gold", "keygen")
    assert code == Code.OK
    assert "Store a copy in a safe place" in out
    key_file = get_settings().data_dir / "keys" / "workers.key"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600

    code, out, _ = evergold("gold", "put", PLACE, gold_file)
    assert code == Code.OK
    commitment = re.search(r"gold version 1, commitment ([0-9a-f]{64}) \(in use\)", out)
    assert commitment is not None

    run_id = upload(sqlite_engine, add_user(sqlite_engine, "ada"))
    score_submission(run_id)
    assert the_run(sqlite_engine, run_id).status == "scored"

    code, out, _ = evergold("gold", "check")
    assert (code, out.splitlines()[-1]) == (Code.OK, "0 problems.")
    assert f"ok       {PLACE}: gold version 1" in out

    code, out, err = evergold("gold", "reveal", PLACE, "--write", "published.csv")
    assert code == Code.OK, err
    assert commitment[1] in out
    assert Path("published.csv").read_bytes() == gold_file.read_bytes()
    assert stat.S_IMODE(Path("published.csv").stat().st_mode) == 0o600
    one_liner = out.splitlines()[-1].strip()
    assert one_liner.startswith("python3 -c ")
    proved = subprocess.run(["bash", "-c", one_liner], capture_output=True, text=True, check=True)
    assert proved.stdout.strip() == commitment[1]

    salt = re.search(r"^salt +([0-9a-f]{64})$", out, re.MULTILINE)
    assert salt is not None
    assert evergold("gold", "verify", commitment[1], salt[1], "published.csv")[0] == Code.OK
    Path("published.csv").write_bytes(gold_file.read_bytes() + b"\n")
    code, _, err = evergold("gold", "verify", commitment[1], salt[1], "published.csv")
    assert code == Code.REJECTED
    assert "does not match the commitment" in err
    assert files_with(get_settings().data_dir, b"CANARY-9") == []


@quick
def test_rotation_from_the_command_line(evergold: Evergold, gold_file: Path) -> None:
    evergold("gold", "keygen")
    evergold("gold", "put", PLACE, gold_file)
    assert "already" in evergold("gold", "rotate")[1]
    assert "Copy the file to every worker" in evergold("gold", "keygen")[1]
    code, out, _ = evergold("gold", "rotate")
    assert code == Code.OK
    assert "1 sealed files are now sealed for" in out
    assert "workers.key.retired" in out
    assert evergold("gold", "check")[0] == Code.OK


@quick
def test_a_folder_is_put_as_it_is_and_proved_as_it_is(evergold: Evergold, tmp_path: Path) -> None:
    for language in ("FR", "EN"):
        (tmp_path / "gold" / language).mkdir(parents=True)
        (tmp_path / "gold" / language / "test.cupt").write_text(f"# {language}")
    evergold("gold", "keygen")
    evergold("gold", "put", PLACE, tmp_path / "gold")
    _, out, _ = evergold("gold", "reveal", PLACE, "--write", "published.tar")
    commitment, salt = (
        re.findall(rf"^{word} +([0-9a-f]{{64}})$", out, re.MULTILINE)[0] for word in ("commitment", "salt")
    )
    (tmp_path / "again").mkdir()
    with tarfile.open("published.tar") as archive:
        archive.extractall("again", filter="data")
    assert evergold("gold", "verify", commitment, salt, "again")[0] == Code.OK, "times and order do not matter"
    (tmp_path / "again" / "FR" / "test.cupt").rename(tmp_path / "again" / "FR" / "dev.cupt")
    assert evergold("gold", "verify", commitment, salt, "again")[0] == Code.REJECTED, "names do"


@quick
def test_versions_are_listed_and_published(evergold: Evergold, gold_file: Path) -> None:
    evergold("gold", "keygen")
    evergold("gold", "put", PLACE, gold_file)
    code, out, _ = evergold("gold", "put", PLACE, gold_file)
    assert "not in use yet: evergold gold publish" in out
    document = json.loads(evergold("gold", "list", "--json")[1])
    assert [(one["version"], one["in_use_since"] is not None) for one in document["versions"]] == [
        (1, True),
        (2, False),
    ]
    assert document["versions"][0]["commitment"] != document["versions"][1]["commitment"], "of the same content"
    code, out, err = evergold("gold", "publish", PLACE, 2)
    assert (code, out) == (Code.OK, f"{PLACE}: gold version 2 is in use.\n")
    assert "until they are rescored" in err
    heading = "Place\tVersion\tUploaded (UTC)\tCheck\tIn use since\tBytes\tFile\tCommitment\n"
    for other in ("nothing", PLACE.split("/")[0][:-1]):  # the beginning of a name may be another one's name
        assert evergold("gold", "list", other)[1] == heading
    first = evergold("gold", "list", PLACE)[1].splitlines()[1].split("\t")
    commitment = document["versions"][0]["commitment"]
    assert first[:2] + first[6:] == [PLACE, "1", gold_file.name, commitment]


@quick
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("put", PLACE, "gold.csv"), Code.ERROR, "evergold gold keygen"),
        (("put", PLACE, "nowhere.csv"), Code.ERROR, "There is no nowhere.csv"),
        (("put", "idioms", "gold.csv"), Code.USAGE, "COMPETITION/PHASE/TASK"),
        (("put", "idioms/none/detection", "gold.csv"), Code.ERROR, "no phase 'none'"),
        (("put", PLACE, "gold.csv", "--also", "none"), Code.ERROR, "no phase 'none'"),
        (("publish", PLACE, "7"), Code.ERROR, "There is no gold version 7"),
        (("reveal", PLACE), Code.ERROR, "There is no sealed gold"),
        (("reveal", "idioms"), Code.ERROR, "COMPETITION/PHASE/TASK"),
        (("rotate",), Code.ERROR, "none of the keys in use"),
        (("verify", "0" * 64, "salt", "gold.csv"), Code.USAGE, "hexadecimal"),
    ],
)
def test_mistakes_are_said_in_words(
    evergold: Evergold, gold_file: Path, arguments: tuple[str, ...], code: Code, words: str
) -> None:
    found = evergold("gold", *arguments)
    assert found[0] == code
    assert words in found[2]
    assert not list((get_settings().data_dir).rglob("sealed/**/*.*"))


@quick
def test_check_says_everything_that_is_wrong(evergold: Evergold, gold_file: Path) -> None:
    evergold("gold", "keygen")
    evergold("gold", "put", PLACE, gold_file)
    key_file = get_settings().data_dir / "keys" / "workers.key"
    key_file.chmod(0o644)
    sealed = next(path for path in get_settings().sealed_dir.rglob("*") if path.is_file())
    sealed.write_bytes(sealed.read_bytes()[:-1])
    gold._cache.clear()  # what a process of its own does not have
    code, out, _ = evergold("gold", "check")
    assert code == Code.ERROR
    assert "others may read it" in out
    assert f"PROBLEM  {PLACE}: gold version 1: the sealed file is corrupt or was tampered with" in out
    key_file.unlink()
    out = evergold("gold", "check")[1]
    assert "not in this worker's key file" in out
    assert "this worker has no key" in out


@quick
def test_plain_gold_is_checked_too(evergold: Evergold) -> None:
    code, out, _ = evergold("gold", "check")
    assert code == Code.ERROR
    assert f"PROBLEM  {PLACE}: plain gold gold.csv: gold 'gold.csv' is not in this worker's gold folder" in out
    folder = get_settings().data_dir / "gold"
    folder.mkdir(parents=True)
    (folder / "gold.csv").write_text(GOLD)
    assert evergold("gold", "check")[0] == Code.OK


@quick
def test_nothing_of_a_private_key_is_ever_printed(evergold: Evergold, gold_file: Path) -> None:
    said = ""
    for arguments in (("keygen",), ("keygen",), ("put", PLACE, gold_file), ("rotate",), ("check",), ("reveal", PLACE)):
        said += "".join(map(str, evergold("gold", *arguments)))
    for path in (get_settings().data_dir / "keys").iterdir():
        for line in path.read_text().splitlines():
            assert line.startswith("#") or line.split()[-1] not in said
    assert os.environ.get("EVERGOLD_GOLD_KEY_FILE") is None
