"""Boards as Markdown, LaTeX and BibTeX; every expected text written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.boards.documents import board_csv
from app.boards.rows import Cell, Interval, Leaderboard, LeaderboardRow
from app.boards.tables import chosen_columns, latex_table, latex_text, markdown_table
from app.competitions.columns import BoardColumn
from app.models import EntryRule

F1 = BoardColumn("macro_f1", "all", "Macro F1", 2, True, True, "")
ERROR = BoardColumn("rmse", "all", "RMSE", 3, False, False, "")
COUNT = BoardColumn("languages", "macro", "Languages", 0, False, True, "", out_of=14)


def row(rank: int | None, team: str, *values: float | None, kind: str = "team") -> LeaderboardRow:
    cells = tuple(Cell(value, None if value is not None else "not entered", None) for value in values)
    return LeaderboardRow(rank, team, kind, cells, None, "", 1)  # type: ignore[arg-type]


BOARD = Leaderboard(
    columns=(F1, ERROR, COUNT),
    rank_by=0,
    rows=(
        row(1, "R&D_50%", 0.70374, 0.2, 9.0),
        row(None, "copy", 0.99, 0.1, 14.0, kind="baseline"),
        row(2, "a|b *c*", 0.70369, -0.0001, 14.0),
        row(None, "late", None, None, 1.0),
    ),
    version="1",
    entry_rule=EntryRule.BEST,
)


def test_markdown_has_the_best_of_teams_in_bold_ties_as_shown_included() -> None:
    assert markdown_table(BOARD) == (
        "| \\# | Team | Macro F1 (%) | RMSE | Languages |\n"
        "| :-- | :-- | --: | --: | --: |\n"
        "| 1 | R&D\\_50% | **70.37** | 0.200 | 9/14 |\n"
        "|  | copy (baseline) | 99.00 | 0.100 | 14/14 |\n"
        "| 2 | a\\|b \\*c\\* | **70.37** | **0.000** | **14/14** |\n"
        "|  | late | – | – | 1/14 |\n"
    )


def sure(
    rank: int, team: str, value: float, ends: tuple[float, float], ranks: tuple[int, int], cluster: int
) -> LeaderboardRow:
    cell = Cell(value, None, None, Interval(*ends, 0.95, "by hand"))
    return LeaderboardRow(rank, team, "team", (cell,), None, "", 1, rank_range=ranks, cluster=cluster)


SURE = replace(
    BOARD,
    columns=(F1,),
    rows=(
        sure(1, "kiwi", 0.75, (0.70, 0.79), (1, 2), 1),
        row(None, "copy", 0.74, kind="baseline"),
        sure(2, "ibis", 0.74, (0.70, 0.78001), (1, 2), 1),
        sure(3, "emu", 0.60, (0.55, 0.65), (3, 3), 2),
    ),
)


def test_with_intervals_a_table_has_halves_rounded_up_ranges_and_rules_between_clusters() -> None:
    assert markdown_table(SURE, intervals=True) == (
        "| \\# | Team | Macro F1 (%) |\n| :-- | :-- | --: |\n| 1–2 | kiwi | **75.00 ± 4.50** |\n|  | copy "
        "(baseline) | 74.00 |\n| 1–2 | ibis | 74.00 ± 4.01 |\n| 3 | emu | 60.00 ± 5.00 |\n\n±: half of the 95 % "
        "interval.\n\nRank ranges: ranks consistent with paired permutation tests, with Holm's correction over all "
        "pairs of rows (5 %).\n"
    )
    lines = latex_table(SURE, "Sure", "tab:sure", intervals=True).splitlines()
    start = lines.index("    \\midrule") + 1
    assert lines[start : start + 6] == [
        "    1–2 & kiwi & \\textbf{75.00 $\\pm$ 4.50} \\\\",
        "     & copy (baseline) & 74.00 \\\\",
        "    1–2 & ibis & 74.00 $\\pm$ 4.01 \\\\",
        "    \\midrule",
        "    3 & emu & 60.00 $\\pm$ 5.00 \\\\",
        "    \\bottomrule",
    ]
    assert "±" not in markdown_table(SURE)
    assert "1–2" not in markdown_table(SURE)


def test_csv_has_ranges_clusters_and_both_ends_where_there_are_any() -> None:
    head, *rows = board_csv(SURE).splitlines()
    assert head.endswith(",macro_f1 all,rank_low,rank_high,cluster,macro_f1 all low,macro_f1 all high,ranked_by")
    assert rows[0].endswith(",0.75,1,2,1,0.7,0.79,macro_f1 all")
    assert rows[1].endswith(",0.74,,,,,,macro_f1 all"), "a baseline without a rank, of which no outcomes are kept"
    assert "low" not in board_csv(BOARD)


def test_latex_is_a_whole_table_with_everything_escaped() -> None:
    text = latex_table(replace(BOARD, rows=BOARD.rows[:1]), "100% of A & B", "tab:demo-a")
    assert text == (
        "\\begin{table}\n"
        "  \\centering\n"
        "  \\begin{tabular}{llrrr}\n"
        "    \\toprule\n"
        "    \\# & Team & Macro F1 (\\%) & RMSE & Languages \\\\\n"
        "    \\midrule\n"
        "    1 & R\\&D\\_50\\% & \\textbf{70.37} & \\textbf{0.200} & \\textbf{9/14} \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "  \\caption{100\\% of A \\& B}\n"
        "  \\label{tab:demo-a}\n"
        "\\end{table}\n"
    )


def test_negative_numbers_have_a_real_minus_sign() -> None:
    board = replace(BOARD, columns=(ERROR,), rows=(row(1, "a", -0.5),))
    assert "**\N{MINUS SIGN}0.500**" in markdown_table(board)
    assert r"\textbf{$-$0.500}" in latex_table(board, "", "x")


def test_tracks_are_a_column_where_the_competition_has_them() -> None:
    board = replace(BOARD, columns=(ERROR,), rows=(row(1, "a", 0.5)._replace(track="open"),), has_tracks=True)
    assert markdown_table(board).splitlines()[2] == "| 1 | a | open | **0.500** |"


def test_columns_and_rounding_may_be_chosen() -> None:
    chosen = chosen_columns(BOARD, ["rmse all", "macro_f1 all"], 1)
    assert markdown_table(chosen).splitlines()[0] == "| \\# | Team | RMSE | Macro F1 (%) |"
    assert markdown_table(chosen).splitlines()[2] == "| 1 | R&D\\_50% | 0.2 | **70.4** |"


def test_columns_that_the_board_lacks_are_all_named() -> None:
    with pytest.raises(KeyError) as unknown:
        chosen_columns(BOARD, ["rmse all", "f1 all", "x"], None)
    assert unknown.value.args == ("f1 all", "x")


def test_every_character_with_a_meaning_is_escaped_for_latex() -> None:
    assert latex_text("\\ { } & % $ # _ ~ ^ < >\n\\input{/etc/passwd}") == (
        r"\textbackslash{} \{ \} \& \% \$ \# \_ \textasciitilde{} \textasciicircum{} \textless{} \textgreater{} "
        r"\textbackslash{}input\{/etc/passwd\}"
    )
