"""`evergold competitions`, `board`, `status`, …: the contents of a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from evergold.cli.compare import p_text
from evergold.cli.connection import ServerOption, chosen, connected, parse_place
from evergold.cli.output import (
    READING,
    SUBMITTING,
    Code,
    CommandError,
    JsonOption,
    event_words,
    local_deadline,
    print_json,
    print_table,
    remark,
    say,
)
from evergold.cli.submissions import outcome_code, show_submission
from evergold.moments import moment_words
from evergold.split_titles import split_title

if TYPE_CHECKING:
    from evergold.client.results import Json

commands = typer.Typer()
_SEVERITIES = {"info": "Note", "warning": "Warning", "urgent": "Urgent"}


def show_announcements(announced: list[Json]) -> None:
    """Print the server's announcements to stderr, so that they do not mix with a table."""
    for one in announced:
        until = f" Until {event_words(one['ends_at'])}." if one["ends_at"] else ""
        remark(f"{_SEVERITIES.get(one['severity'], 'Note')}: {one['text']}{until}")


@commands.command(rich_help_panel=READING)
def competitions(
    task_type: Annotated[str, typer.Option(metavar="TYPE", help="Only competitions with a task of this type.")] = "",
    language: Annotated[
        str, typer.Option(metavar="CODE", help="Only competitions with a task in this language, e.g. `pt`.")
    ] = "",
    is_open: Annotated[bool, typer.Option("--open", help="Only competitions that accept submissions now.")] = False,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the competitions with their phases, tasks and boards."""
    address, token = chosen(server)
    with connected(address, token) as client:
        listed = client.competitions(task_type=task_type, language=language, is_open=is_open)
        announced = [] if as_json else client.server_announcements()
    if as_json:
        print_json({"competitions": listed})
        return
    show_announcements(announced)
    rows = [
        (
            f"{competition['name']}/{phase['name']}",
            phase["state"],
            _names(phase["tasks"]),
            _names(phase["boards"]),
            _names(competition["tracks"]),
            _date(phase),
        )
        for competition in listed
        for phase in competition["phases"]
    ]
    print_table(["Competition/phase", "State", "Tasks", "Boards", "Tracks", "Date"], rows)


def _date(phase: Json) -> str:
    """Format when a phase opens, closes, or closed; `always open` if it never closes."""
    if phase["state"] == "upcoming":
        return f"opens {local_deadline(phase['starts_at'])}"
    verb = "closes" if phase["state"] == "open" else "closed"
    return f"{verb} {local_deadline(phase['ends_at'])}" if phase["ends_at"] else "always open"


@commands.command(rich_help_panel=READING)
def board(
    place: Annotated[str, typer.Argument(metavar="COMPETITION/PHASE/BOARD")],
    server: ServerOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all decimals that are shown.")] = False,
    table: Annotated[str, typer.Option(metavar="FORMAT", help="Print a table: `markdown` or `latex`.")] = "",
    column: Annotated[
        list[str] | None, typer.Option(metavar="'METRIC SPLIT'", help="A column of the table; may be repeated.")
    ] = None,
    decimals: Annotated[int | None, typer.Option(min=0, max=6, help="Decimals of the table's scores.")] = None,
    official: Annotated[
        bool, typer.Option(("--official"), help="The official board, frozen after the phase closed.")
    ] = False,
    compare: Annotated[
        list[str] | None, typer.Option(metavar="TEAM", help="Compare the rows of two teams: give it twice.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a leaderboard, or two of its rows side by side."""
    wanted = parse_place(place, "BOARD")
    if compare and (table or csv):
        raise CommandError("--compare cannot be combined with --table or --csv.", Code.USAGE)
    if compare and len(compare) != len({*compare[:2]}):
        raise CommandError("Give --compare twice, with two different teams.", Code.USAGE)
    if not table and (column or official or decimals is not None):
        raise CommandError("--column, --decimals and --official need --table.", Code.USAGE)
    address, token = chosen(server)
    with connected(address, token) as client:
        if table:
            text = client.board_table(wanted, table, columns=column or (), decimals=decimals, official=official)
            say(text.rstrip("\n"))
            return
        if csv:
            say(client.board_csv(wanted).rstrip("\r\n"))
            return
        document = client.compare_rows(wanted, *compare) if compare else client.board(wanted).document
    if as_json:
        print_json(document)
    elif compare:
        _show_comparison(document)
    else:
        _show_board(document)


@commands.command(rich_help_panel=READING)
def ranking(
    place: Annotated[str, typer.Argument(metavar="COMPETITION/PHASE/RANKING")],
    server: ServerOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all decimals that are shown.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a ranking across tasks."""
    wanted = parse_place(place, "RANKING")
    address, token = chosen(server)
    with connected(address, token) as client:
        if csv:
            say(client.ranking_csv(wanted).rstrip("\r\n"))
            return
        document = client.ranking(wanted)
    if as_json:
        print_json(document)
    else:
        _show_ranking(document)


@commands.command(rich_help_panel=READING)
def cite(
    place: Annotated[str, typer.Argument(metavar="COMPETITION[/PHASE/BOARD]")],
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print BibTeX for a competition or for an official board."""
    of = parse_place(place, "BOARD") if "/" in place.strip("/") else place
    address, token = chosen(server)
    with connected(address, token) as client:
        citation = client.citation(of)
    if as_json:
        print_json({"bibtex": citation})
    else:
        say(citation.rstrip("\n"))


@commands.command(rich_help_panel=SUBMITTING)
def status(
    submission_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="ID of a submission; default: list your latest submissions.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="Number of submissions to list.")] = 20,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a submission (exit code reflects the status), or list yours."""
    if not submission_id:
        submissions(limit, server, as_json)
        return
    address, token = chosen(server)
    with connected(address, token) as client:
        submission = client.submission(submission_id).document
    show_submission(submission, as_json)
    raise typer.Exit(outcome_code(submission))


@commands.command(rich_help_panel=SUBMITTING)
def submissions(
    limit: Annotated[int, typer.Option(min=1, max=200, help="Number of submissions to list.")] = 20,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """List your latest submissions, with ranks and what counts."""
    address, token = chosen(server)
    with connected(address, token) as client:
        listed = [submission.document for submission in client.submissions(limit, ranks_then=True)]
        announced = [] if as_json else client.server_announcements()
    if as_json:
        print_json({"submissions": listed})
        return
    show_announcements(announced)
    rows = [
        (s["id"], event_words(s["submitted_at"]), _where(s), _status(s), _standings(s), s["method"]) for s in listed
    ]
    print_table(["Id", "Submitted", "Task", "Status", "Scores", "Method"], rows)


def _status(submission: Json) -> str:
    return "withdrawn" if submission.get("withdrawn_at") else str(submission["status"])


def _standings(submission: Json) -> str:
    """Format, for each board, the ranking score, the rank now and at arrival, and whether the entry counts."""
    scores = []
    for one in submission.get("standings", []):  # absent on older servers
        value = "–" if one["value"] is None else f"{one['value']:.4f}"
        then = f" (then {one['rank_then']})" if one.get("rank_then") else ""
        rank = f", rank {one['rank']} of {one['of']}{then}" if one.get("rank") else ""
        scores.append(f"{one['board']} {value}{rank}{', counts' if one['counts'] else ''}")
    return "; ".join(scores)


def _show_ranking(document: Json) -> None:
    say(document["title"])
    if document["hidden"]:
        remark(f"Not shown until these boards are: {', '.join(document['hidden'])}.")
    boards = [one["board"] for one in document["boards"]]
    by = "rank" if document["by"] == "mean_rank" else "score"
    rows = [
        [str(row["rank"]), row["team"], f"{row['mean']:.4f}", *(_standing(one, by) for one in row["standings"])]
        for row in document["rows"]
    ]
    print_table(["Rank", "Team", "Mean", *boards], rows, numbers=["Rank", "Mean", *boards])
    if document["left_out"]:
        remark(f"{document['left_out']} without a rank on every board are left out.")


def _standing(one: Json, by: str) -> str:
    """Format a rank or a score, or the value that replaces a missing rank."""
    if one["rank"] is None:
        return f"({one['counted']:g})"
    return str(one["rank"]) if by == "rank" else f"{one['counted']:.4f}"


def _show_board(document: Json) -> None:
    columns = document["columns"]
    ranking = columns[document["rank_by"]]
    ranked = f"ranked by {_full_title(ranking)}, {moment_words(datetime.now(UTC).replace(second=0))}"
    say(f"{document['competition']}/{document['phase']}: {document['title']}, {ranked}")
    visibility = document["visibility"]
    if visibility["board"] != "public":
        until = f" until {local_deadline(visibility['board_at'])}" if visibility["board_at"] else ""
        what = "This board is hidden" if visibility["board"] == "hidden" else "This board shows ranks without scores"
        remark(f"{what} from participants{until}." if document["rows"] else f"{what}{until}.")
    titles = [_full_title(column) if column is ranking else column["title"] for column in columns]
    with_tracks = document["track"] is None and any(row["track"] for row in document["rows"])
    with_ranges = any(row.get("rank_range") for row in document["rows"])  # absent on older servers
    with_published = any(row.get("published_rank") for row in document["rows"])
    rows = [
        [
            "" if row["rank"] is None else str(row["rank"]),
            *([_range(row.get("rank_range"))] if with_ranges else []),
            *([str(row.get("published_rank") or "")] if with_published else []),
            _team(row),
            *([row["track"] or ""] if with_tracks else []),
            *(_cell(cell, column) for cell, column in zip(row["cells"], columns, strict=True)),
            row["method"] or "",
        ]
        for row in document["rows"]
    ]
    extent = [*(["Range"] if with_ranges else []), *(["In the paper"] if with_published else [])]
    track = ["Track"] if with_tracks else []
    print_table(["Rank", *extent, "Team", *track, *titles, "Method"], rows, numbers=["Rank", *titles])
    if any(cell.get("interval") for row in document["rows"] for cell in row["cells"]):
        remark("In brackets: 95 % intervals.")
    if with_ranges:
        remark("Range: the ranks consistent with the data.")


def _show_comparison(document: Json) -> None:
    first, second, test = document["first"], document["second"], document["test"]
    names = [_team(first), _team(second)]
    ranks = " and ".join(str(row["rank"] or "no rank") for row in (first, second))
    say(f"{document['competition']}/{document['phase']}/{document['board']}: {names[0]} and {names[1]}, ranks {ranks}")
    rows = [
        [
            pair["column"]["metric_title"] or pair["column"]["metric"],
            split_title(pair["column"]["split"]),
            _cell(pair["first"], pair["column"]),
            _cell(pair["second"], pair["column"]),
            _difference(pair),
        ]
        for pair in document["scores"]
    ]
    print_table(["Metric", "Split", *names, "Difference"], rows, numbers=[*names, "Difference"])
    if test:
        alone, corrected = p_text(test["p"]), p_text(test["p"] if test["corrected"] is None else test["corrected"])
        ends = "" if test["low"] is None else f", 95 % interval {test['low']:+.4f} to {test['high']:+.4f}"
        verdict = "Significant" if document["is_significant"] else "No significant"
        remark(f"{verdict} difference in the first score (p of this pair {alone}, corrected {corrected}{ends}).")
    elif document["statistics"] == "pending":
        remark("A row is new: the test is being computed.")
    say(document["page"])


def _difference(pair: Json) -> str:
    if pair["difference"] is None:
        return "" if pair["is_same_computation"] else "computed differently"
    column = pair["column"]
    factor = 100 if column["percent"] else 1
    return f"{factor * pair['difference']:+.{column['decimals']}f}"


def _full_title(column: Json) -> str:
    """Return `Macro F1 · English`; only the title if the server names no metric, or the same text for both."""
    return " · ".join(dict.fromkeys(name for name in (column.get("metric_title"), column["title"]) if name))


def _range(found: Json | None) -> str:
    if found is None:
        return ""
    return str(found["best"]) if found["best"] == found["worst"] else f"{found['best']}–{found['worst']}"


def _team(row: Json) -> str:
    """Format the team's name, followed by the kind of its row if that is not an ordinary entry of this phase."""
    notes = [row["kind"]] if row["kind"] != "team" else []
    notes += [f"from {row['carried_from']}"] if row["carried_from"] else []
    notes += [f"{row['status']}: {row['note']}".removesuffix(": ")] if row["status"] else []
    return f"{row['team']} ({', '.join(notes)})" if notes else str(row["team"])


def _cell(cell: Json, column: Json) -> str:
    if cell["value"] is None:
        return "–"
    if column["out_of"] is not None:
        return f"{cell['value']:.0f}/{column['out_of']}"
    found = cell.get("interval")
    shown = _number(cell["value"], column)
    return f"{shown} [{_number(found['low'], column)}, {_number(found['high'], column)}]" if found else shown


def _number(value: float, column: Json) -> str:
    return f"{value * 100 if column['percent'] else value:.{column['decimals']}f}"


def _names(things: list[Json]) -> str:
    return ", ".join(thing["name"] for thing in things)


def _where(submission: Json) -> str:
    return "/".join(submission[part] for part in ("competition", "phase", "task"))
