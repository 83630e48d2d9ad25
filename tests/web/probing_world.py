"""A small competition of idiomaticity probing in a folder, and predictions whose distributions are known by hand."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from evergold.scoring.probing.items import CONTEXTS, ORIGINAL
from evergold.scoring.probing.measures import PROBES

PLACE, BOARD = "probes/open/probing", "probes/open/portuguese"
PARTS = (("en", "neut"), ("pt", "nat"), ("pt", "neut"))
COMPOUNDS = tuple(f"compound {number:02d}" for number in range(36))
#: How many compounds, in their order, belong to each class; the last are too few to be shown.
CLASSES = {"compositional": 20, "partly": 12, "idiomatic": 4}

PHASES = """\
version: 1
competitions:
  - name: probes
    title: "Probes"
    tasks: [{name: probing, type: idiomaticity-probing, title: "Probing"}]
    boards:
      - name: portuguese
        title: "Portuguese"
        task: probing
        columns:
          - {metric: affinity_syn_rand, split: pt/neut/sent, title: "A(Syn|Rand)"}
          - {metric: sim_syn, split: pt/neut/sent, title: "Sim(Syn)"}
    phases:
      - name: open
        title: "Open"
        start: "2026-01-01 00:00 UTC"
        visibility: {precision: full, slices: all}
        tasks: {probing: {gold: scores.csv, items: items.csv}}
"""


def write_competition(folder: Path) -> Path:
    """Write `phases.yaml` with the items below it, and the human scores in `gold`; return the phases.yaml."""
    (folder / "gold").mkdir(parents=True)
    (folder / "phases.yaml").write_text(PHASES)
    (folder / "items.csv").write_text(_csv("language,context,compound,probe,sentence,nc", _item_rows()))
    classes = [name for name, count in CLASSES.items() for _ in range(count)]
    scores = (
        (language, compound, str(place / 7), class_)
        for language in ("en", "pt")
        for place, (compound, class_) in enumerate(zip(COMPOUNDS, classes, strict=True))
    )
    (folder / "gold" / "scores.csv").write_text(_csv("language,compound,compositionality,class", scores))
    return folder / "phases.yaml"


def similarity(place: int, probe: str) -> float:
    """Return 0.4 or 0.8 for the synonym, each for half of the compounds; every other probe has one value."""
    if probe == "syn":
        return 0.4 if place < len(COMPOUNDS) // 2 else 0.8
    return {"head": 0.5, "modifier": 0.3, "wordssyn": 0.1}.get(probe, 0.2)


def predictions(
    found: Callable[[int, str], float] = similarity, parts: Iterable[tuple[str, str]] = PARTS, level: str = "sent"
) -> bytes:
    """Return the similarities of these parts at one level, as CSV."""
    rows = (
        (language, context, compound, probe, level, f"{found(place, probe):.6f}")
        for language, setting in parts
        for context in CONTEXTS[setting]
        for place, compound in enumerate(COMPOUNDS)
        for probe in PROBES
    )
    return _csv("language,context,compound,probe,level,sim", rows).encode()


def embeddings(level: str = "sent") -> bytes:
    """Return the same as vectors in .npz: the original is (1, 0), a probe (s, √(1 - s²))."""
    tensors: dict[str, list[tuple[float, float]]] = {}
    for language, context, compound, probe, *_ in _item_rows():
        sim = 1.0 if probe == ORIGINAL else similarity(COMPOUNDS.index(compound), probe)
        setting = "neut" if context == "neut" else "nat"
        tensors.setdefault(f"{language}/{setting}/{level}", []).append((sim, float(np.sqrt(1 - sim * sim))))
    file = io.BytesIO()
    arrays: dict[str, Any] = {name: np.array(rows) for name, rows in tensors.items()}
    np.savez(file, **arrays)
    return file.getvalue()


def _item_rows() -> Iterable[tuple[str, ...]]:
    for language, setting in PARTS:
        for context in CONTEXTS[setting]:
            for compound in COMPOUNDS:
                for probe in (ORIGINAL, *PROBES):
                    yield language, context, compound, probe, f"Here is {compound}", "0 0 1 1"


def _csv(header: str, rows: Iterable[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header.split(","), *rows])
    return text.getvalue()
