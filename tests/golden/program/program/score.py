"""Share of right forms, and mean edit distance, as an organiser would write it."""

import csv
import json
import os
import sys


def distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        before, row[0] = row[0], place
        for at, second in enumerate(other, start=1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != second))
    return row[-1]


def forms(folder: str) -> "dict[str, str]":
    [name] = os.listdir(folder)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return {row["id"]: row["form"] for row in csv.DictReader(file)}


given, output = sys.argv[1:]
gold, found = forms(given + "/ref"), forms(given + "/res")
right = sum(found.get(key) == form for key, form in gold.items())
apart = sum(distance(form, found.get(key, "")) for key, form in gold.items())
with open(output + "/scores.json", "w", encoding="utf-8") as file:
    json.dump({"accuracy": right / len(gold), "Mean Distance": apart / len(gold)}, file)
