"""Rows of a board as page and JSON: everything that somebody wrote is text there, and nothing of them
stays in memory.
"""

from __future__ import annotations

import gc
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from app.boards.documents import board_json
from app.boards.query import BoardQuery, Move, apply_query, row_key
from app.boards.rows import CardColumn, Cell, CommittedGold, Interval, Leaderboard, LeaderboardRow
from app.boards.views import BoardOut
from app.cards.form import CardAnswer, MethodCard
from app.competitions.columns import BoardColumn
from app.competitions.tracks import Track
from app.models import EntryRule, RowStatus
from app.web.boards.table import table_of
from app.web.boards.table_rows import Addresses
from app.web.html.rendering import environment
from tests import world
from tests.beside import add_other_task
from tests.rich_world import OTHER_BOARDS
from tests.web.reading import BOARD_PAGE, visit
from tests.web.site import Person, Site

#: What people write, and where.
WRITTEN = ("team", "method", "system", "source", "note", "track", "phase", "reason", "paper", "code", "answer")
AT = datetime(2026, 1, 11, 9, 0, 0, 120, tzinfo=UTC)
COLUMNS = tuple(
    BoardColumn(metric, "zero_shot/all", metric, 4, percent=False, higher_is_better=True, description="")
    for metric in ("macro_f1", "accuracy")
)


def evil(name: str) -> str:
    return f"\"'><i>{name}</i>&"


def row(number: int, kind: Any = "team", **more: Any) -> LeaderboardRow:
    card = MethodCard(evil("method"), paper=evil("paper"), code=evil("code"))
    card = MethodCard(card.method, "", card.paper, card.code, "", (), (CardAnswer("size", "Size", evil("answer")),))
    cells = Cell(0.5, None, "f1:1", Interval(0.25, 1e-7, 0.95, "t")), Cell(None, evil("reason"), None)
    return LeaderboardRow(
        **{
            **dict(rank=number, team=f"{number}{evil('team')}", kind=kind, cells=cells, achieved_at=AT, entries=2),
            **dict(method=evil("method"), card=card, track=evil("track"), page_id=UUID(int=number), cluster=number),
            **dict(rank_range=(number, number + 1), is_mine=number == 1, carried_from=evil("phase"), commitment="c"),
            **more,
        }
    )


BOARD = Leaderboard(
    columns=COLUMNS,
    rank_by=0,
    rows=(
        row(1),
        row(2, method="", system=evil("system"), card=None, submission_id=UUID(int=2)),
        row(3, "baseline", status=RowStatus.DISQUALIFIED, note=evil("note")),
        row(4, "historic", source=evil("source"), achieved_at=None, entries=None, rank_range=None, cluster=None),
    ),
    version="1",
    entry_rule=EntryRule.BEST,
    has_tracks=True,
    sealed_gold=(CommittedGold(3, "c"),),
    card_columns=(CardColumn("size", "Size"),),
    statistics="current",
)
PLACE: Any = SimpleNamespace(
    **dict(name="zero-shot", title="Zero-shot", description="", track=None),
    task=SimpleNamespace(name="detection", task_type="idiom-detection"),
    tracks=[{"name": evil("track"), "title": evil("track"), "description": ""}],
)


def test_whatever_somebody_wrote_is_text_in_the_table() -> None:
    query = BoardQuery()
    addresses = Addresses("/rows/", "?as=public&part=private", "/teams/", "?as=public&part=x")
    moved = {row_key(BOARD, one): Move(1, up) for one, up in zip(BOARD.rows, (2, -1, 0, None), strict=True)}
    table = table_of(
        apply_query(BOARD, query), query, PLACE, [], [Track(evil("track"), "Open", "")], addresses, moved=moved
    )
    html = environment().get_template("boards/table.html")
    text = html.render(
        board=PLACE,
        phase=PLACE,
        competition=PLACE,
        leaderboard=BOARD,
        table=table,
        titles={evil("phase"): evil("phase")},
    )
    assert "<i>" not in text
    assert "as=public&part" not in text
    assert [name for name in WRITTEN if f"&gt;&lt;i&gt;{name}&lt;" not in text] == []


def test_rows_in_json_are_as_the_schema_has_them() -> None:
    text = board_json(PLACE, PLACE, PLACE, BOARD, None)
    read = BoardOut.model_validate_json(text)
    assert read.model_dump_json().encode() == text
    assert [one.team for one in read.rows] == [one.team for one in BOARD.rows]


def test_a_page_of_a_board_leaves_no_row_behind(site: Site, ada: Person) -> None:
    """Check it, since otherwise garbage would be collected during the next board, with two boards in memory."""
    world.score(site.engine, world.submit(site.engine, ada.user).run_id, 0.5)
    with site.client() as reader:
        as_others = {"as": "public"}  # such a page is made each time
        assert "Ada" in reader.get(BOARD_PAGE, params=as_others).text  # whatever stays of the first one of all
        gc.collect()
        gc.disable()
        try:
            assert reader.get(BOARD_PAGE, params=as_others).status_code == 200
            # isinstance() asks objects for their class, and some of torch's warn who are asked.
            left = [one for one in gc.get_objects() if type(one) is LeaderboardRow]
        finally:
            gc.enable()
    assert not [one for one in left if one.team == "Ada"]


def test_the_tabs_of_a_board_are_those_of_its_own_task(site: Site) -> None:
    """Check that the other task's first board is reached by the name of that task."""
    add_other_task(site.engine)
    page = visit(site, BOARD_PAGE)

    def tabs(label: str) -> list[str]:
        tabs = page.split(f'aria-label="{label}"')[1].partition("</nav>")[0]
        return re.findall(r'/boards/([^"?]+)"', tabs)

    assert (tabs("Board"), tabs("Task")) == (["zero-shot", "one-shot"], ["zero-shot", OTHER_BOARDS[0]])
