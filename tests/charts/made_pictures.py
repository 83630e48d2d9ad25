"""Random pictures of boards, the same for the same seed: crowded, with long names and equal scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from app.charts.picture import AxisOut, Heading, LineOut, Look, Picture, PointOut, SeriesOut, Table

NAMES = (
    "Magpie", "Saudade Lab", "Loureiro", "Lexicon", "Université de Paris-Cité NLP group", "東京大学", "მწვანე", "שלום",
    "Bo", "UniWarsaw", "TüTiNg", "kiwi", "A team whose name goes on and on for ever",
)  # fmt: skip
F1 = AxisOut(title="Macro F1", decimals=2, percent=True)
_TABLE = Table((Heading("System"),), (("Bo",),))
_START = datetime(2026, 1, 5, tzinfo=UTC)


def made(seed: int) -> list[Picture]:
    """Return one picture of each kind, as Bo sees it."""
    chance = random.Random(seed)  # noqa: S311 - to draw, not to hide
    names = [*NAMES, *(f"Team {at}" for at in range(chance.randrange(0, 25)))]
    middle, spread = chance.uniform(0.2, 0.9), chance.choice((0.002, 0.03, 0.15))

    def score() -> float:
        return min(1.0, max(0.0, round(chance.gauss(middle, spread), chance.choice((2, 4)))))

    systems = [(name, score()) for name in names]
    systems.sort(key=lambda one: -one[1])
    return [
        _progress(chance, names, score),
        _spread(chance, middle, spread, score),
        _languages(chance, score),
        _categories(score),
        _plane(names, score),
        _forest(systems, spread),
        _pairs(chance, [name for name, _ in systems]),
        _days(chance),
    ]


def _picture(name: str, kind: str, x: AxisOut, y: AxisOut, series: Sequence[SeriesOut], **more: object) -> Picture:
    words = {"title": f"Picture {name}", "about": "How to read it.", "summary": "What is to be seen.", "table": _TABLE}
    return Picture(name=name, kind=kind, x=x, y=y, series=tuple(series), **words, **more)


def _progress(chance, names, score) -> Picture:  # type: ignore[no-untyped-def]
    days = chance.choice((0.2, 3, 40, 900))
    moments = sorted(_START + timedelta(days=chance.random() * days) for _ in range(chance.randrange(1, 90)))
    values, whose = [score() for _ in moments], [chance.choice(names) for _ in moments]
    points = [
        PointOut(x=moment.isoformat(), y=value, label=name, is_mine=name == "Bo")
        for moment, value, name in zip(moments, values, whose, strict=True)
    ]
    records = [point for at, point in enumerate(points) if all(before < values[at] for before in values[:at])]
    series = (
        SeriesOut(name="Entries", look="team", points=tuple(points)),
        SeriesOut(name="Record", look="record", points=tuple(records)),
    )
    lines = (
        LineOut(label="Baseline: Majority class of the training data", axis="y", value=score()),
        LineOut(label="Published: Paper", axis="y", value=score()),
    )
    return _picture("progress", "steps", AxisOut(title="Submitted", kind="time"), F1, series, lines=lines)


def _spread(chance, middle, spread, score) -> Picture:  # type: ignore[no-untyped-def]
    low, step = round(middle - 4 * spread, 3), spread
    counts = [chance.choice((0, 1, 4, 17)) for _ in range(7)] + [3]
    names = tuple(f"{low + step * at:.3f} to {low + step * (at + 1):.3f}" for at in range(8))
    values = [min(max(score(), low), low + 8 * step) for _ in range(4)]
    lines = [
        LineOut(label=f"Baseline: {name}", axis="x", value=value)
        for name, value in zip(NAMES[3:6], values, strict=False)
    ]
    lines.append(LineOut(label="You: Bo", axis="x", value=values[3], is_mine=True))
    bars = tuple(PointOut(x=low + step * at, y=float(count)) for at, count in enumerate(counts))
    x = AxisOut(title="Macro F1", kind="value", categories=names, decimals=2, percent=True)
    series = (SeriesOut(name="Teams", look="count", points=bars),)
    return _picture("distribution", "histogram", x, AxisOut(title="Teams"), series, lines=tuple(lines), width=step)


LANGUAGES = ("EL", "FR", "GA", "HE", "HI", "IT", "JA", "KA", "PL", "PT", "RO")
CATEGORIES = ("VID", "LVC.full", "LVC.cause", "IRV", "VPC.full")


def _languages(chance, score) -> Picture:  # type: ignore[no-untyped-def]
    teams = chance.sample(NAMES, 5) + ["Bo"]
    series = [
        SeriesOut(
            name=team,
            look="team",
            points=tuple(PointOut(x=score(), y=language, label=team, is_mine=team == "Bo") for language in LANGUAGES),
        )
        for team in dict.fromkeys(teams)
    ]
    return _picture("languages", "dots", F1, AxisOut(title="Language", kind="category", categories=LANGUAGES), series)


def _categories(score) -> Picture:  # type: ignore[no-untyped-def]
    def series(name: str, look: Look) -> SeriesOut:
        return SeriesOut(
            name=name, look=look, points=tuple(PointOut(x=score(), y=category, label=name) for category in CATEGORIES)
        )

    parts = [series(language, "part") for language in LANGUAGES]
    return _picture(
        "categories",
        "dots",
        F1,
        AxisOut(title="Category", kind="category", categories=CATEGORIES),
        [*parts, series("Mean", "mean")],
    )


def _plane(names, score) -> Picture:  # type: ignore[no-untyped-def]
    points = tuple(PointOut(x=score(), y=score(), label=name, is_mine=name == "Bo") for name in names)
    series = [
        SeriesOut(name="Teams", look="team", points=points),
        SeriesOut(name="Baselines", look="baseline", points=(PointOut(x=score(), y=score(), label="Majority"),)),
    ]
    return _picture("seen-unseen", "scatter", F1, F1, series, diagonal=True)


def _forest(systems, spread) -> Picture:  # type: ignore[no-untyped-def]
    points = tuple(
        PointOut(
            x=value,
            y=name,
            label=name,
            is_mine=name == "Bo",
            low=value - spread,
            high=value + spread,
            rank=f"{at}–{at + 4}",
        )
        for at, (name, value) in enumerate(systems, 1)
    )
    y = AxisOut(title="System", kind="category", categories=tuple(name for name, _ in systems))
    lines = (LineOut(label="Baseline: Majority class of the training data", axis="x", value=systems[-1][1]),)
    return _picture("forest", "forest", F1, y, (SeriesOut(name="Teams", look="team", points=points),), lines=lines)


def _pairs(chance, names) -> Picture:  # type: ignore[no-untyped-def]
    cells: dict[Look, list[PointOut]] = {"better": [], "worse": [], "same": []}
    for at, one in enumerate(names):
        for other_at, other in enumerate(names):
            if one != other:
                p = chance.random() ** (1 + abs(at - other_at))
                look: Look = "same" if p > 0.05 else "better" if at < other_at else "worse"
                cells[look].append(PointOut(x=other, y=one, label=one, value=p, is_mine=one == "Bo"))
    axis = AxisOut(title="System", kind="category", categories=tuple(names))
    series = [SeriesOut(name=look, look=look, points=tuple(points)) for look, points in cells.items()]
    return _picture("pairs", "matrix", axis, axis, series, scale=AxisOut(title="p", decimals=4))


def _days(chance) -> Picture:  # type: ignore[no-untyped-def]
    days = tuple(f"{_START + timedelta(days=at):%Y-%m-%d}" for at in range(chance.choice((1, 9, 91))))
    bars = tuple(PointOut(x=day, y=float(chance.choice((0, 1, 7, 240)) + (at == 0))) for at, day in enumerate(days))
    return _picture(
        "submissions", "bars",
        AxisOut(title="Day (UTC)", kind="category", categories=days), AxisOut(title="Scored submissions"),
        (SeriesOut(name="Scored submissions", look="count", points=bars),),
    )  # fmt: skip
