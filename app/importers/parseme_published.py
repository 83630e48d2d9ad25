"""Published results of PARSEME identification as historic rows: the tables for 1.2, and systems of 2.0.

The figures are in `app/data` with their sources, and so are papers and code of the systems.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from app.declarations.historic import COLUMNS, SAID_COLUMNS
from app.importers.parseme_texts import TRACKS
from app.importers.published import read_published
from evergold.scoring.mwe_options import MACRO

HEADER = (*COLUMNS, *SAID_COLUMNS)
PUBLISHED = {"1.2": "published_parseme12.csv", "2.0": "published_parseme20.csv"}
SYSTEMS = "systems_parseme.csv"
#: Days of the workshops whose proceedings have the figures, used as dates of historic rows.
PUBLISHED_ON = {"1.2": "2020-12-13", "2.0": "2026-03-28"}
#: Languages of the editions: macro-averages over other languages are not comparable.
LANGUAGES = {
    "1.2": frozenset(["de", "el", "eu", "fr", "ga", "he", "hi", "it", "pl", "pt", "ro", "sv", "tr", "zh"]),
    "2.0": frozenset(
        ["egy", "el", "fa", "fr", "grc", "he", "ja", "ka", "lv", "nl", "pl", "pt", "ro", "sl", "sr", "sv", "uk"]
    ),
}
_RANKING = ("mwe_f1", f"{MACRO}/unseen")

#: Columns as in HEADER.
HistoricRow = tuple[str, ...]
_Printed = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Systems:
    """Systems of an edition: by name the track, if boards show it, and paper and code, if known."""

    edition: str
    tracks: Mapping[str, str]
    links: Mapping[str, tuple[str, str]]

    def row(self, system: str, metric: str, split: str, value: str) -> HistoricRow:
        name = f"{system} ({self.tracks[system]})" if system in self.tracks else system
        return name, PUBLISHED_ON[self.edition], metric, split, value, "", *self.links.get(system, ("", ""))

    def scores(self, printed: Iterable[_Printed]) -> list[HistoricRow]:
        """Return the scores as fractions."""
        return [
            self.row(row["system"], row["metric"], row["split"], f"{Decimal(row['percent']) / 100:f}")
            for row in printed
        ]

    def counts(self, printed: Iterable[_Printed]) -> list[HistoricRow]:
        """Return the number of languages for which each system submitted."""
        found = {row["system"]: row["languages"] for row in printed}
        return [self.row(system, "languages", MACRO, count) for system, count in found.items()]


def published_rows(edition: str, languages: Collection[str]) -> dict[str, list[HistoricRow]]:
    """Return the results by board for a competition with these languages; boards without rows are omitted.

    Values are fractions. Macro-averages are omitted unless the languages are exactly the edition's.
    """
    if edition not in PUBLISHED:
        return {}
    printed = read_published(PUBLISHED[edition])
    tracks = {row["system"]: row["track"] for row in printed if row.get("track")}
    links = {row["system"]: (row["paper"], row["code"]) for row in read_published(SYSTEMS) if row["edition"] == edition}
    systems = _Systems(edition, tracks, links)
    overall = [row for row in printed if row["split"].startswith(MACRO)] if set(languages) == LANGUAGES[edition] else []
    if edition == "1.2":
        detailed = [row for row in printed if row["split"].partition("/")[0] in languages]
        boards = _of_edition_1_2(systems, overall, detailed)
    else:
        boards = {"mwe-based": systems.scores(overall)}
    return {board: rows for board, rows in boards.items() if rows}


def _of_edition_1_2(
    systems: _Systems, overall: Sequence[_Printed], detailed: Sequence[_Printed]
) -> dict[str, list[HistoricRow]]:
    """Return the boards `unseen`, one per track, and `unseen-by-language`, where a system's name includes its track.

    overall, detailed: of tables 5 and 6. SHOMA, the paper's reference, was scored on the test data of 1.1, as its name
    states.
    """
    by_track = {track: [row for row in overall if row["track"] == track] for track in TRACKS}
    named = {row["system"] for row in detailed}
    macro = [row for row in overall if row["system"] in named and (row["metric"], row["split"]) == _RANKING]
    return {
        "unseen": [*systems.scores(overall), *systems.counts(overall)],
        **{f"unseen-{track}": [*systems.scores(rows), *systems.counts(rows)] for track, rows in by_track.items()},
        "unseen-by-language": [*systems.scores([*macro, *detailed]), *systems.counts(macro)],
    }
