"""Results of PARSEME identification printed in papers, as published results: their values, papers and code."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from app.declarations.historic import read_historic
from app.importers.parseme import HEADER, LANGUAGES, published_rows, why_without_results
from app.importers.writing import write_csv
from evergold.scoring.mwe.options import Options
from evergold.scoring.tasks.mwe_identification import TASK

OFFICIAL = ("de", "el", "eu", "fr", "ga", "he", "hi", "it", "pl", "pt", "ro", "sv", "tr", "zh")


def test_figures_of_the_paper_become_fractions_with_the_track_in_the_name() -> None:
    boards = published_rows("1.2", OFFICIAL)
    assert list(boards) == ["unseen", "unseen-closed", "unseen-open", "unseen-by-language"]
    assert len(boards["unseen-closed"]) + len(boards["unseen-open"]) == len(boards["unseen"])
    overall = {(team, metric, split): value for team, _, metric, split, value, *_ in boards["unseen"]}
    assert len(overall) == len(boards["unseen"]) == 9 * (9 + 1)
    assert overall["MTLB-STRUCT (open)", "mwe_f1", "macro/unseen"] == "0.385"
    assert overall["Seen2Seen (closed)", "token_f1", "macro"] == "0.661"
    assert overall["MultiVitaminBooster (open)", "mwe_recall", "macro"] == "0.001"
    assert overall["TRAVIS-mono (open)", "languages", "macro"] == "10"
    assert overall["FipsCo (open)", "mwe_f1", "macro/unseen"] == "0.057"  # as printed
    detailed = {(team, split): value for team, _, _, split, value, *_ in boards["unseen-by-language"]}
    assert detailed["ERMI (closed)", "he/unseen"] == "0.084"
    assert detailed["TRAVIS-mono (open)", "hi/unseen"] == "0.0064"
    assert detailed["TRAVIS-mono (open)", "macro/unseen"] == "0.26"
    assert detailed["SHOMA (edition 1.1)", "tr/unseen"] == "0.5027"  # the paper's reference, on other test data
    assert ("SHOMA (edition 1.1)", "macro/unseen") not in detailed


def test_printed_f1_follows_from_printed_p_and_r_but_for_fipsco() -> None:
    """Check the file against the paper's own arithmetic: macro F1 is that of macro P and R, both rounded to 0.001."""
    published = published_rows("1.2", OFFICIAL)["unseen"]
    rows = {(team, metric, split): Fraction(value) for team, _, metric, split, value, *_ in published}
    teams = {team for team, _, _ in rows}
    wrong = []
    for team in teams:
        for basis, split in (("mwe", "macro/unseen"), ("mwe", "macro"), ("token", "macro")):
            p, r, f1 = (rows[team, f"{basis}_{part}", split] for part in ("precision", "recall", "f1"))
            half = Fraction(5, 10_000)
            low, high = (2 * (p + d) * (r + d) / (p + r + 2 * d) for d in (-half, half))
            if not low - half <= f1 <= high + half:
                wrong.append((team, split))
    assert wrong == [("FipsCo (open)", "macro/unseen")]


@pytest.mark.parametrize(("languages", "expected"), [(("fr", "pl"), 10), (("ga",), 0), (OFFICIAL[1:], 46)])
def test_only_results_of_the_competitions_languages_are_given(languages: tuple[str, ...], expected: int) -> None:
    """Check that of the five systems three are in table 6 with 11 languages, one with 10, one with 8: 51 figures, 5 in
    German.
    """
    boards = published_rows("1.2", languages)
    assert len(boards.get("unseen-by-language", [])) == expected
    assert "unseen" not in boards


def test_boards_without_published_results_say_why() -> None:
    """Irish alone is in no mean, nor among the languages of the paper's table 6."""
    rows = published_rows("1.2", ["ga"])
    reasons = why_without_results("1.2", ["ga"], rows)
    assert list(reasons) == ["unseen", "unseen-closed", "unseen-open", "unseen-by-language"]
    assert reasons["unseen"] == (
        "This board has no published results: those of edition 1.2 are means over the edition's 14 languages, while "
        "this competition has GA, and means over other languages do not compare."
    )
    assert reasons["unseen-by-language"] == (
        "This board has no published results: of edition 1.2 they are for DE, EL, EU, FR, HE, HI, IT, PL, PT, RO, TR "
        "and the means over the edition's 14 languages, while this competition has GA."
    )
    assert list(why_without_results("1.2", ["fr"], published_rows("1.2", ["fr"]))) == [
        "unseen",
        "unseen-closed",
        "unseen-open",
    ]
    assert why_without_results("1.2", OFFICIAL, published_rows("1.2", OFFICIAL)) == {}
    assert why_without_results("1.1", ["fr"], {}) == {}
    assert list(why_without_results("2.0", ["fr"], {})) == ["mwe-based"]


def test_published_rows_can_be_read_back_as_historic_results(tmp_path: Path) -> None:
    offered = TASK.columns(Options(languages=OFFICIAL, rank_by="unseen"))
    for name, rows in published_rows("1.2", OFFICIAL).items():
        path = write_csv(tmp_path / f"{name}.csv", HEADER, rows)
        assert sum(len(one.scores) for one in read_historic(path, TASK, offered)) == len(rows)


def test_systems_have_their_papers_and_code_where_they_are_known() -> None:
    rows = {row[0]: row[6:8] for row in published_rows("1.2", OFFICIAL)["unseen-by-language"]}
    anthology, github = "https://aclanthology.org/2020.mwe-1", "https://github.com"
    assert rows == {
        "ERMI (closed)": (f"{anthology}.17", ""),
        "MTLB-STRUCT (open)": (f"{anthology}.19", f"{github}/shivaat/MTLB-STRUCT"),
        "SHOMA (edition 1.1)": ("https://arxiv.org/abs/1809.03056", f"{github}/shivaat/VMWE-Identification"),
        "TRAVIS-mono (open)": (f"{anthology}.18", f"{github}/MurathanKurfali/travis"),
        "TRAVIS-multi (open)": (f"{anthology}.18", f"{github}/MurathanKurfali/travis"),
    }
    assert {row[6:8] for row in published_rows("1.2", OFFICIAL)["unseen"] if row[0] == "FipsCo (open)"} == {("", "")}


def test_edition_2_has_what_a_systems_own_paper_says_and_only_with_all_its_languages() -> None:
    """48.39 %: Karatepe et al. 2026, abstract."""
    [row] = published_rows("2.0", LANGUAGES["2.0"])["mwe-based"]
    assert row[:5] == ("Sahara Tokenizers", "2026-03-28", "mwe_f1", "macro", "0.4839")
    assert row[6:8] == (
        "https://aclanthology.org/2026.mwe-1.20",
        "https://github.com/YunusKaratepe/parseme-mwe-identification",
    )
    assert (len(LANGUAGES["2.0"]), published_rows("2.0", LANGUAGES["2.0"] - {"grc"})) == (17, {})
    assert published_rows("1.1", ["fr"]) == {}
