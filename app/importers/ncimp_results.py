"""Tables of the NCIMP paper as historic rows, from a CSV file provided by the organiser: none is included here.

The file has the form of historic rows, `team,date,metric,split,value`, a value per line, optionally with `method`,
`paper`, `code`: the team is the model, the split `en/nat/nc`, the metric any of the task type's (`sim_syn`,
`sim_syn_rho`, …).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from app.declarations.historic import COLUMNS, SAID_COLUMNS, read_historic
from evergold.scoring.errors import InvalidFile, Problem
from evergold.scoring.task import AnyTask, Options

HEADER = (*COLUMNS, *SAID_COLUMNS)

#: Columns as in HEADER.
HistoricRow = tuple[str, ...]


def published_rows(path: Path, task: AnyTask, options: Options, splits: Iterable[str]) -> dict[str, list[HistoricRow]]:
    """Return the rows by split; values within a class or standardised ones belong to their split.

    splits: those with boards. Raises InvalidFile with every problem, also if a value has no board because the sentences
    of its language and setting are missing.
    """
    read_historic(path, task, task.columns(options))
    known, found = set(splits), defaultdict[str, list[HistoricRow]](list)
    without: dict[str, int] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            split = "/".join(row["split"].strip().split("/")[:3])
            if split in known:
                found[split].append(tuple((row.get(name) or "").strip() for name in HEADER))
            else:
                without.setdefault(split, number)
    if without:
        message = "there is no board of {}: its sentences are not in the folder"
        raise InvalidFile(
            [
                Problem("unknown-split", message.format(split), file=path.name, line=line, column="split")
                for split, line in without.items()
            ]
        )
    return dict(found)
