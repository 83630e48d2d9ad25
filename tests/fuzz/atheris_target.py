"""One reader under atheris (coverage-guided): `python -m tests.fuzz.atheris_target TASK FOLDER [libFuzzer options]`.

`check_prediction` must hold for every input. FOLDER keeps the corpus, begun with the golden submissions; inputs whose
first byte is odd are packed into a zip under the name of a golden member, so that coverage reaches behind the archive.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evergold.scoring"]):
    import evergold.scoring.tasks  # noqa: F401 - for its effect: the readers are instrumented while they are imported
    from tests.fuzz.targets import GOLDEN, check_prediction, target, zip_of

MEMBERS = {"mwe-identification": "FR/test.system.cupt", "mwe-paraphrase": "EN/test.system.json"}


def main() -> None:
    """Fuzz until libFuzzer's bounds (-runs, -max_total_time) are reached; a finding ends the process."""
    name, corpus, *options = sys.argv[1:]
    fuzzed = target(name)
    member = MEMBERS.get(name, "prediction.csv")
    _begin(Path(corpus), name)

    def read(data: bytes) -> None:
        upload = zip_of([(member, data[1:])]) if data[:1] and data[0] & 1 else data[1:]
        check_prediction(fuzzed, upload, Path(folder))

    with tempfile.TemporaryDirectory() as folder:
        atheris.Setup([sys.argv[0], corpus, "-timeout=20", "-rss_limit_mb=4096", *options], read)
        atheris.Fuzz()


def _begin(corpus: Path, name: str) -> None:
    corpus.mkdir(parents=True, exist_ok=True)
    prediction = next(iter(sorted((GOLDEN / name).glob("prediction*"))))
    files = [prediction] if prediction.is_file() else sorted(file for file in prediction.rglob("*") if file.is_file())
    for number, file in enumerate(files):
        for first in (b"0", b"1"):
            (corpus / f"golden-{number}-{first.decode()}").write_bytes(first + file.read_bytes())


if __name__ == "__main__":
    main()
