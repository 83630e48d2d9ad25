"""Baselines of ranking: the candidates in the listed order, and by the words that they share with the query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evergold.baselines.baseline import Baseline, Row, read_any_rows, written_rows
from evergold.baselines.text import number, word_overlap
from evergold.scoring.tables.ranking_files import DOCUMENT, QUERY, SCORE
from evergold.scoring.tasks.ranking import RankingOptions

#: Columns of the blind file with the texts of both sides.
QUERY_TEXT, DOCUMENT_TEXT = "query_text", "document_text"
#: Used if any document may be ranked, and the blind file names none.
_NO_DOCUMENT = "none"


def _ranked(
    relevance: Callable[[Row, int], float], items: Path, training: Sequence[Path], options: RankingOptions
) -> bytes:
    """Return a submission that ranks documents by `relevance`: a function of a row and the number of its query's rows
    after it.
    """
    rows = read_any_rows(items, [QUERY])
    of_query: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_query[row[QUERY]].append(row)
    return written_rows(
        (QUERY, DOCUMENT, SCORE),
        (
            (query, row.get(DOCUMENT, _NO_DOCUMENT), number(relevance(row, len(listed) - place)))
            for query, listed in of_query.items()
            for place, row in enumerate(listed, start=1)
        ),
    )


def _as_listed(row: Row, after: int) -> float:
    return float(after)


def _words(row: Row, after: int) -> float:
    return word_overlap(row.get(QUERY_TEXT, row[QUERY]), row.get(DOCUMENT_TEXT, row.get(DOCUMENT, "")))


BASELINES = (
    Baseline("as-listed", "The candidates in the order of the blind file.", partial(_ranked, _as_listed)),
    Baseline(
        "word-overlap",
        f"The share of words that `{QUERY_TEXT}` and `{DOCUMENT_TEXT}` of the blind file have in common; without "
        "these columns, of the names.",
        partial(_ranked, _words),
    ),
)
