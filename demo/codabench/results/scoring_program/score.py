"""Scores answers.csv: the share of right labels, and the mean of F1 over both labels."""

from __future__ import annotations

import csv
import json
import os
import sys

source, output = sys.argv[1:3]


def read(path: str) -> dict[str, str]:
    with open(path, newline="", encoding="utf-8-sig") as file:
        return {row["id"]: row["label"].strip() for row in csv.DictReader(file)}


truth = read(os.path.join(source, "ref", "labels.csv"))
path = os.path.join(source, "res", "answers.csv")
if not os.path.exists(path):
    sys.exit("There is no answers.csv in the zip: zip the file itself, without a folder around it.")
answers = read(path)
missing = [one for one in truth if one not in answers]
if missing:
    sys.exit(f"{len(missing)} ids have no answer, {missing[0]} among them.")


def f1(label: str) -> float:
    found = sum(answers[one] == label for one in truth)
    wanted = sum(label == right for right in truth.values())
    both = sum(answers[one] == label == right for one, right in truth.items())
    return 2 * both / (found + wanted) if found + wanted else 0.0


right = sum(answers[one] == label for one, label in truth.items())
scores = {"accuracy": right / len(truth), "macro-F1": (f1("0") + f1("1")) / 2, "answered": len(answers)}
with open(os.path.join(output, "scores.json"), "w") as file:
    json.dump(scores, file)
with open(os.path.join(output, "detailed_results.html"), "w") as file:
    file.write(f"<h1>Results</h1><p>{right} of {len(truth)} labels are right.</p>")
