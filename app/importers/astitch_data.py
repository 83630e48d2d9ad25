"""Conversion of the AStitch files to blind items and gold; names and declarations are in `astitch`."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.importers.writing import read_columns
from evergold.scoring.errors import Problems
from evergold.scoring.tables import decode_text

_Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Files:
    """Blind items and gold of one task in one phase, each with header and rows."""

    items_header: Sequence[str] = ()
    items: Sequence[Sequence[str]] = ()
    gold_header: Sequence[str] = ()
    gold: Sequence[Sequence[str]] = ()


def convert_coarse(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Convert Task 1 coarse: a label per sentence; ids count the rows of the authors' file from 0."""
    rows = _coarse_rows(source, language, phase, problems)
    ids = [f"{phase}.{language.upper()}.{row}" for row in range(len(rows))]
    return Files(
        ("ID", "Language", "MWE", "Sentence"),
        [(id_, language.upper(), mwe, sentence) for id_, (_, sentence, mwe) in zip(ids, rows, strict=True)],
        ("ID", "Language", "Label"),
        [(id_, language.upper(), label) for id_, (label, _, _) in zip(ids, rows, strict=True)],
    )


def convert_fine(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Convert Task 1 fine-grained: a label per sentence and meaning; the expression is that of the coarse sentence."""
    code = language.upper()
    rows = _rows(source, f"Dataset/Task1/SubTaskB/{code}/ContextExcluded/{phase}.csv", _PAIR_COLUMNS, problems)
    mwes = {sentence: mwe for _, sentence, mwe in _coarse_rows(source, language, phase, Problems())}
    distinct = dict.fromkeys(sentence for _, sentence, _ in rows)
    sentence_ids = {sentence: f"{phase}.{code}.s{number}" for number, sentence in enumerate(distinct)}
    items: list[Sequence[str]] = []
    gold: list[Sequence[str]] = []
    for row, (label, sentence, meaning) in enumerate(rows):
        key = f"{phase}.{code}.{row}", code, sentence_ids[sentence]
        items.append((*key, mwes.get(sentence, ""), sentence, meaning))
        gold.append((*key, label))
    header = ("ID", "Language", "SentenceID")
    return Files((*header, "MWE", "Sentence", "Meaning"), items, (*header, "Label"), gold)


def convert_similarity(source: Path, language: str, phase: str, problems: Problems) -> Files:
    """Convert Task 2: idiom pairs with target 1 or the system's own similarity of (correct, incorrect), and STS pairs.

    STS pairs have their published scores as targets.
    """
    folder = "Dataset/Task2/CreateEvaluationData"
    raw_name = f"{folder}/{language.upper()}/WithResults/evalData/{phase}_rawSimData.csv"
    columns = ("sent_idiom", "sent_other", "sim", "idiom", "correct", "incorrect")
    raw = _rows(source, raw_name, columns, problems)
    sts = _sts_rows(source, f"{folder}/EvalSTSData/{language}_{phase}_Eval_STS_Data.csv", problems)
    targets: dict[
        _Pair, tuple[str, str, _Pair | None]
    ] = {}  # pair -> end of DataID, sim, the pair whose sim is the target
    expressions: dict[_Pair, str] = {}
    others: dict[_Pair, None] = {}
    places = {idiom: place for place, idiom in enumerate(dict.fromkeys(row[3] for row in raw), start=1)}
    for number, (left, right, sim, idiom, correct, incorrect) in enumerate(raw, start=1):
        other = (correct, incorrect) if sim == "None" else None
        _note_pair(
            targets, (left, right), (f"{places[idiom]}.{number}", "" if other else sim, other), raw_name, problems
        )
        expressions[left, right] = idiom
        if other:
            others[other] = None
            expressions.setdefault(other, idiom)
    for number, (left, right, sim) in enumerate(sts, start=1):
        _note_pair(targets, (left, right), (f"sts.{number}", sim, None), "EvalSTSData", problems)
    return _similarity_files(targets, others, expressions, language, phase)


def _coarse_rows(source: Path, language: str, phase: str, problems: Problems) -> list[tuple[str, str, str]]:
    """Return (label, sentence, expression) of every row."""
    name = f"Dataset/Task1/SubTaskA/{language.upper()}/ContextExcluded_IdiomIncluded/{phase}.csv"
    return _rows(source, name, _PAIR_COLUMNS, problems)


def _similarity_files(
    targets: Mapping[_Pair, tuple[str, str, _Pair | None]],
    others: Mapping[_Pair, None],
    expressions: Mapping[_Pair, str],
    language: str,
    phase: str,
) -> Files:
    pairs = sorted({**targets, **others}, key=_shuffled)
    ids = {pair: f"{phase}.{language.upper()}.{number}" for number, pair in enumerate(pairs)}
    code = language.upper()
    return Files(
        ("ID", "Language", "MWE", "sentence1", "sentence2"),
        [(ids[pair], code, expressions.get(pair, ""), *pair) for pair in pairs],
        ("ID", "DataID", "Language", "sim", "otherID"),
        [
            (ids[pair], f"{phase}.{code}.{end}", code, sim, ids[other] if other else "")
            for pair, (end, sim, other) in targets.items()
        ],
    )


def _note_pair(
    targets: dict[_Pair, tuple[str, str, _Pair | None]],
    pair: _Pair,
    target: tuple[str, str, _Pair | None],
    name: str,
    problems: Problems,
) -> None:
    if targets.setdefault(pair, target) is not target:
        problems.add("duplicate-pair", f"the pair {target[0]} is there twice", file=name)


def _shuffled(pair: _Pair) -> bytes:
    """Return a sort key for a reproducible order of pairs that is independent of their targets."""
    return hashlib.sha256("\0".join(pair).encode()).digest()


def _sts_rows(source: Path, name: str, problems: Problems) -> list[tuple[str, str, str]]:
    """Return (sentence1, sentence2, score) of a file without a header."""
    path = source / name
    if not path.is_file():
        problems.add("missing-file", "the file is not in this folder: is it a checkout of the repository?", file=name)
        return []
    text = decode_text(path.read_bytes(), problems, file=name)
    rows: list[tuple[str, str, str]] = []
    for line, row in enumerate(csv.reader(io.StringIO(text or "", newline="")), start=1):
        if len(row) == 3:
            rows.append((row[1], row[2], row[0]))
        elif row:
            problems.add("wrong-field-count", f"{len(row)} fields, expected 3", file=name, line=line)
    return rows


def _rows(source: Path, name: str, columns: Sequence[str], problems: Problems) -> list[Any]:
    """Return the cells of the wanted columns, in this order, row by row; empty if the file has problems."""
    table = read_columns(source, name, columns, problems)
    return list(zip(*(table[column] for column in columns), strict=True)) if table is not None else []


_PAIR_COLUMNS = ("label", "sentence1", "sentence2")
