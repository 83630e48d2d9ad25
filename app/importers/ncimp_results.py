"""The tables of the NCIMP paper as historic rows, from a CSV file that an organiser gives: none is carried here.

The file has the form of historic rows, `team,date,metric,split,value`, a value a line, perhaps with `method`, `paper`,
`code`: the team is the model, the split `en/nat/nc`, the metric any of the task type's (`sim_syn`, `sim_syn_rho`, …).
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

#: As HEADER has it.
HistoricRow = tuple[str, ...]


def published_rows(path: Path, task: AnyTask, options: Options, splits: Iterable[str]) -> dict[str, list[HistoricRow]]:
    """The rows by split; those within a class or standardised stand with their split.

    splits: those that there are boards of. Raises InvalidFile with every problem, also where a value belongs to none:
    the sentences of that language and setting are missing.
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
