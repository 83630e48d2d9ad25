"""Pictures by language and by category, as dots: chosen systems side by side, and one system in all of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.pictures.seen import Seen, value_of
from app.boards.pictures.splits import category_pattern, check_known, language_splits, title_of
from app.boards.rows import LeaderboardRow
from app.charts.picture import AxisOut, Choice, Heading, Look, Picture, PointOut, SeriesOut, Table
from app.competitions.ordering import effective_decimals
from app.competitions.visibility import rounded
from app.models import ScoringRun
from app.runs.report import read_report
from evergold.scoring.task import Score

#: Limit of what can be distinguished and read.
MOST_TEAMS = 6
FIRST_TEAMS = 3
LOOKS: dict[str, Look] = {"team": "team", "baseline": "baseline", "historic": "published"}
_TITLES: dict[Look, str] = {"team": "Teams", "baseline": "Baselines", "published": "Published"}
_MEANS = ("macro", "all")


def profile(seen: Seen, wanted: Sequence[str] = ()) -> Picture | None:
    """Return a picture of some teams' ranking scores in each language; None if the viewer sees fewer than two
    languages.
    """
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
    x = seen.ranking_axis
    y = AxisOut(title="Language", kind="category", categories=tuple(title_of(language) for language, _ in languages))
    series = []
    for name in chosen:
        points = []
        for language, place in languages:
            value, reason = value_of(rows[name].cells[place])
            points.append(
                PointOut(x=value, y=title_of(language), label=name, reason=reason, is_mine=rows[name].is_mine)
            )
        series.append(SeriesOut(name=name, look=LOOKS[rows[name].kind], points=tuple(points)))
    return Picture(
        name="languages",
        title="By language",
        kind="dots",
        about=f"{x.title} of each system in each language. Choose up to {MOST_TEAMS} systems.",
        summary=" ".join(_series_text(one, x) for one in series),
        x=x,
        y=y,
        series=tuple(series),
        table=Table(
            (Heading("System"), *(Heading(one, is_number=True) for one in y.categories)),
            tuple((one.name, *(x.text_of(point.x) for point in one.points)) for one in series),
        ),
        teams=tuple(Choice(name, name, name in chosen) for name in rows),
        several=True,
    )


def categories(session: Session, seen: Seen, wanted: Sequence[str] = ()) -> Picture | None:
    """Return a picture of one system's ranking metric by category and language; None if reports are not shown."""
    pattern = category_pattern(seen.board)
    rows = {name: row for name, row in seen.named_rows() if row.run_id is not None}
    if pattern is None or not rows:
        return None
    known = [name for name, _ in seen.named_rows()]
    check_known(wanted, known, "team")
    name = next((one for one in wanted if one in rows), next(iter(rows)))
    scores = _report_scores(session, rows[name].run_id, effective_decimals(seen.ranking, seen.leaderboard.precision))
    cells = {
        (found["language"], found["category"]): score
        for score in scores
        if score.metric == seen.board.rank_metric and (found := pattern.fullmatch(score.split))
    }
    if not cells:
        return None
    return _dots_of(seen, name, cells, tuple(rows))


def _dots_of(seen: Seen, name: str, cells: Mapping[tuple[str, str], Score], names: Sequence[str]) -> Picture:
    """Return the dot plot of scores by category. cells: by (language, category)."""
    languages = sorted({language for language, _ in cells}, key=lambda one: (one in _MEANS, one))
    kinds = sorted({category for _, category in cells}, key=lambda one: (one in _MEANS, one))
    x = seen.ranking_axis
    y = AxisOut(title="Category", kind="category", categories=tuple(map(title_of, kinds)))
    series = tuple(
        SeriesOut(
            name=title_of(language),
            look="mean" if language in _MEANS else "part",
            points=tuple(_cell(cells.get((language, one)), title_of(language), title_of(one)) for one in kinds),
        )
        for language in languages
    )
    defined = [point for one in series for point in one.points if point.x is not None]
    best, worst = max(defined, key=_score, default=None), min(defined, key=_score, default=None)
    return Picture(
        name="categories",
        title="By category",
        kind="dots",
        about=f"{x.title} of {name} for each category, a dot for each language.",
        summary=f"{name}: {_count(len(languages), 'language')} in {_count(len(kinds), 'category', 'categories')}."
        + (f" Highest: {_words(best, x)}. Lowest: {_words(worst, x)}." if best and worst else ""),
        x=x,
        y=y,
        series=series,
        table=Table(
            (Heading("Language"), *(Heading(one, is_number=True) for one in y.categories)),
            tuple((one.name, *(x.text_of(point.x) for point in one.points)) for one in series),
        ),
        teams=tuple(Choice(one, one, one == name) for one in names),
    )


def _cell(score: Score | None, language: str, category: str) -> PointOut:
    value, reason = (score.value, score.reason or "") if score else (None, "there is none")
    return PointOut(x=None if value is None else float(value), y=category, label=language, reason=reason)


def _report_scores(session: Session, run_id: int | None, decimals: int | None) -> list[Score]:
    """Return the scores of a run that the viewer may see, rounded to the board's decimals."""
    packed = session.scalar(select(ScoringRun.report).where(ScoringRun.id == run_id))
    if packed is None:
        return []
    return [Score(**{**score, "value": rounded(score["value"], decimals)}) for score in read_report(packed)["scores"]]


def _first(rows: dict[str, LeaderboardRow]) -> list[str]:
    """Return the names of the best rows of the board, and of the first baseline to compare with."""
    first = [name for name, row in rows.items() if row.kind != "baseline"][:FIRST_TEAMS]
    return first + [name for name, row in rows.items() if row.kind == "baseline"][:1]


def _series_text(series: SeriesOut, x: AxisOut) -> str:
    defined = [point for point in series.points if point.x is not None]
    if not defined:
        return f"{series.name}: no score in any language."
    best, worst = max(defined, key=_score), min(defined, key=_score)
    missing = [str(point.y) for point in series.points if point.x is None]
    rest = f", none in {listed(missing)}" if missing else ""
    return f"{series.name}: from {x.text_of(worst.x)} ({worst.y}) to {x.text_of(best.x)} ({best.y}){rest}."


def _score(point: PointOut) -> float:
    return point.x if isinstance(point.x, float) else 0.0


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"1 {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def _words(point: PointOut, x: AxisOut) -> str:
    return f"{x.text_of(point.x)} ({point.label}, {point.y})"


def series_of_systems(points: Sequence[tuple[Look, PointOut]], looks: Iterable[Look]) -> tuple[SeriesOut, ...]:
    """Return teams, baselines and published results as series. looks: all possible looks, in order."""
    found = {look: tuple(point for one, point in points if one == look) for look in looks}
    return tuple(SeriesOut(name=_TITLES[look], look=look, points=ones) for look, ones in found.items() if ones)


def listed(names: Sequence[str]) -> str:
    """Return the names as an enumeration: `A`, `A and B`, `A, B and C`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
