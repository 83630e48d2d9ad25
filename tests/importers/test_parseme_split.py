"""The output of `evergold split` is the input of `evergold import parseme`: from a corpus to a
competition, unchanged.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from app.importers.parseme import import_parseme
from evergold.cli import run
from tests.evergold.corpora.made_up import cupt, zipfian


def test_the_folder_of_a_split_is_imported_as_it_is(tmp_path: Path) -> None:
    corpus, languages = tmp_path / "corpus.cupt", tmp_path / "split"
    corpus.write_text(cupt(zipfian(400, 2)), encoding="utf-8")
    settings = ["--unseen-test", "30", "--unseen-dev", "10", "--repeats", "5"]
    assert run(["split", str(corpus), *settings, "--out", str(languages / "XX")]) == 0
    written = import_parseme(languages, tmp_path / "competition", tmp_path / "gold", "1.2")
    assert tmp_path / "gold" / "parseme-1.2" / "evaluation" / "XX" / "test.cupt" in written
    [competition] = yaml.safe_load((tmp_path / "competition" / "competition.yaml").read_text())["competitions"]
    assert competition["tasks"][0]["options"]["languages"] == ["xx"]
