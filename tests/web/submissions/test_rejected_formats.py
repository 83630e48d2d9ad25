"""A wrong file of each format, sent as anybody sends it: rejected with all problems, by line; no score, no quota."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.probing.measures import PROBES
from tests.processes import REPOSITORY
from tests.web import probing_world
from tests.web.probing_world import COMPOUNDS
from tests.web.reading import text_of
from tests.web.site import Site
from tests.whole import open_competition, page, sent, taking_part

GOLDEN = REPOSITORY / "tests" / "golden" / "meaning-matching"
PHASES = """\
version: 1
include: [probing/phases.yaml]
competitions:
  - name: formats
    title: "Formats"
    tasks:
      - {name: labels, type: table, title: "Labels", options: {labels: [yes, no]}}
      - {name: numbers, type: table, title: "Numbers", options: {metrics: [rmse], value: score, minimum: 0, maximum: 5}}
      - {name: texts, type: table, title: "Texts", options: {metrics: [chrf], value: text}}
      - {name: meaning, type: meaning-matching, title: "Meaning", options: {languages: [en]}}
      - {name: similarity, type: idiom-similarity, title: "Similarity", options: {languages: [en]}}
      - {name: detection, type: idiom-detection, title: "Detection",
         options: {settings: [zero_shot, one_shot, few_shot], languages: [en]}}
    boards:
      - {name: labels, title: "Labels", task: labels, columns: [{metric: macro_f1, split: all}]}
      - {name: numbers, title: "Numbers", task: numbers, columns: [{metric: rmse, split: all}]}
      - {name: texts, title: "Texts", task: texts, columns: [{metric: chrf, split: all}]}
      - {name: meaning, title: "Meaning", task: meaning, columns: [{metric: macro_f1, split: zero_shot/all}]}
      - {name: sim, title: "Similarity", task: similarity, columns: [{metric: spearman, split: pre_train/all/all}]}
      - {name: detection, title: "Detection", task: detection, columns: [{metric: macro_f1, split: few_shot/all}]}
    phases:
      - name: open
        title: "Open"
        start: "2026-01-01 00:00 UTC"
        tasks: {labels: {gold: table.csv}, numbers: {gold: table.csv}, texts: {gold: table.csv},
                meaning: {gold: pairs.csv}, similarity: {gold: pairs.csv}, detection: {gold: pairs.csv}}
"""
TABLE_GOLD = "id,label,score,text\na,yes,1,one\nb,no,2,two\nc,yes,3,three\n"
#: What three tasks read, each its own columns of it.
PAIRS_GOLD = "ID,DataID,Language,SentenceID,Label,sim,otherID\n" + "".join(
    f"{n},d.EN.1.{n},EN,s1,{n % 2},{n / 4},\n" for n in (1, 2, 3)
)

PROBING = "language,context,compound,probe,level,sim\n"


@dataclass(frozen=True)
class Case:
    """A file, where it is sent, and the expected message."""

    place: str
    content: bytes | Callable[[], bytes]
    problems: tuple[str, ...]


@pytest.fixture
def formats(empty_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    probing_world.write_competition(tmp_path / "probing")
    gold = tmp_path / "gold"
    (tmp_path / "probing" / "gold").rename(gold)
    (gold / "table.csv").write_text(TABLE_GOLD)
    (gold / "pairs.csv").write_text(PAIRS_GOLD)
    (tmp_path / "phases.yaml").write_text(PHASES)
    open_competition(empty_site, tmp_path / "phases.yaml", gold, monkeypatch)
    return empty_site


def npz(**tensors: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **tensors)
    return file.getvalue()


#: One context of 36 compounds, each with its original and nine probes.
ROWS = len(COMPOUNDS) * (1 + len(PROBES))


def wrong_embeddings() -> bytes:
    """Four tensors, each wrong in its own way."""
    ones = np.ones((ROWS, 4))
    return npz(
        **{
            "en/neut/sent": ones[1:],
            "en/neut/nc": ones.astype(np.int32),
            "pt/neut/sent": ones[:, 0],
            "pt/neuter/sent": ones,
        }
    )


def wrong_values() -> bytes:
    """Return embeddings with NaN in one tensor, and a row of zeros in another."""
    first, second = np.ones((ROWS, 4)), np.ones((ROWS, 4), dtype=np.float32)
    first[7, 2] = np.nan
    second[11] = 0
    return npz(**{"en/neut/sent": first, "pt/neut/sent": second})


def with_a_pickle() -> bytes:
    return npz(**{"en/neut/sent": np.array([{"a": 1}], dtype=object)})


def safetensors(header: dict[str, Any] | None = None, length: int | None = None) -> bytes:
    text = json.dumps(header or {}).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text


def too_large_tensor() -> bytes:
    """Return a file whose header declares twenty gigabytes, none of which exist."""
    wanted = {"dtype": "F32", "shape": [ROWS, 14_000_000], "data_offsets": [0, ROWS * 14_000_000 * 4]}
    return safetensors({"en/neut/sent": wanted})


CASES = {
    "table of labels": Case(
        "formats/open/labels",
        b"id,label\na,Yes\nb,no\nb,yes\nd,no\n",
        (
            "column id: 1 of 3 ids are missing: c",
            "line 2, column label: invalid label 'Yes': expected one of yes, no",
            "line 4, column id: id b appears twice, first on line 3",
            "line 5, column id: id 'd' is not an item",
        ),
    ),
    "table of numbers": Case(
        "formats/open/numbers",
        b"id,score\na,high\nb,nan\nc,5.5\n",
        (
            "line 2, column score: 'high' is not a finite number",
            "line 3, column score: 'nan' is not a finite number",
            "line 4, column score: 5.5 is larger than 5",
        ),
    ),
    "table of texts": Case(
        "formats/open/texts",
        b"id,text\na,\nb,two\nb;three\n",
        ("line 2, column text: the value is empty", "line 4: 1 field, the header has 2"),
    ),
    "meaning matching": Case(
        "formats/open/meaning",
        b"ID,Language,Setting,Label,Score\n1,EN,zero_shot,1,0.5\n2,PT,zero_shot,0,0.1\n3,EN,zero_shot,2,much\n",
        (
            "line 3, column Language: ",
            "line 4, column Label: invalid label '2': expected 0 or 1",
            "line 4, column Score: 'much' is not a finite number",
        ),
    ),
    "idiom similarity": Case(
        "formats/open/similarity",
        b"ID,Language,Setting,Sim\n1,EN,pre_train,0.5\n1,EN,pre_train,0.5\n2,EN,pre_train,inf\n9,EN,pre_train,1\n",
        (
            "column ID: pre_train: 1 of 3 items is missing (EN): 3",
            "line 3, column ID: id 1 appears twice",
            "line 4, column Sim: 'inf' is not a finite number",
            "line 5, column ID: id 9 is not an item of this phase",
        ),
    ),
    "three settings": Case(
        "formats/open/detection",
        b"ID,Language,Setting,Label\n1,EN,few_shot,1\n2,EN,fewshot,0\n3,EN,few_shot,x\n",
        (
            "column ID: few_shot: 1 of 3 items is missing (EN): 2",
            "line 3, column Setting: the setting 'fewshot' is unknown, it must be zero_shot or one_shot or few_shot",
            "line 4, column Label: invalid label 'x': expected 0 or 1",
        ),
    ),
    "similarities": Case(
        probing_world.PLACE,
        (
            PROBING
            + "en,neut,compound 00,syn,sent,0.5\nen,neut,compound 00,syn,sent,0.5\nen,nat1,compound 00,syn,sent,1\n"
            "pt,neut,compound 99,syn,sent,0.5\npt,neut,compound 01,synonym,sent,0.5\npt,neut,compound 01,syn,word,0.5\n"
            "pt,neut,compound 01,syn,sent,1.5\nfr,neut,compound 01,syn,sent,0.5\n"
        ).encode(),
        (
            "line 3, column compound: neut compound 00 syn at level sent appears twice, first on line 2",
            "line 4, column context: there are no items in en with the context nat1",
            "line 5, column compound: 'compound 99' is not a compound of the pt items",
            "line 6, column probe: the probe must be syn, head, ",
            "line 7, column level: the level must be sent or nc",
            "line 8, column sim: '1.5' is not a cosine: a number between -1 and 1",
            "line 9, column language: the language must be en or pt",
        ),
    ),
    "half-filled similarities": Case(
        probing_world.PLACE,
        (PROBING + "en,neut,compound 00,syn,sent,0.5\n").encode(),
        ("en/neut/sent is half-filled, 323 of 324 similarities are missing or empty",),
    ),
    "embeddings of wrong shapes and types": Case(
        probing_world.PLACE,
        wrong_embeddings,
        (
            "en/neut/nc: the values are <i4; float16, float32 or float64 are read",
            "en/neut/sent: 359 rows; one for each of the 360 rows of the items",
            "pt/neut/sent: the shape is 360; it must be rows × dimensions",
            "pt/neuter/sent: this tensor is not expected",
        ),
    ),
    "embeddings that are not finite": Case(
        probing_world.PLACE,
        wrong_values,
        ("en/neut/sent: row 8: NaN or infinity", "pt/neut/sent: row 12: only zeros, which have no direction"),
    ),
    "a pickle in an npz": Case(
        probing_world.PLACE,
        with_a_pickle,
        ("en/neut/sent: the values are Python objects, which only a pickle can hold", "en/neut/sent: the shape is 1"),
    ),
    "a pickle": Case(probing_world.PLACE, b"\x80\x04K\x01.", ("this is a pickle (as torch.save writes); ",)),
    "a header of twenty gigabytes": Case(
        probing_world.PLACE,
        lambda: safetensors(length=20 * 2**30),
        ("the header claims 21,474,836,480 bytes, at most 65,536 are read",),
    ),
    "a tensor of twenty gigabytes": Case(
        probing_world.PLACE,
        too_large_tensor,
        ("en/neut/sent: 14,000,000 dimensions; between 1 and 16,384 are read",),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_wrong_file_is_rejected_with_all_its_problems(formats: Site, case: Case) -> None:
    content = case.content if isinstance(case.content, bytes) else case.content()
    competition, phase, task = case.place.split("/")
    with taking_part(formats) as (ada, browser):
        submission = sent(ada, case.place, content)
        assert submission["status"] == "rejected", submission
        told = [problem["sentence"] for problem in submission["problems"]]
        assert len(told) == len(case.problems), told
        for sentence, beginning in zip(told, case.problems, strict=True):
            assert sentence.startswith(beginning), told
        assert submission["scores"] == []
        shown = text_of(page(formats, f"/submissions/{submission['id']}", browser))
        assert f"{len(told)} problem{'s' if len(told) > 1 else ''}" in shown
        for problem in submission["problems"]:
            assert " ".join(problem["message"].split()) in shown
        path = f"/api/v1/competitions/{competition}/phases/{phase}/tasks/{task}"
        quota = ada.client.get(path).json()["quota"]
        assert (quota["used_today"], quota["rejected_last_hour"]) == (0, 1)
