"""The NCIMP importer on a small checkout written here: its result, and its messages about a wrong checkout."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from app.declarations.check import check_phases
from app.importers.ncimp import ITEMS, import_ncimp, missing_parts
from app.importers.writing import read_published
from evergold.scoring.errors import InvalidFile
from tests import official_shapes
from tests.official_shapes import write_sentences


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return official_shapes.ncimp(tmp_path / "checkout")


def test_every_probe_becomes_a_row_of_the_blind_file(checkout: Path, tmp_path: Path) -> None:
    import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")
    lines = (tmp_path / "competition" / ITEMS).read_text(encoding="utf-8").splitlines()
    assert lines[:4] == [
        "language,context,compound,probe,sentence,nc",
        "pt,neut,peixe,original,Um peixe,0 1",
        "pt,neut,peixe,syn,Um synonym-for-compound,0 1",
        "pt,neut,peixe,head,Um original-head-only,0 1",
    ]
    assert len(lines) == 1 + 10
    assert (tmp_path / "gold" / "ncimp" / "human_scores.csv").read_text(encoding="utf-8").splitlines() == [
        "language,compound,compositionality,class",
        "pt,peixe,1.25,idiomatic",
    ]


def test_naturalistic_sentences_are_all_three_or_none(checkout: Path, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write_sentences(checkout / f"dataset/PT/naturalistics_examplesent{number}.csv", "original sentence")
    import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")
    assert len((tmp_path / "competition" / ITEMS).read_text(encoding="utf-8").splitlines()) == 1 + 40
    (checkout / "dataset/PT/naturalistics_examplesent2.csv").unlink()
    with pytest.raises(InvalidFile, match=r"naturalistics_examplesent2\.csv: the file is not in this folder"):
        import_ncimp(checkout, tmp_path / "again", tmp_path / "gold")


@pytest.mark.parametrize("tags", ["[False, True, False]", "[False, False]", "__import__('os')", ""])
def test_tags_that_mark_no_compound_are_refused_by_line(checkout: Path, tmp_path: Path, tags: str) -> None:
    write_sentences(checkout / "dataset/PT/neutral.csv", "neutral sentence", tags)
    with pytest.raises(InvalidFile) as caught:
        import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")
    (problem,) = caught.value.problems
    assert (problem.code, problem.file, problem.line) == ("bad-tags", "dataset/PT/neutral.csv", 2)


def test_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as caught:
        import_ncimp(tmp_path, tmp_path / "competition", tmp_path / "gold")
    assert [problem.code for problem in caught.value.problems] == ["missing-file", "missing-file"]
    assert not (tmp_path / "competition").exists()


def test_what_the_folder_lacks_is_said_at_the_head_of_the_declaration(checkout: Path, tmp_path: Path) -> None:
    import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")
    text = (tmp_path / "competition" / "competition.yaml").read_text(encoding="utf-8")
    lacking = ["English, naturalistic sentences", "English, the neutral sentence", "Portuguese, naturalistic sentences"]
    assert missing_parts(checkout) == lacking
    words = "# Not in this folder, so that nothing can be scored there, and boards have published results alone: "
    assert f"{words}{'; '.join(lacking)}.\n" in text
    (competition,) = yaml.safe_load(text)["competitions"]
    told = {board["name"]: "published results\nstand alone" in board["description"] for board in competition["boards"]}
    assert {name for name, is_told in told.items() if not is_told} == {"pt-neut-sent", "pt-neut-nc"}
    assert len(told) == 8


def test_baseline_is_declared_with_its_score(checkout: Path, tmp_path: Path) -> None:
    """`Um peixe` shares one of three words with every probe: synonyms are no nearer than random compounds."""
    import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")
    document = yaml.safe_load((tmp_path / "competition" / "competition.yaml").read_text(encoding="utf-8"))
    (baseline,) = document["competitions"][0]["phases"][0]["tasks"]["probing"]["baselines"]
    assert baseline["scores"] == {"affinity_syn_rand pt/neut/sent": 0.0, "affinity_syn_rand pt/neut/nc": 0.0}


def test_missing_column_is_said(checkout: Path, tmp_path: Path) -> None:
    path = checkout / "dataset/PT/neutral.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("synonym both_tag", "tag"), encoding="utf-8")
    with pytest.raises(InvalidFile, match="the column synonym both_tag is missing"):
        import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold")


PUBLISHED = """table,team,metric,split,value,method
12,A model,affinity_syn_rand,pt/neut/nc,0.25,as printed
12,A model,sim_syn_rho,pt/neut/nc/standardised,-0.5,
10,Another,sim_syn,pt/neut/sent,0.875,
"""


def test_values_of_the_papers_tables_stand_on_the_boards_that_they_belong_to(checkout: Path, tmp_path: Path) -> None:
    """Check that no date is needed, and that the column `table` is ignored."""
    table, target, told = tmp_path / "paper.csv", tmp_path / "competition", list[str]()
    table.write_text(PUBLISHED, encoding="utf-8")
    import_ncimp(checkout, target, tmp_path / "gold", table, told.append)
    document = yaml.safe_load((target / "competition.yaml").read_text(encoding="utf-8"))
    boards = {board["name"]: board["historic"] for board in document["competitions"][0]["boards"]}
    assert [one["file"] for one in boards["pt-neut-nc"]] == ["historic/pt-neut-nc.csv"]
    assert boards["pt-neut-sent"] == [
        {"phase": "open", "file": "historic/pt-neut-sent.csv", "source": "He et al. (2025), as printed"}
    ]
    assert (target / "historic/pt-neut-nc.csv").read_text(encoding="utf-8").splitlines() == [
        "team,date,metric,split,value,method,paper,code,rank",
        "A model,,affinity_syn_rand,pt/neut/nc,0.25,as printed,,,",
        "A model,,sim_syn_rho,pt/neut/nc/standardised,-0.5,,,,",
    ]
    assert told == ["All 3 published values are on the boards."]
    found = check_phases(target / "competition.yaml", now=datetime(2026, 1, 1, tzinfo=UTC), gold=tmp_path / "gold")
    assert [finding.message for finding in found if finding.severity == "error"] == []


def test_all_values_of_the_paper_stand_on_boards_without_being_asked(checkout: Path, tmp_path: Path) -> None:
    """1,053 values of eight tables, every one in a column of the board of its split."""
    target, told = tmp_path / "competition", list[str]()
    import_ncimp(checkout, target, tmp_path / "gold", notify=told.append)
    (declared,) = yaml.safe_load((target / "competition.yaml").read_text(encoding="utf-8"))["competitions"]
    shown = set()
    for board in declared["boards"]:
        columns = {(column["metric"], column["split"]) for column in board["columns"]}
        for line in (target / board["historic"][0]["file"]).read_text(encoding="utf-8").splitlines()[1:]:
            team, _, metric, split, value = line.split(",")[:5]
            assert (metric, split) in columns
            shown.add((team, metric, split, value))
    printed = {
        (row["team"], row["metric"], row["split"], row["value"]) for row in read_published("published_ncimp.csv")
    }
    assert shown == printed
    assert len(shown) == 1053
    assert told == ["All 1,053 published values are on the boards."]
    found = check_phases(target / "competition.yaml", now=datetime(2026, 1, 1, tzinfo=UTC), gold=tmp_path / "gold")
    assert [finding.message for finding in found if finding.severity == "error"] == []


def test_values_without_a_board_are_counted_and_named(checkout: Path, tmp_path: Path) -> None:
    table, told = tmp_path / "paper.csv", list[str]()
    values = ("A,sim_syn,pt/neut/nc,0.5", "A,sim,pt/neut/nc,0.5", "A,sim,pt/neut/nc,7", "A,sim_syn,fr/neut/nc,0.5")
    table.write_text("\n".join(("team,metric,split,value", *values)), encoding="utf-8")
    import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold", table, told.append)
    assert told == [
        "1 of 4 published values are on the boards. The others have none here: "
        "sim pt/neut/nc (2); sim_syn fr/neut/nc (1)."
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("A model,sim_syn,pt/neut/nc,87", "line 3, column value: 87 lies outside the range of sim_syn"),
        (",sim_syn,pt/neut/nc,0.5", "line 3, column team: a team needs a printable name"),
        ("A,sim_syn,en/nat/nc,0.5", "line 3: line 2 already has this score of this team on this date"),
    ],
)
def test_values_that_are_wrong_are_told_by_line(checkout: Path, tmp_path: Path, line: str, words: str) -> None:
    table = tmp_path / "paper.csv"
    table.write_text(f"team,metric,split,value\nA,sim_syn,en/nat/nc,0.5\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidFile, match=words):
        import_ncimp(checkout, tmp_path / "competition", tmp_path / "gold", table)
    assert not (tmp_path / "competition" / "competition.yaml").exists()
