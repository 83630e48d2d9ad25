"""Simple baselines made from items and public facts: the most frequent label, a random answer, a copied text.

They are made in the helper from files that teams get anyway; the most frequent label and the mean come from the
organiser's browser, which counted them. A worker scores the files like any others.
"""

from __future__ import annotations

import copy
import csv
import io
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.base.errors import InvalidForm
from app.base.storage import Storage, store_upload
from app.declarations.revisions.documents import Document
from app.declarations.setup.columns import places_of, table_of
from app.helper.process import Job, run
from app.helper.wire import Message

_MAKE = Job("app.declarations.setup.baselines:made", processor_seconds=20, seconds=40, mebibytes=1024, waiting=6)
_FILE_LIMIT_BYTES = 64 * 1024 * 1024
#: Makes the random answers the same each time.
_SEED = 20_27


@dataclass(frozen=True, slots=True)
class SimpleBaseline:
    """A baseline that can be generated. name: in forms and file names; method: a line on the board."""

    name: str
    title: str
    method: str


MAJORITY = SimpleBaseline("majority", "Majority", "Always the most frequent label.")
MEAN = SimpleBaseline("mean", "Mean", "Always the mean.")
RANDOM = SimpleBaseline("random", "Random", "A random answer for each item.")
COPY = SimpleBaseline("copy", "Copy", "The given text, unchanged.")
_BY_ANSWER = {
    "label": (MAJORITY, RANDOM),
    "labels": (MAJORITY, RANDOM),
    "number": (MEAN, RANDOM),
    "text": (COPY,),
}


def baselines_for(answer: str | None) -> Sequence[SimpleBaseline]:
    """Return the baselines for this kind of answer."""
    return _BY_ANSWER.get(answer or "", ())


@dataclass(frozen=True, slots=True)
class BaselineFacts:
    """Facts that baselines need besides the items.

    usual: the most frequent label, or the mean; low, high: bounds of numbers; copied: the column whose text is copied.
    """

    usual: str = ""
    low: str = ""
    high: str = ""
    copied: str = ""


def with_baselines(
    document: Document, chosen: Collection[SimpleBaseline], facts: BaselineFacts, items: Path, storage: Storage
) -> tuple[Document, dict[str, str]]:
    """Return a copy with these baselines in each phase of the first task, and their files as sha256 by path.

    Simple baselines made before are replaced; others are kept. Raises InvalidForm.
    """
    options = document["tasks"][0].get("options") or {}
    head = {
        "items": str(items.absolute()),
        "id": options.get("id", "id"),
        "value": options.get("value", "label"),
        "labels": options.get("labels") or [],
        "facts": [facts.usual, facts.low, facts.high, facts.copied],
    }
    files = {}
    for one in chosen:
        answer, content = run(_MAKE, {**head, "baseline": one.name})
        if "refused" in answer:
            raise InvalidForm(f"The baseline {one.title} cannot be created.", fields={"baselines": answer["refused"]})
        files[file_of(one)] = store_upload([content], storage, _FILE_LIMIT_BYTES).sha256
    changed = copy.deepcopy(document)
    made = {file_of(one) for some in _BY_ANSWER.values() for one in some}
    for place in places_of(changed):
        others = [one for one in place.get("baselines") or [] if one.get("file") not in made]
        new = [{"name": one.title, "file": file_of(one), "method": one.method} for one in chosen]
        place["baselines"] = [*others, *new]
        if not place["baselines"]:
            del place["baselines"]
    return changed, files


def file_of(baseline: SimpleBaseline) -> str:
    """Return the path of the baseline's file in the declaration."""
    return f"baseline-{baseline.name}.csv"


def made(head: dict[str, Any], _: bytes) -> Message:
    """Return the file of a baseline, or `refused` with the reason why it cannot be made. A job of the helper."""
    header, rows = table_of(Path(head["items"]).read_bytes())
    if head["id"] not in header:
        return {"refused": f"The items have no column {head['id']}."}, b""
    answers = _answers(head, header, rows)
    if isinstance(answers, str):
        return {"refused": answers}, b""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([head["id"], head["value"]])
    place = header.index(head["id"])
    writer.writerows((row[place], answer) for row, answer in zip(rows, answers, strict=True))
    return {}, text.getvalue().encode()


def _answers(head: dict[str, Any], header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str] | str:
    """Return an answer for each row, or a sentence on what is missing."""
    usual, low, high, copied = head["facts"]
    if head["baseline"] == COPY.name:
        if copied not in header:
            return "Choose a column of the items whose text is copied."
        return [row[header.index(copied)] for row in rows]
    if head["baseline"] in (MAJORITY.name, MEAN.name):
        return (
            [usual] * len(rows)
            if usual
            else "Choose the gold file, so that your browser can count its answers, or type the usual answer."
        )
    chance = random.Random(_SEED)  # noqa: S311 - a baseline, no secret
    if head["labels"]:
        return [chance.choice(head["labels"]) for _ in rows]
    try:
        bounds = float(low), float(high)
    except ValueError:
        return "This baseline needs the labels, or the lowest and the highest number."
    return [f"{chance.uniform(*bounds):.3f}" for _ in rows]
