"""Self-check of a worker: a golden submission must get the recorded scores here, or this machine takes no BERTScore
runs.

For the encoder in a package, the scores come with this code (`workers/data/recorded`; upstream's bert-score printed the
same). For others, `evergold selfcheck --record` records them once, and every machine is compared with the record. It
runs in a separate process (`python -m workers.selfcheck`): torch must not be loaded in a process that forks, and may
hang.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.base.config import get_settings
from app.base.stores.s3_settings import KEYS
from app.models import SelfCheck
from evergold.scoring.bertscore.encoders import load_encoder
from evergold.scoring.bertscore.models import (
    EncoderSettings,
    ModelFiles,
    encoding_with,
    find_model,
    list_models,
    usual_layer,
)
from evergold.scoring.bertscore.reference import PACKAGE, load_reference, reference_scores, reference_version
from evergold.scoring.bertscore.scores import PairScores, embed, match, weigh
from evergold.scoring.errors import ScoringError
from evergold.scoring.paraphrase.options import Options
from evergold.scoring.tasks.mwe_paraphrase import TASK
from workers.device import encoder_settings, go_offline, models_folder, versions
from workers.settings import settings_of

_PAIRS = Path(__file__).parent / "data" / "demo_pairs.json"


@dataclass(frozen=True)
class Comparison:
    """The largest differences in F1 between our BERTScore and the package's, with one encoder.

    difference: with our default, for which scores do not depend on other pairs.
    in_its_batches: with `compatibility: upstream-64`, where only rounding may differ.
    """

    model: str
    package: str
    pairs: int
    difference: float
    in_its_batches: float


def compare_models(
    names: Sequence[str], settings: EncoderSettings, tolerance: float
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """Compare every model; return the comparisons, and a sentence for each model that fails or differs beyond rounding.

    A difference does not stop a worker from taking runs: the self-check compares our own implementation with recorded
    scores.
    """
    done, words = list[Comparison](), list[str]()
    for name in names:
        try:
            layer = usual_layer(name, find_model(name, settings.models_dir))
            compared = compare_with_package(name, layer, settings)
        except ScoringError as error:
            words.append(f"{name} was not compared with {PACKAGE}: {error}.")
            continue
        done.append(compared)
        if compared.in_its_batches > tolerance:
            words.append(
                f"{name}: {compared.package} differs by {compared.in_its_batches:.7f} in its own batches, too."
            )
    return tuple(done), tuple(words)


def compare_with_package(name: str, layer: int, settings: EncoderSettings) -> Comparison:
    """Return the comparison over all pairs. Raises MissingPackage without bert-score, and the errors of loading a
    model.
    """
    candidates, references = map(list, zip(*read_pairs(), strict=True))
    expected = reference_scores(load_reference(name, layer, settings), candidates, references)
    encoder = load_encoder(name, layer, "fp32", settings)
    weighted = weigh(encoder, embed(encoder, references, candidates))
    alone, together = match(weighted, candidates, references), match(weighted, candidates, references, "upstream-64")
    package = f"{PACKAGE} {reference_version()}"
    return Comparison(name, package, len(candidates), _largest(alone, expected), _largest(together, expected))


def read_pairs() -> list[tuple[str, str]]:
    """Return the candidate and reference of every pair."""
    return [(candidate, reference) for candidate, reference in json.loads(_PAIRS.read_text(encoding="utf-8"))]


def _largest(ours: PairScores, expected: PairScores) -> float:
    return float(np.abs(ours.f1 - expected.f1).max())


#: float32 scores agree on all processors and GPUs to about 1e-6.
TOLERANCE = 1e-5
LIMIT_SECONDS = 900.0
_DATA = Path(__file__).parent / "data"
#: One of the golden paraphrases is its own reference, which scores 1 with every encoder.
_SURE = "bertscore all/type/AdjID"


class RecordSettings(BaseSettings):
    """The location of records; read by workers only."""

    model_config = SettingsConfigDict(env_prefix="EVERGOLD_", env_ignore_empty=True)

    selfcheck_dir: Path | None = Field(
        None, description="folder of recorded scores of encoders; default: data_dir/selfcheck"
    )


@dataclass(frozen=True)
class Record:
    """The scores of the golden submission with an encoder: `metric split` -> value, None if undefined."""

    model: str
    layer: int
    weights: str
    config: str
    tokenizer: str
    scores: dict[str, float | None]
    recorded_at: str = ""
    recorded_with: str = ""


@dataclass(frozen=True)
class SelfCheckReport:
    """The result of a machine's self-check.

    words: one sentence per finding.
    device, models: of the machine.
    comparisons: the differences between its BERTScores and the package's.
    """

    state: SelfCheck
    words: tuple[str, ...] = ()
    device: str | None = None
    models: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = ()


class CannotRecord(Exception):
    """The new record would contradict an existing one, or has wrong scores."""


# ------------------------------------------------------------------------------------------------------------- check


def check_machine() -> SelfCheckReport:
    """Compare every model on this machine with its record; errors of the machine are part of the report, not raised."""
    models: tuple[str, ...] = ()
    try:
        models = tuple(list_models(models_folder()))
        settings = encoder_settings()
    except ScoringError as error:
        return SelfCheckReport(SelfCheck.REFUSED, (f"{error}.",), None, models)
    if not models:
        where = f"no model of an encoder is in {settings.models_dir}: `evergold models fetch` brings one."
        return SelfCheckReport(SelfCheck.REFUSED, (where,), settings.device, models)
    differences = [sentence for name in models for sentence in _differences_of(name, settings)]
    if differences:
        return SelfCheckReport(SelfCheck.REFUSED, tuple(differences), settings.device, models)
    unknown = [
        f"{name} was never recorded: run `evergold selfcheck --record`." for name in models if find_record(name) is None
    ]
    state = SelfCheck.UNRECORDED if unknown else SelfCheck.PASSED
    comparisons, apart = compare_models(models, settings, TOLERANCE)
    return SelfCheckReport(state, (*unknown, *apart), settings.device, models, comparisons)


def _differences_of(name: str, settings: EncoderSettings) -> list[str]:
    record = find_record(name)
    if record is None:
        return []
    try:
        files = find_model(name, settings.models_dir)
        # Differing files first: their scores would differ, too, but explain less.
        return list(_other_files(record, files)) or list(differences(record, measure(name, files, settings).scores))
    except ScoringError as error:
        return [f"{error}."]


def _other_files(record: Record, files: ModelFiles) -> Iterator[str]:
    for part in ("weights", "config", "tokenizer"):
        recorded, here = getattr(record, part), getattr(files, part)
        if recorded != here:
            yield f"{record.model}: other {part} (sha256 {here[:12]}) than was recorded ({recorded[:12]})."


def differences(record: Record, scores: Mapping[str, float | None]) -> Iterator[str]:
    """Yield a sentence for each score that differs from the record."""
    for name in [*record.scores, *(name for name in scores if name not in record.scores)]:
        recorded, here = record.scores.get(name), scores.get(name)
        same = here is recorded is None or (
            here is not None and recorded is not None and abs(here - recorded) <= TOLERANCE
        )
        if not same:
            yield f"{record.model}: {name} is {_written(here)}, and {_written(recorded)} was recorded."


def measure(name: str, files: ModelFiles, settings: EncoderSettings) -> Record:
    """Return the scores of the golden submission on this machine with the model's default layer, without cached
    vectors.
    """
    layer = usual_layer(name, files)
    options = Options(model=name, layer=layer)
    with encoding_with(replace(settings, vectors_dir=None, memory_bytes=0)):
        gold = TASK.read_gold(_DATA / "gold.json", options)
        prediction = TASK.read_prediction(_DATA / "prediction.json", TASK.items_of(gold, options), options)
        scores = {f"{one.metric} {one.split}": one.value for one in TASK.score(gold, prediction, options)}
    return Record(name, layer, files.weights, files.config, files.tokenizer, scores)


# ------------------------------------------------------------------------------------------------------------ record


def find_record(name: str) -> Record | None:
    """Return the record of this model: the server's own, or else the one that comes with this code; None if there is
    none.
    """
    for path in (_own_record(name), _DATA / "recorded" / f"{name}.json"):
        if path.is_file():
            return Record(**json.loads(path.read_text(encoding="utf-8")))
    return None


def record_model(name: str, settings: EncoderSettings, now: datetime, *, overwrite: bool = False) -> Path | None:
    """Record the scores of the golden submission with this model; return the file, None if the record already has them.

    overwrite: replace a different record. Raises CannotRecord, and the errors of scoring.
    """
    files = find_model(name, settings.models_dir)
    found = measure(name, files, settings)
    sure = found.scores[_SURE]
    if sure is None or abs(sure - 1) > TOLERANCE:
        raise CannotRecord(f"{name}: a paraphrase that is its reference scores {_written(sure)}, not 1")
    before = find_record(name)
    if before is not None and not overwrite:
        deviations = [*_other_files(before, files), *differences(before, found.scores)]
        if deviations:
            raise CannotRecord(" ".join([*deviations, "--replace overwrites the record."]))
        return None
    with_what = ", ".join(f"{package} {version}" for package, version in versions().items())
    document = asdict(found) | {"recorded_at": now.isoformat(), "recorded_with": f"{settings.device}, {with_what}"}
    path = _own_record(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)
    return path


def _own_record(name: str) -> Path:
    folder = settings_of(RecordSettings).selfcheck_dir or get_settings().data_dir / "selfcheck"
    return folder / f"{name}.json"


def _written(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.7f}"


# ------------------------------------------------------------------------------------------------- a process of its own


def check_in_process() -> SelfCheckReport:
    """Run `check_machine` in a new process and return its report; a crash or a timeout counts as a refusal."""
    command = [sys.executable, "-P", "-m", "workers.selfcheck", "--json"]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command,
            env={name: value for name, value in os.environ.items() if name not in KEYS},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return SelfCheckReport(SelfCheck.REFUSED, (f"The self-check did not end within {LIMIT_SECONDS:.0f} s.",))
    try:
        return _from_document(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        return SelfCheckReport(
            SelfCheck.REFUSED, (f"The self-check broke off with exit status {done.returncode}; see the log.",)
        )


def _from_document(document: dict[str, Any]) -> SelfCheckReport:
    state, words, models = SelfCheck(document["state"]), tuple(document["words"]), tuple(document["models"])
    comparisons = tuple(Comparison(**comparison) for comparison in document["comparisons"])
    return SelfCheckReport(state, words, document["device"], models, comparisons)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the self-check for `evergold selfcheck` and workers; return 1 if this machine must not compute BERTScores."""
    parser = argparse.ArgumentParser(prog="evergold selfcheck")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--replace", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    go_offline()
    if options.record or options.replace:
        complaints = list(_record_all(overwrite=options.replace))
        if complaints:
            sys.stderr.writelines(f"Error: {line}\n" for line in complaints)
            return 1
    found = check_machine()
    if options.json:
        sys.stdout.write(json.dumps(asdict(found)) + "\n")
    else:
        lines = [f"{found.state}: {', '.join(found.models) or 'no model'} on {found.device or 'no device'}"]
        sys.stdout.writelines(f"{line}\n" for line in [*lines, *found.words])
    return 1 if found.state == SelfCheck.REFUSED else 0


def _record_all(*, overwrite: bool) -> Iterator[str]:
    """Record every model of this machine; yield a sentence for each failure."""
    now = datetime.now(UTC)
    try:
        models = list_models(models_folder())
    except ScoringError as error:
        yield f"{error}"
        return
    for name in models:
        try:
            path = record_model(name, encoder_settings(), now, overwrite=overwrite)
        except (ScoringError, CannotRecord) as error:
            yield f"{error}"
        except OSError as error:
            yield f"{error.filename}: {error.strerror}"
        else:
            sys.stderr.write(f"{name}: {f'recorded in {path}' if path else 'as recorded before'}\n")


if __name__ == "__main__":
    os.nice(10)  # a starting server has more urgent work
    sys.exit(main())
