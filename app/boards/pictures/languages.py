"""Pictures by language: the profiles of chosen teams side by side, and one team's categories as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.pictures.seen import Seen, value_of
from app.boards.pictures.shapes import Axis, Choice, Heading, Look, Picture, Point, Series, Table, listed, value_axis
from app.boards.pictures.splits import category_pattern, check_known, language_splits, title_of
from app.boards.rows import LeaderboardRow
from app.competitions.ordering import decimals_of
from app.competitions.visibility import rounded
from app.models import ScoringRun
from app.runs.report import read_report
from evergold.scoring.task import Score

#: As many as can be told apart, and read.
MOST_TEAMS = 6
FIRST_TEAMS = 3
LOOKS: dict[str, Look] = {"team": "team", "baseline": "baseline", "historic": "published"}
_MEANS = ("macro", "all")


def profile(seen: Seen, wanted: Sequence[str] = ()) -> Picture | None:
    """The ranking score of some teams in each language; None where the viewer sees fewer than two languages."""
    splits = language_splits(seen.board, seen.options)
    places = {language: seen.place(seen.board.rank_metric, split) for language, split in splits.items()}
    languages = [(language, place) for language, place in places.items() if place is not None]
    rows = {
        name: row
        for name, row in seen.named_rows()
        if any(row.cells[place].value is not None for _, place in languages)
    }
    if len(languages) < 2 or not rows:
        return None
    check_known(wanted, [name for name, _ in seen.named_rows()], "team")
    chosen = [name for name in dict.fromkeys(wanted) if name in rows][:MOST_TEAMS] or _first(rows)
    y = value_axis(seen.ranking, seen.ranking_title)
    x = Axis("Language", "category", tuple(title_of(language) for language, _ in languages))
    series = []
    for name in chosen:
        points = []
        for language, place in languages:
            value, reason = value_of(rows[name].cells[place])
            points.append(Point(title_of(language), value, name, reason=reason, is_mine=rows[name].is_mine))
        series.append(Series(name, LOOKS[rows[name].kind], tuple(points)))
    return Picture(
        name="languages",
        title="By language",
        kind="profile",
        about=f"{y.title} of each system in each language. Choose up to {MOST_TEAMS} systems.",
        summary=" ".join(_told(one, y) for one in series),
        x=x,
        y=y,
        series=tuple(series),
        table=Table(
            (Heading("System"), *(Heading(one, is_number=True) for one in x.categories)),
            tuple((one.name, *(y.text_of(point.y) for point in one.points)) for one in series),
        ),
        teams=tuple(Choice(name, name, name in chosen) for name in rows),
        several=True,
    )


def heat_map(session: Session, seen: Seen, wanted: Sequence[str] = ()) -> Picture | None:
    """One system's ranking metric for each language and category, from its report; None where reports are not shown."""
    pattern = category_pattern(seen.board)
    rows = {name: row for name, row in seen.named_rows() if row.run_id is not None}
    if pattern is None or not rows:
        return None
    known = [name for name, _ in seen.named_rows()]
    check_known(wanted, known, "team")
    name = next((one for one in wanted if one in rows), next(iter(rows)))
    scores = _report_scores(session, rows[name].run_id, decimals_of(seen.ranking, seen.leaderboard.precision))
    cells = {
        (found["language"], found["category"]): score
        for score in scores
        if score.metric == seen.board.rank_metric and (found := pattern.fullmatch(score.split))
    }
    if not cells:
        return None
    return _map_of(seen, name, cells, tuple(rows))


def _map_of(seen: Seen, name: str, cells: dict[tuple[str, str], Score], names: Sequence[str]) -> Picture:
    languages = sorted({language for language, _ in cells}, key=lambda one: (one in _MEANS, one))
    categories = sorted({category for _, category in cells}, key=lambda one: (one in _MEANS, one))
    scale = value_axis(seen.ranking, seen.ranking_title)
    points = []
    for language in languages:
        for category in categories:
            score = cells.get((language, category))
            value, reason = (score.value, score.reason or "") if score else (None, "there is none")
            points.append(Point(title_of(category), title_of(language), name, value, reason))
    x = Axis("Category", "category", tuple(map(title_of, categories)))
    y = Axis("Language", "category", tuple(map(title_of, languages)))
    defined = [point for point in points if point.value is not None]
    best, worst = (
        [max(defined, key=lambda one: one.value or 0.0), min(defined, key=lambda one: one.value or 0.0)]
        if defined
        else (None, None)
    )
    return Picture(
        name="categories",
        title="Languages by category",
        kind="heat",
        about=f"{scale.title} of {name} for each language and category; the number stands in the cell.",
        summary=f"{len(languages)} languages and {len(categories)} categories of {name}."
        + (f" Highest: {_cell(best, scale)}. Lowest: {_cell(worst, scale)}." if best and worst else ""),
        x=x,
        y=y,
        series=(Series(name, "cells", tuple(points)),),
        scale=scale,
        table=Table(
            (Heading("Language"), *(Heading(one, is_number=True) for one in x.categories)),
            tuple(
                (language, *(scale.text_of(point.value) for point in points if point.y == language))
                for language in y.categories
            ),
        ),
        teams=tuple(Choice(one, one, one == name) for one in names),
    )


def _report_scores(session: Session, run_id: int | None, decimals: int | None) -> list[Score]:
    """Of a run that the board names to its viewer, in the digits that it shows."""
    packed = session.scalar(select(ScoringRun.report).where(ScoringRun.id == run_id))
    if packed is None:
        return []
    return [Score(**{**score, "value": rounded(score["value"], decimals)}) for score in read_report(packed)["scores"]]


def _first(rows: dict[str, LeaderboardRow]) -> list[str]:
    """The best of the board, and the first baseline to compare with."""
    first = [name for name, row in rows.items() if row.kind != "baseline"][:FIRST_TEAMS]
    return first + [name for name, row in rows.items() if row.kind == "baseline"][:1]


def _told(series: Series, y: Axis) -> str:
    defined = [point for point in series.points if isinstance(point.y, float)]
    if not defined:
        return f"{series.name}: no score in any language."
    best, worst = max(defined, key=_height), min(defined, key=_height)
    missing = [str(point.x) for point in series.points if point.y is None]
    rest = f", none in {listed(missing)}" if missing else ""
    return f"{series.name}: from {y.text_of(worst.y)} ({worst.x}) to {y.text_of(best.y)} ({best.x}){rest}."


def _height(point: Point) -> float:
    return point.y if isinstance(point.y, float) else 0.0


def _cell(point: Point, scale: Axis) -> str:
    return f"{scale.text_of(point.value)} ({point.y}, {point.x})"
