"""The PARSEME importer: what it makes of a folder of languages, whether that can be opened and scored, its refusals."""

from __future__ import annotations

import csv
import shutil
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine

from app.base.db import reading, writing
from app.base.storage import FolderStorage, store_file
from app.boards.leaderboard import build_leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.importers.parseme import import_parseme
from app.models import User
from app.submissions.accept import Sender, SubmissionForm, accept_submission
from evergold.corpora.annotated import blanked
from evergold.scoring import score, validate
from evergold.scoring.errors import InvalidFile, InvalidPrediction, Problem
from tests.conformance import conformance
from tests.evergold.scoring.test_conformance_parseme import lines_of, official_counts
from tests.world import add_user
from workers.score import score_submission

GOLDEN = Path(__file__).parents[1] / "golden" / "mwe-identification"
FRENCH = GOLDEN / "prediction" / "FR" / "test.system.cupt"
NAME = "mwe-identification"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
OFFICIAL = ["de", "el", "eu", "fr", "ga", "he", "hi", "it", "pl", "pt", "ro", "sv", "tr", "zh"]
#: Edition, folder, language of conformance data whose expected results come with a system of the organisers' format.
PERTURBED = [("1.1", "FR"), ("1.1", "HI"), ("1.1", "HR"), ("1.2", "GA")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """French with everything, Croatian without development data, and what else such folders hold."""
    folder = tmp_path / "sharedtask-data"
    shutil.copytree(GOLDEN / "gold", folder)
    (folder / "FR" / "README.md").write_text("Licence: CC BY 4.0\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "evaluate.py").write_text("pass\n")
    return folder


def imported(source: Path, folder: Path, edition: str = "1.2", **options: Any) -> Path:
    """Return the competition's folder; its gold is next to it, in `gold`."""
    import_parseme(source, folder / "competition", folder / "gold", edition, **options)
    return folder / "competition"


def declared(folder: Path) -> dict[str, Any]:
    document = yaml.safe_load((folder / "competition.yaml").read_text(encoding="utf-8"))
    (competition,) = document["competitions"]
    assert isinstance(competition, dict)
    return competition


def options_in(folder: Path, phase: str) -> dict[str, Any]:
    """The task's options as they hold in a phase."""
    competition = declared(folder)
    asked = next(one for one in competition["phases"] if one["name"] == phase)["tasks"][NAME]
    return {**competition["tasks"][0]["options"], **asked.get("options", {})}


def zipped(path: Path, members: Mapping[str, Path]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in members.items():
            archive.write(file, name)
    return path


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def refused(source: Path, folder: Path, edition: str = "1.2", **options: Any) -> list[Problem]:
    with pytest.raises(InvalidFile) as caught:
        imported(source, folder, edition, **options)
    assert not (folder / "competition").exists()
    return list(caught.value.problems)


# -------------------------------------------------------------------------------------------------- ready to be opened


@pytest.mark.parametrize("edition", ["1.1", "1.2", "2.0"])
def test_there_is_nothing_to_correct_and_applying_twice_is_as_good_as_once(
    sqlite_engine: Engine, source: Path, tmp_path: Path, edition: str
) -> None:
    folder = imported(source, tmp_path, edition)
    assert check_phases(folder / "competition.yaml", now=NOW) == []
    loaded = load_competitions(folder / "competition.yaml")
    for first in (True, False):
        with writing(sqlite_engine) as session:
            changes = apply_phases(session, loaded, storage=FolderStorage(tmp_path / "storage"), now=NOW)
        assert any(change.counts for change in changes) is first
    with reading(sqlite_engine) as session:
        competition = find_competition(session, f"parseme-{edition.replace('.', '-')}")
        assert [phase.name for phase in competition.phases] == ["practice", "evaluation", "post-evaluation"]
        assert competition.phases[-1].ends_at is None
        files = find_phase_task(session, competition.name, "post-evaluation", NAME).files
    assert [file.name for file in files] == [f"parseme-{edition}-test-blind.zip", f"parseme-{edition}-training.zip"]


def test_what_is_sent_to_it_is_scored_and_stands_on_its_boards(
    sqlite_engine: Engine, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = imported(source, tmp_path)
    monkeypatch.setenv("EVERGOLD_DATABASE_URL", sqlite_engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(tmp_path / "gold"))
    storage = tmp_path / "var" / "storage"
    with writing(sqlite_engine) as session:
        apply_phases(session, load_competitions(folder / "competition.yaml"), storage=FolderStorage(storage), now=NOW)
    submission = zipped(tmp_path / "submission.zip", {"FR/test.system.cupt": FRENCH})
    run_id = submit(sqlite_engine, add_user(sqlite_engine, "ada"), submission, storage)
    score_submission(run_id)
    with reading(sqlite_engine) as session:
        competition = find_competition(session, "parseme-1-2")
        boards = [find_board(competition, "post-evaluation", name) for name in ("unseen", "unseen-by-language")]
        rows = [build_leaderboard(session, *found, Viewer(None, NOW)).rows for found in boards]
    (overall,), (by_language, *published) = rows
    assert (overall.kind, overall.rank, by_language.rank) == ("team", 1, 1)
    assert [row.kind for row in published] == ["historic"] * 5  # French alone, without a macro-average
    # From the golden case: FR has P = 1/4, R = 1/2 of unseen, P = R = 2/5 globally, P = 10/11, R = 10/12 of tokens;
    # HR was not sent and has MWEs of all these kinds, so that the means are half as large.
    halves = [1 / 8, 1 / 4, 1 / 6, 1 / 5, 1 / 5, 1 / 5, 5 / 11, 5 / 12, 50 / 115]
    assert [cell.value for cell in overall.cells] == pytest.approx([1, *(round(half, 4) for half in halves)])
    assert [cell.value for cell in by_language.cells] == [1, 0.1667, 0.3333, None]
    assert by_language.cells[3].reason == "not entered"


def submit(engine: Engine, user: User, path: Path, storage: Path) -> int:
    with writing(engine) as session:
        accepted = accept_submission(
            session,
            find_phase_task(session, "parseme-1-2", "post-evaluation", NAME),
            store_file(path, FolderStorage(storage)),
            Sender(user, NOW, None),
            SubmissionForm(filename=path.name, track="closed", method="", description=""),
        )
        return accepted.run_id


@pytest.mark.parametrize(
    ("edition", "options", "rankings"),
    [
        ("1.1", {"unseen_against": "train", "rank_by": "mwe"}, {"mwe-based": ("mwe_f1", "macro")}),
        ("1.2", {"unseen_against": "train+dev", "rank_by": "unseen"}, {"unseen": ("mwe_f1", "macro/unseen")}),
        (
            "2.0",
            {"unseen_against": "train+dev", "rank_by": "mwe"},
            {"mwe-based": ("mwe_f1", "macro"), "token-based": ("token_f1", "macro")},
        ),
    ],
)
def test_editions_differ_by_options_and_boards(
    source: Path, tmp_path: Path, edition: str, options: dict[str, str], rankings: dict[str, tuple[str, str]]
) -> None:
    folder = imported(source, tmp_path, edition)
    found = options_in(folder, "evaluation")
    assert {name: found[name] for name in options} == options
    assert found["languages"] == ["fr", "hr"]
    boards = {board["name"]: board for board in declared(folder)["boards"]}
    overall = [f"{name}{track}" for name in rankings for track in ("", "-closed", "-open")]
    assert list(boards) == [*overall, *(f"{name}-by-language" for name in rankings)]
    assert [track["name"] for track in declared(folder)["tracks"]] == ["closed", "open"]
    assert {name: board["track"] for name, board in boards.items() if "track" in board} == {
        f"{name}-{track}": track for name in rankings for track in ("closed", "open")
    }
    for name, (metric, split) in rankings.items():
        assert boards[name]["rank_by"] == {"metric": metric, "split": split}
        columns = boards[f"{name}-by-language"]["columns"]
        view = split.removeprefix("macro")
        expected = [("macro", "languages"), ("macro" + view, metric), ("fr" + view, metric), ("hr" + view, metric)]
        assert [(column["split"], column["metric"]) for column in columns] == expected
    shown = [column["metric"] for column in boards[next(iter(rankings))]["columns"]]
    assert ("entropy" in shown) is (edition == "2.0")


def test_phases_follow_each_other_and_the_last_one_stays_open(source: Path, tmp_path: Path) -> None:
    practice, evaluation, after = declared(imported(source, tmp_path))["phases"]
    assert (practice["start"], evaluation["start"]) == ("2020-03-23 00:00 UTC", "2020-07-01 00:00 UTC")
    assert evaluation["end"] == after["start"] == "2020-07-04 00:00 AoE"
    assert "end" not in practice
    assert "end" not in after
    assert after["tasks"] == evaluation["tasks"]


# ------------------------------------------------------------------------------------------------- what lies where


def test_gold_lies_by_phase_and_language_as_the_scorer_reads_it(source: Path, tmp_path: Path) -> None:
    imported(source, tmp_path)
    gold = tmp_path / "gold" / "parseme-1.2"
    copies = {path.relative_to(gold).as_posix(): path.read_bytes() for path in gold.rglob("*.cupt")}
    assert copies == {
        "evaluation/FR/test.cupt": (source / "FR" / "test.cupt").read_bytes(),
        "evaluation/FR/train.cupt": (source / "FR" / "train.cupt").read_bytes(),
        "evaluation/FR/dev.cupt": (source / "FR" / "dev.cupt").read_bytes(),
        "evaluation/HR/test.cupt": (source / "HR" / "test.cupt").read_bytes(),
        "evaluation/HR/train.cupt": (source / "HR" / "train.cupt").read_bytes(),
        "practice/FR/test.cupt": (source / "FR" / "dev.cupt").read_bytes(),
        "practice/FR/train.cupt": (source / "FR" / "train.cupt").read_bytes(),
    }


def test_downloads_have_everything_but_the_answers(source: Path, tmp_path: Path) -> None:
    folder = imported(source, tmp_path)
    zips = {path.name: members_of(path) for path in (folder / "public").iterdir()}
    assert {name: list(members) for name, members in zips.items()} == {
        "parseme-1.2-test-blind.zip": ["FR/test.blind.cupt", "HR/test.blind.cupt"],
        "parseme-1.2-dev-blind.zip": ["FR/test.blind.cupt"],
        "parseme-1.2-training.zip": ["FR/README.md", "FR/train.cupt", "FR/dev.cupt", "HR/train.cupt"],
    }
    blind = (source / "FR" / "test.blind.cupt").read_bytes()
    assert zips["parseme-1.2-test-blind.zip"]["FR/test.blind.cupt"] == blind
    assert zips["parseme-1.2-dev-blind.zip"]["FR/test.blind.cupt"].decode() == (
        "# global.columns = ID FORM LEMMA UPOS PARSEME:MWE\n# source_sent_id = . . fr-7\n"
        "1\tavait\tavoir\tVERB\t_\n2\tmal\tmal\tNOUN\t_\n\n"
    )
    gold = (source / "FR" / "test.cupt").read_bytes()
    assert all(gold != content for members in zips.values() for content in members.values())


def test_every_written_file_is_named_and_the_declaration_comes_first(source: Path, tmp_path: Path) -> None:
    written = import_parseme(source, tmp_path / "competition", tmp_path / "gold", "1.2")
    assert written[0] == tmp_path / "competition" / "competition.yaml"
    found = [path for name in ("competition", "gold") for path in (tmp_path / name).rglob("*.*") if path.is_file()]
    assert sorted(written) == sorted(found)


def test_same_folder_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        imported(source, tmp_path / name)
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*.*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    assert one == two
    assert len(one) == 1 + 3 + 7 + 1 + 2  # declaration, zips, gold, historic rows, baselines


def test_development_data_are_practised_on_against_the_training_data_alone(source: Path, tmp_path: Path) -> None:
    folder = imported(source, tmp_path)
    options = options_in(folder, "practice")
    assert (options["languages"], options["unseen_against"]) == (["fr"], "train")
    perfect = zipped(tmp_path / "perfect.zip", {"FR/test.system.cupt": source / "FR" / "dev.cupt"})
    items = folder / "public" / "parseme-1.2-dev-blind.zip"
    found = score(NAME, tmp_path / "gold" / "parseme-1.2" / "practice", perfect, options, items)
    values = {(one.metric, one.split): one.value for one in found}
    assert values["mwe_f1", "macro/unseen"] == 1.0  # {avoir, mal} is in no training data
    assert (values["languages", "macro"], values["mwe_f1", "macro"]) == (1.0, 1.0)


def test_without_development_data_nobody_practises(source: Path, tmp_path: Path) -> None:
    (source / "FR" / "dev.cupt").unlink()
    folder = imported(source, tmp_path)
    assert [phase["name"] for phase in declared(folder)["phases"]] == ["evaluation", "post-evaluation"]
    assert not (tmp_path / "gold" / "parseme-1.2" / "practice").exists()
    assert check_phases(folder / "competition.yaml", now=NOW) == []


def test_without_any_training_data_there_is_none_to_download(source: Path, tmp_path: Path) -> None:
    for path in (*source.rglob("train.cupt"), *source.rglob("dev.cupt")):
        path.unlink()
    folder = imported(source, tmp_path, "1.1")
    assert [path.name for path in (folder / "public").iterdir()] == ["parseme-1.1-test-blind.zip"]
    assert "Without training data" in (folder / "competition.yaml").read_text()
    assert check_phases(folder / "competition.yaml", now=NOW) == []


def test_missing_blind_files_are_made_from_gold(source: Path, tmp_path: Path) -> None:
    with_files = members_of(imported(source, tmp_path / "with") / "public" / "parseme-1.2-test-blind.zip")
    for path in source.rglob("test.blind.cupt"):
        path.unlink()
    assert members_of(imported(source, tmp_path / "made") / "public" / "parseme-1.2-test-blind.zip") == with_files


def test_blanking_changes_nothing_but_the_annotation() -> None:
    text = "\ufeff# global.columns = ID PARSEME:MWE FORM\r\n#\t1:VID\tin a comment\r\n1\t1:VID;2\tune\r\n\r\n2\t*\tdeux"
    blind = "\ufeff# global.columns = ID PARSEME:MWE FORM\r\n#\t1:VID\tin a comment\r\n1\t_\tune\r\n\r\n2\t_\tdeux"
    assert blanked(text.encode()) == blind.encode()


# --------------------------------------------------------------------------------------------------------- categories


def test_categories_are_those_of_the_guidelines_and_of_the_data(source: Path, tmp_path: Path) -> None:
    train = source / "FR" / "train.cupt"
    train.write_text(train.read_text().replace("1:VID", "1:ParaVID"))
    categories = options_in(imported(source, tmp_path), "evaluation")["categories"]
    assert categories == [
        *("IAV", "IRV", "LS.ICV", "LVC.cause", "LVC.full", "MVC", "ParaVID", "VID", "VPC.full", "VPC.semi")
    ]


def test_given_categories_are_the_only_ones(source: Path, tmp_path: Path) -> None:
    folder = imported(source, tmp_path, categories=["VID", "LVC.full", "IRV"])
    options = options_in(folder, "evaluation")
    assert options["categories"] == ["VID", "LVC.full", "IRV"]
    other = tmp_path / "other.cupt"
    other.write_text((source / "FR" / "test.cupt").read_text().replace("1:VID", "1:MVC"))
    with pytest.raises(InvalidPrediction, match="MVC"):
        validate(
            NAME,
            folder / "public" / "parseme-1.2-test-blind.zip",
            zipped(tmp_path / "s.zip", {"FR/test.system.cupt": other}),
            options,
        )


def test_categories_that_the_data_have_must_be_among_those_given(source: Path, tmp_path: Path) -> None:
    (problem,) = refused(source, tmp_path, categories=["VID"])
    assert problem.code == "unknown-category"
    assert problem.message.endswith("not in the given list: IRV, LVC.full")
    assert refused(source, tmp_path, categories=["VID", "LVC.full", "IRV", "a:b"])[0].code == "bad-option"


# -------------------------------------------------------------------------------------------------------- historic rows


def many_languages(source: Path) -> Path:
    """A folder of edition 1.2's languages, all with the data of one."""
    french = source / "FR"
    shutil.rmtree(source / "HR")
    for name in OFFICIAL:
        if name != "fr":
            shutil.copytree(french, source / name.upper())
    return source


def test_published_results_stand_beside_what_is_sent_in(sqlite_engine: Engine, source: Path, tmp_path: Path) -> None:
    folder = imported(many_languages(source), tmp_path)
    assert check_phases(folder / "competition.yaml", now=NOW) == []
    with writing(sqlite_engine) as session:
        loaded = load_competitions(folder / "competition.yaml")
        apply_phases(session, loaded, storage=FolderStorage(tmp_path / "storage"), now=NOW)
    with reading(sqlite_engine) as session:
        competition = find_competition(session, "parseme-1-2")
        found = [
            build_leaderboard(session, *find_board(competition, phase, board), Viewer(None, NOW))
            for phase in ("evaluation", "post-evaluation")
            for board in ("unseen", "unseen-by-language")
        ]
        of_track = {
            track: build_leaderboard(
                session, *find_board(competition, "evaluation", f"unseen-{track}"), Viewer(None, NOW)
            )
            for track in ("closed", "open")
        }
    assert found[0].rows == found[2].rows
    assert found[1].rows == found[3].rows
    # Ramisch et al. 2020, table 5.
    assert [row.team for row in found[0].rows][:3] == ["MTLB-STRUCT (open)", "TRAVIS-multi (open)", "ERMI (closed)"]
    first = found[0].rows[0]
    figures = [14, 0.362, 0.411, 0.385, 0.713, 0.691, 0.701, 0.777, 0.709, 0.741]
    assert [cell.value for cell in first.cells] == pytest.approx(figures)
    assert (first.kind, first.rank, len(found[0].rows)) == ("historic", None, 9)
    assert first.source == "Ramisch et al. 2020, MWE-LEX 2020, table 5"
    for track, count in (("closed", 2), ("open", 7)):
        assert len(of_track[track].rows) == count
        assert all(row.team.endswith(f"({track})") for row in of_track[track].rows)
    # Table 6: German and Irish are the columns 3 and 7 of the board by language; Irish is not in the table.
    german, irish = found[1].columns[2], found[1].columns[6]
    assert (german.split, irish.split) == ("de/unseen", "ga/unseen")
    by_language = found[1].rows[0]
    assert (by_language.team, by_language.cells[1].value) == ("MTLB-STRUCT (open)", 0.385)
    assert [by_language.cells[column].value for column in (2, 6)] == [0.4934, None]
    assert len(found[1].rows) == 5  # SHOMA, of table 6 alone, has no macro-average
    assert found[1].rows[-1].team == "SHOMA (edition 1.1)"


def test_macro_averages_over_other_languages_are_no_comparison(source: Path, tmp_path: Path) -> None:
    folder = imported(source, tmp_path)
    assert [path.name for path in (folder / "historic").iterdir()] == ["unseen-by-language.csv"]
    with (folder / "historic" / "unseen-by-language.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["team"]: (row["split"], row["value"]) for row in rows} == {
        "ERMI (closed)": ("fr/unseen", "0.244"),
        "MTLB-STRUCT (open)": ("fr/unseen", "0.4233"),
        "SHOMA (edition 1.1)": ("fr/unseen", "0.4466"),
        "TRAVIS-mono (open)": ("fr/unseen", "0.4801"),
        "TRAVIS-multi (open)": ("fr/unseen", "0.3727"),
    }
    assert "historic" not in (imported(source, tmp_path / "2.0", "2.0") / "competition.yaml").read_text()


def test_boards_say_why_no_published_result_stands_on_them(source: Path, tmp_path: Path) -> None:
    told = list[str]()
    import_parseme(source, tmp_path / "competition", tmp_path / "gold", "1.2", notify=told.append)
    text = (tmp_path / "competition" / "competition.yaml").read_text(encoding="utf-8")
    boards = {board["name"]: board for board in yaml.safe_load(text)["competitions"][0]["boards"]}
    (reason,) = told
    assert "means over the edition's 14 languages, while this competition has FR, HR" in reason
    assert {name for name, board in boards.items() if board["description"].endswith(reason)} == {
        "unseen",
        "unseen-closed",
        "unseen-open",
    }
    assert "historic" in boards["unseen-by-language"]


# -------------------------------------------------------------------------------------------------------------- refused


def test_everything_wrong_with_all_languages_is_said_at_once(source: Path, tmp_path: Path) -> None:
    (source / "FR" / "train.cupt").write_text("1\tJe\tje\n")
    dev = source / "FR" / "dev.cupt"
    dev.write_text(dev.read_text().replace("1:VID", "1;;2"))
    gold = source / "HR" / "test.cupt"
    gold.write_text(gold.read_text().replace("1:IRV", "_").replace("NOUN", "NOUN\tX"))
    shutil.copytree(source / "FR", source / "PL", ignore=shutil.ignore_patterns("test.cupt", "train.cupt", "dev.cupt"))
    problems = refused(source, tmp_path)
    assert [(problem.file, problem.line, problem.code) for problem in problems] == [
        ("FR/dev.cupt", 3, "malformed-code"),
        ("FR/train.cupt", 1, "missing-header"),
        ("HR/test.cupt", 3, "unannotated"),
        ("PL/test.cupt", None, "missing-file"),
    ]
    assert not (tmp_path / "gold").exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "words"),
    [
        ("2\tprend\tprendre\tVERB\t_", "2\tprend\tprendre\tVERB\t1:VID", 4, "not-blind", "is not blind"),
        ("3\tune", "3\tla", 5, "token-mismatch", "the token is 3 la, in test.cupt (line 5) it is 3 une"),
        ("5\te\te\tX\t_\n", "", 28, "token-mismatch", "the file ends here, but test.cupt continues"),
        ("5\te\te\tX\t_\n", "5\te\te\tX\t_\n6\tf\tf\tX\t_\n", 30, "token-mismatch", "ends before this token"),
        ("\n# source_sent_id = . . fr-2", "# source_sent_id = . . fr-2", 8, "token-mismatch", "in another sentence"),
    ],
)
def test_blind_file_that_is_not_that_of_gold_is_refused(
    source: Path, tmp_path: Path, old: str, new: str, line: int, code: str, words: str
) -> None:
    path = source / "FR" / "test.blind.cupt"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    (problem,) = refused(source, tmp_path)
    assert (problem.file, problem.line, problem.code) == ("FR/test.blind.cupt", line, code)
    assert words in problem.message


def test_gold_without_any_mwe_is_refused(source: Path, tmp_path: Path) -> None:
    path = source / "HR" / "test.cupt"
    path.write_text((source / "HR" / "test.blind.cupt").read_text().replace("\t_\n", "\t*\n"))
    (problem,) = refused(source, tmp_path)
    assert str(problem) == "HR/test.cupt: no MWE is annotated: is this the gold?"


def test_two_folders_of_one_language_are_refused(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source / "FR", source / "fr")
    (problem,) = [one for one in refused(source, tmp_path) if one.code == "duplicate-language"]
    assert str(problem) == "fr: a second folder for one language, after FR"


def test_folder_that_is_no_language_name_is_refused(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source / "FR", source / "old FR")
    assert [problem.code for problem in refused(source, tmp_path)] == ["bad-option"]


def test_development_data_without_training_data_are_refused_where_both_say_what_is_unseen(
    source: Path, tmp_path: Path
) -> None:
    (source / "FR" / "train.cupt").unlink()
    (problem,) = refused(source, tmp_path)
    assert (problem.file, problem.code) == ("FR/train.cupt", "missing-file")
    assert check_phases(imported(source, tmp_path, "1.1") / "competition.yaml", now=NOW) == []


def test_nothing_can_be_ranked_by_unseen_without_training_data(source: Path, tmp_path: Path) -> None:
    for path in (*source.rglob("train.cupt"), *source.rglob("dev.cupt")):
        path.unlink()
    (problem,) = refused(source, tmp_path)
    assert problem.message == "edition 1.2 ranks by unseen MWEs, but no language has training data"


def test_folder_of_something_else_is_refused(source: Path, tmp_path: Path) -> None:
    (problem,) = refused(source / "bin", tmp_path)
    assert problem.message == "this is not a folder of PARSEME data: there is no <LANG>/test.cupt in it"
    (problem,) = refused(source / "FR", tmp_path)
    assert problem.message.endswith("give the folder above, which contains all languages")
    assert refused(tmp_path / "nowhere", tmp_path)[0].code == "missing-file"


def test_unknown_edition_is_refused(source: Path, tmp_path: Path) -> None:
    (problem,) = refused(source, tmp_path, "1.0")
    assert problem.message == "there is no edition 1.0; the editions are 1.1, 1.2, 2.0"


def test_what_may_have_been_edited_is_not_written_over(source: Path, tmp_path: Path) -> None:
    folder = imported(source, tmp_path)
    with pytest.raises(InvalidFile, match="exists already; move it away"):
        imported(source, tmp_path)
    (folder / "competition.yaml").unlink()
    imported(source, tmp_path)  # the same gold does no harm
    (folder / "competition.yaml").unlink()
    corrected = tmp_path / "gold" / "parseme-1.2" / "evaluation" / "FR" / "test.cupt"
    corrected.write_text(corrected.read_text().replace("1:VID", "1:MVC"))
    with pytest.raises(InvalidFile, match="different gold of this name"):
        imported(source, tmp_path)
    assert "1:MVC" in corrected.read_text()


# ----------------------------------------------------------------------------------------------------- official data


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The conformance data of 1.1 and 1.2, imported; a folder for each edition."""
    folders = {}
    for edition, name in (("1.1", "parseme11"), ("1.2", "parseme12")):
        source = conformance(name)
        folders[edition] = tmp_path_factory.mktemp(name)
        imported(source, folders[edition], edition)
    return folders


@pytest.mark.parametrize("edition", ["1.1", "1.2"])
def test_official_folders_need_no_correction(official: Mapping[str, Path], edition: str) -> None:
    folder = official[edition] / "competition"
    assert check_phases(folder / "competition.yaml", now=NOW) == []
    languages = {"1.1": ["de", "fa", "fr", "hi", "hr", "tr"], "1.2": ["ga"]}
    assert options_in(folder, "evaluation")["languages"] == languages[edition]


@pytest.mark.parametrize("folder", ["parseme11", "parseme12"])
def test_blanked_gold_is_the_official_blind_file(folder: str) -> None:
    languages = [path.parent for path in sorted(conformance(folder).glob("*/test.blind.cupt"))]
    assert languages
    for language in languages:
        assert blanked((language / "test.cupt").read_bytes()) == (language / "test.blind.cupt").read_bytes()


@pytest.mark.parametrize(("edition", "language"), PERTURBED)
def test_uploads_have_the_scores_of_the_official_evaluator(
    official: Mapping[str, Path], tmp_path: Path, edition: str, language: str
) -> None:
    folder = official[edition] / "competition"
    data = conformance("parseme" + edition.replace(".", ""), language)
    upload = zipped(tmp_path / "upload.zip", {f"{language}/test.system.cupt": data / "test.system.perturbed.cupt"})
    gold = official[edition] / "gold" / f"parseme-{edition}" / "evaluation"
    items = folder / "public" / f"parseme-{edition}-test-blind.zip"
    found = score(NAME, gold, upload, options_in(folder, "evaluation"), items)
    values = {(one.metric, one.split): one.value for one in found}
    counts = official_counts(lines_of((data / "expected.perturbed.txt").read_text()))
    assert len(counts) >= 20
    for (split, basis), (correct, predicted, in_gold) in counts.items():
        here = split.replace("all", language.lower(), 1)
        assert values[f"{basis}_precision", here] == pytest.approx(correct / (predicted or 1), abs=1e-9)
        assert values[f"{basis}_recall", here] == pytest.approx(correct / (in_gold or 1), abs=1e-9)
