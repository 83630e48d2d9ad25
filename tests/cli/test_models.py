"""`evergold models`: a model is fetched whole, pinned, with only what scoring reads; faults are reported in words."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evergold.cli.output import Code
from evergold.scoring.bertscore.models import find_model
from tests.hub import COMMIT, Hub, hub
from tests.processes import REPOSITORY
from tests.services import environment_of

pytest.importorskip("huggingface_hub", reason="models are fetched where the extra 'bertscore' is installed")

FILES = {
    "config.json": b'{"model_type": "bert", "num_hidden_layers": 2}',
    "tokenizer_config.json": b"{}",
    "vocab.txt": b"[PAD]\n[UNK]\n",
    "model.safetensors": b"weights, so to say",
    "pytorch_model.bin": b"a pickle",
    "run.py": b"print('code')",
    "README.md": b"# A model",
}
WANTED = {"config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"}
PICKLE_ONLY = {name: content for name, content in FILES.items() if name != "model.safetensors"}

Evergold = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server() -> Iterator[Hub]:
    with hub({"bert-tiny": FILES, "makers/bert-tiny": FILES, "makers/old": PICKLE_ONLY}) as running:
        yield running


@pytest.fixture
def evergold(server: Hub, tmp_path: Path) -> Evergold:
    """The command line in a process of its own, since the library reads its settings when it is imported."""

    def command(*arguments: str, **more: str) -> tuple[int, str, str]:
        environment = environment_of(data_dir=tmp_path / "var", models_dir=tmp_path / "models")
        environment |= {"HF_ENDPOINT": server.address, "HF_HOME": str(tmp_path / "hf"), **more}
        environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        for name in ("HF_HUB_OFFLINE", "HF_TOKEN"):
            environment[name] = more.get(name, "")  # a test before may have loaded an encoder, which says offline
        done = subprocess.run(
            [sys.executable, "-P", "-m", "evergold.cli", "models", *arguments],
            env=environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return command


def test_a_model_is_fetched_with_its_revision_and_without_pickles_or_code(
    evergold: Evergold, server: Hub, tmp_path: Path
) -> None:
    code, out, err = evergold("fetch", "makers/bert-tiny")
    assert (code, err) == (Code.OK, "")
    assert f"revision {COMMIT} of makers/bert-tiny" in out
    folder = tmp_path / "models" / "makers" / "bert-tiny"
    assert {path.name for path in folder.iterdir()} == WANTED | {"evergold.json"}
    origin = json.loads((folder / "evergold.json").read_text())
    assert (origin["repository"], origin["revision"]) == ("makers/bert-tiny", COMMIT)
    assert origin["weights"] == hashlib.sha256(FILES["model.safetensors"]).hexdigest()
    assert find_model("makers/bert-tiny", tmp_path / "models").weights == origin["weights"]
    assert not any("pickle" in path or "run.py" in path for path in server.asked)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["makers"], "nothing half-done is left"


def test_a_revision_can_be_pinned_and_the_name_be_another_than_the_repository_s(
    evergold: Evergold, tmp_path: Path
) -> None:
    code, out, _ = evergold("fetch", "small", "--from", "makers/bert-tiny", "--revision", "v1", "--json")
    assert code == Code.OK
    assert json.loads(out)["revision"] == COMMIT
    assert (tmp_path / "models/small/config.json").is_file()
    _, listed, _ = evergold("list", "--json")
    found = {model["name"]: model for model in json.loads(listed)["models"]}
    assert (found["small"]["repository"], found["small"]["revision"]) == ("makers/bert-tiny", COMMIT)


def test_the_same_revision_is_not_fetched_twice(evergold: Evergold, server: Hub) -> None:
    evergold("fetch", "bert-tiny")
    server.asked.clear()
    assert evergold("fetch", "bert-tiny")[0] == Code.OK
    assert [path for path in server.asked if "resolve" in path] == []


def test_a_model_that_was_there_before_is_replaced_as_a_whole(evergold: Evergold, tmp_path: Path) -> None:
    old = tmp_path / "models" / "bert-tiny"
    old.mkdir(parents=True)
    (old / "config.json").write_text("{}")
    (old / "old.safetensors").write_text("old")
    assert evergold("fetch", "bert-tiny")[0] == Code.OK
    assert {path.name for path in old.iterdir()} == WANTED | {"evergold.json"}


@pytest.mark.parametrize(
    ("arguments", "more", "code", "words"),
    [
        (["nobody/nothing"], {}, Code.ERROR, "The hub has no model 'nobody/nothing', or shows it only to those with"),
        (["bert-tiny", "--revision", "v9"], {}, Code.ERROR, "'bert-tiny' has no revision 'v9'."),
        (["makers/old"], {}, Code.ERROR, "holds config.json and *.safetensors (a pickle is not read)"),
        (["../../etc"], {}, Code.ERROR, "'../../etc' is not a name of a model."),
        (["bert-tiny"], {"HF_HUB_OFFLINE": "1"}, Code.ERROR, "HF_HUB_OFFLINE is set"),
        (["bert-tiny"], {"HF_ENDPOINT": "http://127.0.0.1:9"}, Code.NETWORK, "cannot be reached from here"),
    ],
    ids=["no such model", "no such revision", "only a pickle", "no name", "offline", "no network"],
)
def test_what_went_wrong_is_said_and_nothing_is_left(
    evergold: Evergold, tmp_path: Path, arguments: list[str], more: dict[str, str], code: Code, words: str
) -> None:
    exit_code, out, err = evergold("fetch", *arguments, **more)
    assert (exit_code, out) == (code, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "models").exists() or not any((tmp_path / "models").iterdir())


def test_without_the_library_it_says_what_to_install(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['huggingface_hub'] = None\n")
    code, _, err = evergold("fetch", "bert-tiny", PYTHONPATH=os.pathsep.join([str(REPOSITORY), str(tmp_path)]))
    assert code == Code.ERROR
    assert "pip install 'evergold[bertscore]'" in err


def test_a_folder_that_is_no_model_is_listed_with_what_is_wrong(evergold: Evergold, tmp_path: Path) -> None:
    (tmp_path / "models" / "half").mkdir(parents=True)
    (tmp_path / "models" / "half" / "config.json").write_text("{}")
    code, out, _ = evergold("list")
    assert code == Code.OK
    [line] = [line for line in out.splitlines() if line.startswith("half")]
    assert "*.safetensors" in line
