"""Labels and examples of fields, by the names of their keys; a key that is not here is its own label."""

from __future__ import annotations

from typing import Any

from evergold.scoring.tables.metrics import KINDS

LABELS = {
    "allow_empty": "Empty texts are allowed",
    "bleu_tokenize": "How BLEU splits words",
    "carry_over": "Entries of an earlier phase stand here, too",
    "choose_until": "Teams choose until",
    "entry": "Which submission counts",
    "gold_is_public": "Anybody may have the gold",
    "gold_value": "Column of the answer in gold",
    "gold_version": "What boards call the gold",
    "groups": "Groups to score by",
    "id": "Column of the id",
    "items_for": "Who may download the items",
    "items_from": "Items can be downloaded from",
    "ladder_step": "Smallest improvement that counts",
    "lowercase": "Ignore case",
    "max_characters": "Longest text, in characters",
    "maximum": "Highest number",
    "minimum": "Lowest number",
    "own_scores": "Teams see their own scores",
    "per_day": "Submissions a day",
    "per_month": "Submissions a month",
    "per_week": "Submissions a week",
    "precision": "Decimals shown",
    "rank_by": "Ranked by",
    "references": "Further columns with references",
    "rejected_per_hour": "Rejected files an hour",
    "resample_by": "Column of what items belong to",
    "rouge_stemmer": "ROUGE compares stems",
    "scores": "Expected scores",
    "snapshot": "Freeze the boards as official results",
    "total": "Submissions in all",
    "upload_bytes": "Largest upload, in bytes",
    "value": "Column of the answer",
    "without_choice": "What counts without a choice",
}
EXAMPLES = {
    "allowed": "ada@uni.edu",
    "carry_over": "evaluation",
    "choose_until": "close",
    "contact": "organisers@uni.edu",
    "domains": "uni.edu",
    "end": "2027-01-31 23:59 AoE",
    "gold_value": "gold_label",
    "gold_version": "v2, two labels corrected",
    "groups": "language: en, pt",
    "labels": "idiomatic",
    "languages": "en",
    "licence": "CC-BY-4.0",
    "maximum": "5",
    "members_max": "5",
    "merge_until": "2027-01-31 23:59 AoE",
    "method": "Always the most frequent label.",
    "minimum": "0",
    "names_from": "close",
    "per_month": "60",
    "per_week": "20",
    "precision": "3",
    "public_from": "close",
    "references": "reference_2",
    "rename_until": "2027-01-31 23:59 AoE",
    "resample_by": "document",
    "scores": "macro_f1 all: 0.71",
    "share": "0.5",
    "shown_from": "close",
    "start": "2027-01-10 12:00 UTC",
    "website": "https://example.org/task",
}
#: Explanations that differ from the declaration's own description.
HINTS = {"seed": "chooses the items, and reveals them: nobody should guess it"}
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


def hint_of(name: str, description: str) -> str:
    """Return the explanation of a key. description: of the model, in which `None` is an empty field."""
    return HINTS.get(name) or description.replace("(None: ", "(empty: ")


def fits_metrics(name: str, metrics: Any) -> bool:
    """Return whether an option of a table goes with its metrics; without any, with those of labels."""
    first = metrics[0] if isinstance(metrics, list) and metrics else "macro_f1"
    kind = next((kind for kind, names in KINDS.items() if first in names), None)
    return kind is None or _OF_KIND.get(name, kind) == kind
