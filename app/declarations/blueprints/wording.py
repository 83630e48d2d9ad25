"""Labels and examples of fields, by key; the label of a key that is not listed is derived from the key."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from evergold.scoring.tables.metrics import KINDS

LABELS = {
    "allow_empty": "Empty texts are allowed",
    "better": "Which is better",
    "bleu_tokenize": "How BLEU splits words",
    "carry_over": "Shows entries of an earlier phase, too",
    "choose_until": "Teams choose until",
    "details": "Who reads its page",
    "entry": "Which submission counts",
    "gold_is_public": "The gold is public",
    "gold_value": "Column of the answer in gold",
    "gold_version": "What boards call the gold",
    "groups": "Columns to group scores by",
    "id": "Column of the id",
    "items_for": "Who may download the items",
    "items_from": "Items can be downloaded from",
    "json_schema": "JSON schema of each file",
    "key": "Name in the program's scores",
    "ladder_step": "Smallest improvement that counts",
    "largest": "Largest file, in bytes",
    "lowercase": "Ignore case",
    "max_characters": "Longest text, in characters",
    "max_of": "Highest of these metrics",
    "maximum": "Highest number",
    "mean_of": "Mean of these metrics",
    "memory": "Memory, in bytes",
    "min_of": "Lowest of these metrics",
    "minimum": "Lowest number",
    "names_from": "Names from",
    "own_scores": "Teams see their own scores",
    "per_day": "Submissions a day",
    "per_month": "Submissions a month",
    "per_week": "Submissions a week",
    "percent": "Shown in percent",
    "precision": "Decimals shown",
    "processes": "Processes at once",
    "processor_seconds": "Processor time, in seconds",
    "public_from": "Public from",
    "rank_by": "Ranked by",
    "references": "Further columns with references",
    "rejected_per_hour": "Rejected files an hour",
    "required": "Files that must be there",
    "resample_by": "Column with the group of an item",
    "rouge_stemmer": "ROUGE compares stems",
    "scores": "Expected scores",
    "seconds": "Time, in seconds",
    "shown_from": "Shown from",
    "sim_max": "Highest similarity",
    "sim_min": "Lowest similarity",
    "snapshot": "Freeze the boards as official results",
    "stderr": "Who reads its errors",
    "stdout": "Who reads the program's output",
    "sum_of": "Sum of these metrics",
    "tables": "Columns of each table",
    "total": "Submissions in all",
    "upload_bytes": "Largest upload, in bytes",
    "value": "Column of the answer",
    "without_choice": "What counts without a choice",
    "written": "Files written, in bytes",
}
EXAMPLES = {
    "allowed": "ada@uni.edu",
    "authors": "Ada Lovelace",
    "baseline": "0.35",
    "bleu_tokenize": "intl",
    "board": "main",
    "both_empty": "1",
    "carry_over": "evaluation",
    "categories": "VID",
    "choices": "transformer",
    "choose_until": "close",
    "command": "python3 score.py $input $output",
    "confirm_scores": "accuracy: 0.71",
    "contact": "organisers@uni.edu",
    "cutoffs": "10",
    "decimals": "4",
    "description": "Systems send one label for each sentence.",
    "doi": "10.18653/v1/2022.semeval-1.13",
    "domains": "uni.edu",
    "end": "2027-01-31 23:59 AoE",
    "environment": "numpy==2.1.0",
    "file": "baseline.csv",
    "files": "256",
    "from": "2027-01-10 12:00 UTC",
    "gold": "gold.csv",
    "gold_value": "gold_label",
    "gold_version": "v2, two labels corrected",
    "groups": "language: en, pt",
    "help": "The largest model that you used.",
    "id": "sentence_id",
    "image": "registry.example/score@sha256:4f53…",
    "items": "items.csv",
    "items_from": "start",
    "json_schema": '{"answers.json": {"type": "array"}}',
    "key": "macro-f1",
    "labels": "idiomatic",
    "ladder_step": "0.001",
    "language": "en",
    "languages": "en",
    "largest": "67108864",
    "layer": "9",
    "levels": "sent",
    "licence": "CC-BY-4.0",
    "max_characters": "500",
    "max_of": "f1_en",
    "maximum": "5",
    "mean_of": "f1_en",
    "members_max": "5",
    "memory": "2147483648",
    "merge_until": "2027-01-31 23:59 AoE",
    "method": "Always the most frequent label.",
    "metric": "macro_f1",
    "metrics": "macro_f1",
    "min_of": "f1_en",
    "minimum": "0",
    "model": "bert-base-multilingual-cased",
    "most_documents": "1000",
    "name": "evaluation",
    "names_from": "close",
    "per_day": "5",
    "per_month": "60",
    "per_week": "20",
    "phase": "evaluation",
    "precision": "3",
    "processes": "64",
    "processor_seconds": "600",
    "program": "program.zip",
    "public_from": "close",
    "python": "3.11",
    "references": "reference_2",
    "rejected_per_hour": "60",
    "relevant_from": "1",
    "rename_until": "2027-01-31 23:59 AoE",
    "required": "answers.csv",
    "resample_by": "document",
    "scores": "macro_f1 all: 0.71",
    "seconds": "600",
    "separator": "|",
    "settings": "zero_shot",
    "share": "0.5",
    "shown_from": "close",
    "sim_max": "1",
    "sim_min": "0",
    "source": "Sentences of news, annotated by three speakers each.",
    "split": "all",
    "start": "2027-01-10 12:00 UTC",
    "steps": "scoring",
    "sum_of": "f1_en",
    "summary": "Tell idiomatic from literal uses in English and Portuguese.",
    "tables": "answers.csv: id, label",
    "task": "main",
    "terms": "I will use the data for research only.",
    "title": "Idiomatic or literal?",
    "total": "50",
    "track": "closed",
    "types": "PER",
    "upload_bytes": "16777216",
    "url": "https://example.org/paper.pdf",
    "value": "label",
    "venue": "SemEval 2027",
    "website": "https://example.org/task",
    "weight": "2",
    "written": "268435456",
    "year": "2027",
}
#: Explanations that differ from the declaration's own description.
HINTS = {
    "command": "command that starts the program; empty: that of its own metadata.yaml",
    "environment": (
        "packages that the program needs; “default” for the usual ones, [] for none; empty: those of its own "
        "requirements.txt"
    ),
    "gold": "leave this empty: gold is uploaded on its own page and encrypted as it arrives",
    "json_schema": "for each file, the schema of the JSON file or of each line of the .jsonl file",
    "metric": "a metric of the task",
    "scores": "expected scores: on each line a metric, a split and the score as a fraction",
    "seed": "a secret that chooses the private items and would reveal them",
    "split": "the part of the items",
    "type": "what systems send, and how it is scored",
}
#: A key such as `public_from`, which pages do not show.
_KEY = re.compile(r"[`']?\b([a-z]+(?:_[a-z0-9]+)+)\b[`']?(?!/)")
#: Options of tables that only one kind of metrics has.
_OF_KIND = {
    "labels": "labels",
    "minimum": "numbers",
    "maximum": "numbers",
    "references": "texts",
    "lowercase": "texts",
    "bleu_tokenize": "texts",
    "rouge_stemmer": "texts",
    "allow_empty": "texts",
    "max_characters": "texts",
}


def label_of(name: str) -> str:
    """Return the label of a key."""
    return LABELS.get(name) or name.replace("_", " ").capitalize()


def hint_of(name: str, description: str, keys: Collection[str]) -> str:
    """Return the explanation of a key, in which labels replace other keys.

    description: of the model, in which `None` is an empty field.
    """
    words = HINTS.get(name) or description.replace("(None: ", "(empty: ")
    return _KEY.sub(lambda found: f"“{label_of(found[1])}”" if found[1] in keys else found[0], words)


def fits_metrics(name: str, metrics: Any) -> bool:
    """Return whether an option of a table applies to its metrics; without any, to those of labels."""
    first = metrics[0] if isinstance(metrics, list) and metrics else "macro_f1"
    kind = next((kind for kind, names in KINDS.items() if first in names), None)
    return kind is None or _OF_KIND.get(name, kind) == kind
