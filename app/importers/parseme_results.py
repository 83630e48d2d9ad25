"""Published results of PARSEME identification as historic rows: the tables of 1.2's paper, and Codabench's for 2.0.

The paper's figures are in `app/data`. What Codabench calls its columns is the organisers' choice, so that whoever reads
a result list says which score each column is; `result_tables` reads the list itself.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from decimal import Decimal
from importlib import resources

from scoring.tasks.mwe_identification import MACRO

PUBLISHED = "published_parseme12.csv"
#: The day of the workshop whose proceedings have the figures; historic rows bear it.
PUBLISHED_ON = "2020-12-13"
#: The languages of edition 1.2: its macro-averages mean nothing beside those of others.
LANGUAGES = frozenset("de el eu fr ga he hi it pl pt ro sv tr zh".split())

#: team, date, metric, split, value
HistoricRow = tuple[str, str, str, str, str]


def published_rows(languages: Collection[str]) -> dict[str, list[HistoricRow]]:
    """The results of 1.2's paper by board, `unseen` and `unseen-by-language`, for a competition with these languages.

    Values are fractions; the team's name tells its track. Macro-averages are left out unless the languages are those of
    the edition; SHOMA too, whose results are on the data of edition 1.1. A board without rows is left out.
    """
    boards: dict[str, list[HistoricRow]] = {"unseen": [], "unseen-by-language": []}
    rows = [row for row in _published() if row["system"].partition(" ")[0] != "SHOMA"]
    tracks = {row["system"]: row["track"] for row in rows if row["track"]}
    detailed = {row["system"] for row in rows if row["table"] == "6"}
    comparable = LANGUAGES == set(languages)
    told: set[str] = set()
    for row in rows:
        system, split = row["system"], row["split"]
        if split.partition("/")[0] not in ({*languages, MACRO} if comparable else languages):
            continue
        team = f"{system} ({tracks[system]} track)"
        score = (team, PUBLISHED_ON, row["metric"], split, _fraction(row["percent"]))
        ranking = (row["metric"], split) == ("mwe_f1", f"{MACRO}/unseen")
        if row["table"] == "5":
            boards["unseen"].append(score)
        if row["table"] == "6" or (ranking and system in detailed):
            boards["unseen-by-language"].append(score)
        ...
    return {board: rows for board, rows in boards.items() if rows}
