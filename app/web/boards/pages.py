"""Pages around the board: results of a task, rankings, pictures, citation, shared links, the sitemap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from typing import Annotated
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from fastapi import Query, Response
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.base import api_links, links
from app.base.errors import NotFound
from app.boards.axis import axis_of, baseline_value
from app.boards.citations import cite_competition, cite_paper, plain_citation
from app.boards.leaderboard import board_version, build_leaderboard
from app.boards.pictures.gallery import find_picture, pictures_of
from app.boards.pictures.languages import MOST_TEAMS
from app.boards.pictures.seen import look_at
from app.boards.rankings import build_ranking, find_ranking
from app.boards.rows import Leaderboard, LeaderboardRow
from app.boards.side_by_side import ResultColumn, build_results, find_task, results_best, sort_results
from app.boards.snapshots import Official, list_official
from app.charts.draw import draw, draw_file
from app.charts.picture import Picture
from app.charts.preview import BoardPicture, PictureRow, PictureServer, draw_board, rows_shown
from app.competitions.find import boards_of, find_board, find_competition, listed_competitions
from app.competitions.limits import phase_state
from app.competitions.views import citation_of
from app.competitions.visibility import SeenAs, Viewer, view_of_board, views_of
from app.looks.look import Looks
from app.models import Board, BoardShown, Competition, Phase, RankingBy
from app.web.boards.query import SplitAsked, TeamsAsked
from app.web.competitions.pages import card_of
from app.web.html.drawings import SVG
from app.web.html.rendering import asset, environment, render_page
from app.web.html.sharing import share_competition, whole_address
from app.web.html.words import format_score
from app.web.html.workspace import Place, workspace_of
from app.web.http.caching import is_known, not_modified, strong_etag
from app.web.http.context import public_address
from app.web.http.paths import BoardNames, BoardNamesHere
from app.web.http.routers import page_router
from app.web.http.visit import PageVisit, PublicVisit
from evergold.moments import date_words

router = page_router()


@dataclass(frozen=True, slots=True)
class FrozenBoard:
    """A board with all its official versions, latest first."""

    phase: Phase
    board: Board
    versions: list[Official]


@router.get("/competitions/{competition}/cite")
def read_cite(visit: PageVisit, competition: str) -> Response:
    session, viewer, now = visit.session, visit.viewer, visit.now
    found = find_competition(session, competition)
    workspace = workspace_of(session, found, viewer, "cite")
    public_boards = _public_boards(session, found, now)
    frozen = [
        FrozenBoard(phase, board, versions[::-1])
        for phase in found.phases
        for board in boards_of(found, phase)
        if (versions := list_official(session, phase, board, viewer))
    ]
    address, citation = public_address(visit.request, visit.server, links.competition(found.name)), citation_of(found)
    return render_page(
        visit,
        "boards/cite.html",
        competition=found,
        workspace=workspace,
        sharing=share_competition(visit.server, found, links.tab(found.name, "cite")),
        bibtex=cite_competition(found, address, now),
        plain=plain_citation(found, address, now),
        paper=citation.paper,
        paper_bibtex=cite_paper(found),
        licence=citation.licence,
        embeddable=_embeddable(found, public_boards, partial(public_address, visit.request, visit.server)),
        address=address,
        frozen=frozen,
        seen_as=viewer.seen_as,
        now=now,
    )


def _public_boards(session: Session, competition: Competition, now: datetime) -> list[tuple[Phase, Board]]:
    """Return the boards that the public may see, each with its phase."""
    found = []
    for phase in competition.phases:
        views = views_of(session, phase.phase_tasks, Viewer(None, now))
        public = {one.task_id for one in phase.phase_tasks if views[one.id].board is BoardShown.PUBLIC}
        found += [(phase, board) for board in boards_of(competition, phase) if board.task_id in public]
    return found


def _embeddable(
    competition: Competition, boards: list[tuple[Phase, Board]], address: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Return each board's title and the HTML that embeds it in another site."""
    return [
        (
            f"{board.title}, {phase.title}",
            f'<iframe src="{address(links.embedded(competition.name, phase.name, board.name))}" '
            f'title="{board.title.replace(chr(34), "")}" width="100%" height="640" loading="lazy"></iframe>',
        )
        for phase, board in boards
    ]


@dataclass(frozen=True, slots=True)
class PictureShown:
    """A picture drawn for desktop and phone, with the addresses of its data and of its file."""

    picture: Picture
    wide: Markup
    narrow: Markup
    numbers: str
    file: str


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/pictures")
def read_pictures(
    visit: PageVisit,
    names: BoardNamesHere,
    split: SplitAsked = None,
    teams: TeamsAsked = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    session, viewer, now = visit.session, visit.viewer, visit.now
    found = find_competition(session, names.competition)
    where = find_board(found, names.phase, names.board)
    seen = look_at(session, *where, viewer)
    pictures = pictures_of(session, seen, split=split, teams=teams)
    view = view_of_board(session, *where, viewer)
    here = Place(where[0], where[1].task, where[1])
    workspace = workspace_of(session, found, viewer, "pictures", here)
    return render_page(
        visit,
        "boards/pictures.html",
        competition=found,
        workspace=workspace,
        phase=where[0],
        board=where[1],
        state=phase_state(where[0], now),
        view=view,
        seen_as=viewer.seen_as,
        pictures=[_shown(one, names, _query(split, teams, viewer.seen_as)) for one in pictures],
        most_teams=MOST_TEAMS,
    )


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/pictures/{picture}.svg")
def read_picture_file(
    visit: PageVisit,
    names: BoardNamesHere,
    picture: str,
    split: SplitAsked = None,
    teams: TeamsAsked = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    session = visit.session
    found = find_competition(session, names.competition)
    where = find_board(found, names.phase, names.board)
    seen = look_at(session, *where, visit.viewer)
    drawn = find_picture(pictures_of(session, seen, split=split, teams=teams), picture)
    context = f"{found.title} · {where[1].title} · {where[0].title}"
    name = f"{'-'.join(names)}-{drawn.name}.svg"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(draw_file(drawn, context), media_type=SVG, headers=headers)


def _shown(picture: Picture, place: BoardNames, query: str) -> PictureShown:
    drawn = draw(picture)
    return PictureShown(
        picture,
        Markup(drawn.wide),  # noqa: S704 - escaped by ElementTree
        Markup(drawn.narrow),  # noqa: S704 - escaped by ElementTree
        f"{api_links.picture(*place, picture.name)}{query}",
        f"{links.picture_file(*place, picture.name)}{query}",
    )


def _query(split: str | None, teams: Sequence[str], seen_as: SeenAs | None) -> str:
    """Return the query string that requests data and files with the same choices as the page."""
    parameters = [("split", split)] if split else []
    parameters += [("teams", team) for team in teams]
    parameters += [("as", seen_as.value)] if seen_as else []
    return f"?{urlencode(parameters)}" if parameters else ""


@router.get("/competitions/{competition}/phases/{phase}/rankings/{ranking}")
def read_ranking(visit: PageVisit, competition: str, phase: str, ranking: str) -> Response:
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    place = next((one for one in found.phases if one.name == phase), None)
    if place is None:
        raise NotFound(f"Competition '{competition}' has no phase '{phase}'.")
    table = build_ranking(session, place, find_ranking(found, place, ranking), viewer)
    workspace = workspace_of(session, found, viewer, "leaderboard", Place(place))
    return render_page(
        visit,
        "boards/ranking.html",
        competition=found,
        workspace=workspace,
        phase=place,
        table=table,
        by_rank=table.ranking.by is RankingBy.MEAN_RANK,
        seen_as=viewer.seen_as,
    )


@dataclass(frozen=True, slots=True)
class PhaseHeading:
    """The heading of a phase above its columns."""

    phase: Phase
    columns: int


@router.get("/competitions/{competition}/tasks/{task}/results")
def read_results(
    visit: PageVisit,
    competition: str,
    task: str,
    sort: Annotated[str, Query()] = "",
) -> Response:
    """Show all results of a task. sort: `phase/board`; any other value keeps the default order."""
    session, viewer = visit.session, visit.viewer
    found = find_competition(session, competition)
    found_task = find_task(found, task)
    results = build_results(session, found, found_task, viewer)
    workspace = workspace_of(session, found, viewer, "leaderboard", Place(task=found_task))
    keys = [key_of(column) for column in results.columns]
    if sort in keys:
        results = sort_results(results, keys.index(sort))
    return render_page(
        visit,
        "boards/results.html",
        competition=found,
        workspace=workspace,
        task=found_task,
        results=results,
        headings=_headings(results.columns),
        keys=keys,
        best=results_best(results),
        seen_as=viewer.seen_as,
    )


def key_of(column: ResultColumn) -> str:
    """Return the name of a column as used in addresses."""
    return f"{column.phase.name}/{column.board.name}"


def _headings(columns: Sequence[ResultColumn]) -> list[PhaseHeading]:
    phases = dict.fromkeys(column.phase for column in columns)
    return [PhaseHeading(phase, sum(column.phase is phase for column in columns)) for phase in phases]


#: No scripts, no external resources; any site may frame it, since it has no forms and uses no cookies.
EMBED_POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors *"
)
PICTURES_KEPT = 64


@router.get("/competitions/{competition}/phases/{phase}/boards/{board}/picture.png")
def read_picture(visit: PublicVisit, names: BoardNamesHere) -> Response:
    session = visit.session
    found = find_competition(session, names.competition)
    of_phase, of_board = find_board(found, names.phase, names.board)
    version, day = board_version(session, of_phase, of_board, visit.viewer), date_words(visit.now)
    looks = visit.server.looks
    etag = strong_etag(visit.request, "picture", version, found.title, day, looks.name, looks.accents)
    headers = {"ETag": etag, "Cache-Control": "public, max-age=300"}
    if is_known(visit.request, etag):
        return not_modified(headers)
    leaderboard = build_leaderboard(session, of_phase, of_board, visit.viewer)
    if leaderboard.view.board is not BoardShown.PUBLIC:
        raise NotFound("A board whose scores are not public has no picture.")
    picture = _picture(looks, (found, of_phase, of_board), leaderboard, day)
    return Response(_drawn(picture), media_type="image/png", headers=headers)


@lru_cache(maxsize=PICTURES_KEPT)
def _drawn(picture: BoardPicture) -> bytes:
    """Draw a picture. Results are cached, because the board's version changes with everything that it may show."""
    return draw_board(picture)


def _picture(looks: Looks, of: tuple[Competition, Phase, Board], leaderboard: Leaderboard, day: str) -> BoardPicture:
    competition, phase, board = of
    axis, baseline = axis_of(leaderboard), baseline_value(leaderboard)
    column = leaderboard.columns[leaderboard.rank_by]

    def row_of(row: LeaderboardRow) -> PictureRow:
        value = row.cells[leaderboard.rank_by].value
        score = "–" if value is None else format_score(value, column)
        place = axis.place(value) if axis is not None and value is not None else None
        return PictureRow(str(row.rank or ""), row.team, score, place)

    shown, more = rows_shown([row_of(row) for row in leaderboard.rows])
    place = axis.place(baseline) if axis is not None and baseline is not None and axis.holds(baseline) else None
    title = f"{board.title}, {phase.title}"
    server = PictureServer(looks.name, looks.accents[0]) if looks.accents else PictureServer(looks.name)
    return BoardPicture(competition.title, title, column.full_title, shown, more, day, place, server)


@router.get("/embed/competitions/{competition}/phases/{phase}/boards/{board}")
def read_embedded(
    visit: PublicVisit,
    names: BoardNamesHere,
    rows: Annotated[int, Query(ge=1, le=500)] = 20,
) -> Response:
    found = find_competition(visit.session, names.competition)
    of_phase, of_board = find_board(found, names.phase, names.board)
    shown = build_leaderboard(visit.session, of_phase, of_board, visit.viewer)
    address = whole_address(visit.server, links.board(*names))
    html = _embedded(visit.server.looks, (found, of_phase, of_board), shown, address, rows)
    etag = strong_etag(visit.request, "embed", html)
    headers = {"ETag": etag, "Cache-Control": "public, no-cache", "Content-Security-Policy": EMBED_POLICY}
    if is_known(visit.request, etag):
        return not_modified(headers)
    return Response(html, media_type="text/html; charset=utf-8", headers=headers)


def _embedded(
    looks: Looks, place: tuple[Competition, Phase, Board], leaderboard: Leaderboard, address: str, rows: int
) -> str:
    competition, phase, board = place
    return environment().get_template("boards/embed.html").render(
        competition=competition,
        phase=phase,
        board=board,
        leaderboard=leaderboard,
        rows=leaderboard.rows[:rows],
        more=max(0, len(leaderboard.rows) - rows),
        address=address or links.board(competition.name, phase.name, board.name),
        styles=asset("embed.css"),
        brand=looks,
    )  # fmt: skip


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'


@router.get("/sitemap.xml")
def read_sitemap(visit: PublicVisit) -> Response:
    now = visit.now
    shown = [one for one in listed_competitions(visit.session) if card_of(one, now) is not None]
    paths = ["/", "/guide", *(path for one in shown for path in _paths(visit.session, one, now))]
    lines = [f"<url><loc>{escape(public_address(visit.request, visit.server, path))}</loc></url>\n" for path in paths]
    return Response(f"{_HEAD}{''.join(lines)}</urlset>\n", media_type="application/xml")


def _paths(session: Session, competition: Competition, now: datetime) -> Iterator[str]:
    """Yield the addresses of a competition's pages and of its public boards."""
    name = competition.name
    yield links.competition(name)
    yield from (links.tab(name, tab) for tab in ("data", "cite"))
    yield links.announcements(name)
    for phase in competition.phases:
        views = views_of(session, phase.phase_tasks, Viewer(None, now))
        by_task = {phase_task.task_id: views[phase_task.id] for phase_task in phase.phase_tasks}
        for board in boards_of(competition, phase):
            if by_task[board.task_id].board is BoardShown.PUBLIC:
                yield links.board(name, phase.name, board.name)
