"""`import_semeval2022`: from the official repository's layout to a competition that is ready to apply and to score."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path

import pytest
from sqlalchemy import select

from app.base.config import get_settings
from app.base.db import get_engine, reading, writing
from app.base.storage import FolderStorage, store_file
from app.boards.leaderboard import Leaderboard, build_leaderboard
from app.competitions.find import find_board, find_competition, find_phase_task
from app.competitions.visibility import Viewer
from app.declarations.apply.apply import apply_phases
from app.declarations.check import check_phases, load_competitions
from app.declarations.model import CompetitionDeclaration
from app.gold.sealing import PUBLIC_LIST
from app.importers.semeval2022 import import_semeval2022
from app.importers.semeval2022_layout import BOARDS, RESULTS
from app.importers.semeval2022_results import PUBLISHED, SYSTEMS
from app.importers.writing import read_published
from app.models import HistoricRow, RunStatus, ScoringRun, User
from app.operations.migrate import upgrade
from app.submissions.accept import Sender, accept_submission
from evergold.scoring.errors import InvalidFile
from tests import official_shapes
from tests.conformance import conformance

SETTINGS = ("zero_shot", "one_shot")
NOW = datetime(2026, 11, 21, tzinfo=UTC)


@dataclass(frozen=True)
class Import:
    """A checkout, and the server's folder that it was imported to; files: those that were there then."""

    source: Path
    server: Path
    written: list[Path]
    files: set[Path]

    @property
    def folder(self) -> Path:
        return self.server / "competitions" / "semeval2022"

    @cached_property
    def declared(self) -> CompetitionDeclaration:
        return declared_in(self.server)


@pytest.fixture(scope="module")
def imports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Import]:
    """A small checkout of our own, and the official one where it is at hand; each is imported once."""

    @cache
    def of(name: str) -> Import:
        official = name == "official"
        source = conformance("semeval2022", "repository") if official else ours(tmp_path_factory.mktemp("ours"))
        server = empty_server(tmp_path_factory.mktemp(name))
        written = import_semeval2022(source, server / "competitions" / "semeval2022", server / "var" / "gold")
        return Import(source, server, written, {path for path in server.rglob("*") if path.is_file()})

    return of


@pytest.fixture(params=["ours", "official"])
def done(request: pytest.FixtureRequest, imports: Callable[[str], Import]) -> Import:
    """Return an import to look at; tests that change it make a copy."""
    return imports(request.param)


def ours(folder: Path) -> Path:
    return official_shapes.semeval2022(folder)


def empty_server(folder: Path) -> Path:
    """The competition comes to competitions/semeval2022."""
    text = 'version: 1\ninclude: ["competitions/*/competition.yaml"]\n'
    (folder / "phases.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return empty_server(tmp_path)


def imported(source: Path, server: Path) -> CompetitionDeclaration:
    import_semeval2022(source, server / "competitions" / "semeval2022", server / "var" / "gold")
    return declared_in(server)


def declared_in(server: Path) -> CompetitionDeclaration:
    (loaded,) = load_competitions(server / "phases.yaml")
    return loaded.declaration


# ------------------------------------------------------------------------------------------------------- declaration


def test_result_has_no_errors_and_warns_of_the_absent_gold_only(done: Import) -> None:
    found = check_phases(done.server / "phases.yaml", now=NOW)
    assert [(f.severity, f.message.split(":")[0]) for f in found] == [
        ("warning", "'idiom-detection' has no gold in phase 'eval'"),
        ("warning", "'idiom-similarity' has no gold in phase 'eval'"),
        ("warning", "'idiom-detection' has no gold in phase 'post-evaluation'"),
        ("warning", "'idiom-similarity' has no gold in phase 'post-evaluation'"),
    ]


def test_phases_tell_the_story_of_the_official_guide(done: Import) -> None:
    """Practice in the open; evaluation hidden, at most ten, the last one counts; post-evaluation for ever."""
    declared = done.declared
    end = datetime(2022, 2, 1, tzinfo=UTC)
    assert [(phase.name, phase.end, phase.limits.total, phase.limits.per_day) for phase in declared.phases] == [
        ("practice", None, 999, None),
        ("eval", None, None, 10),
        ("test", end, 10, 10),
        ("post-evaluation", None, 999, None),
    ]
    practice, evaluation, test, post = declared.phases
    assert practice.tasks["idiom-detection"].gold == "semeval2022-task2/dev/idiom-detection.csv"
    assert {asked.gold for phase in (evaluation, test, post) for asked in phase.tasks.values()} == {None}
    assert (test.entry, test.visibility.board, test.visibility.public_from) == ("last", "hidden", "close")
    assert (post.start, post.carry_over, post.visibility.board) == (end, "test", None)
    assert post.tasks == test.tasks


def test_languages_are_those_of_the_items_of_each_phase(done: Import) -> None:
    declared = done.declared
    assert {task.name: task.options for task in declared.tasks} == {
        "idiom-detection": {"languages": ["en", "pt", "gl"]},
        "idiom-similarity": {"languages": ["en", "pt", "gl"]},
    }
    options = {(phase.name, name): asked.options for phase in declared.phases for name, asked in phase.tasks.items()}
    for (phase, _), own in options.items():
        assert own == ({} if phase in ("test", "post-evaluation") else {"languages": ["en", "pt"]})


def test_official_files_are_copied_unchanged(done: Import) -> None:
    there_before_or_added_to = {done.server / "phases.yaml", done.server / "var/gold" / PUBLIC_LIST}
    assert len(done.written) == len(set(done.written))
    assert set(done.written) == done.files - there_before_or_added_to
    public = done.folder / "public"
    for copy, original in (
        (public / "practice/idiom-detection/dev.csv", "SubTaskA/Data/dev.csv"),
        (public / "practice/idiom-detection/dev_gold.csv", "SubTaskA/Data/dev_gold.csv"),
        (public / "test/idiom-similarity/test_submission_format.csv", "SubTaskB/TestData/test_submission_format.csv"),
        (done.server / "var/gold/semeval2022-task2/dev/idiom-similarity.csv", "SubTaskB/EvaluationData/dev.gold.csv"),
    ):
        assert copy.read_bytes() == (done.source / original).read_bytes()


def test_gold_that_comes_later_needs_one_line(done: Import, server: Path) -> None:
    text = (done.folder / "competition.yaml").read_text(encoding="utf-8")
    waiting = re.findall(r"^ +# gold: (.*)$", text, re.MULTILINE)
    tasks = ("idiom-detection", "idiom-similarity")
    assert waiting == [f"semeval2022-task2/{split}/{task}.csv" for split in ("eval", "test", "test") for task in tasks]
    file = shutil.copytree(done.folder, server / "competitions" / "semeval2022") / "competition.yaml"
    file.write_text(text.replace("# gold: semeval2022-task2/test/", "gold: semeval2022-task2/test/"), encoding="utf-8")
    for phase in declared_in(server).phases[2:]:
        golds = [asked.gold for asked in phase.tasks.values()]
        assert golds == ["semeval2022-task2/test/idiom-detection.csv", "semeval2022-task2/test/idiom-similarity.csv"]


# --------------------------------------------------------------------------------------------------- what may be absent


@pytest.fixture
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout of our own, from which tests may remove parts."""
    return ours(tmp_path_factory.mktemp("checkout"))


def test_folder_that_is_no_checkout_is_refused_in_words(server: Path) -> None:
    with pytest.raises(InvalidFile, match="this is not a checkout of SemEval_2022_Task2-idiomaticity") as refused:
        import_semeval2022(server, server / "competitions" / "semeval2022", server / "gold")
    assert "SubTaskA/Data/dev.csv" in str(refused.value)
    assert not (server / "competitions").exists()


FORM = "SubTaskA/Data/eval_submission_format.csv"


def test_subtask_phase_results_and_templates_may_be_absent(checkout: Path, server: Path) -> None:
    official = {*(checkout / FORM).read_text(encoding="utf-8-sig").splitlines()}
    shutil.rmtree(checkout / "SubTaskB")
    shutil.rmtree(checkout / "SubTaskA" / "TestData")
    (checkout / FORM).unlink()
    shutil.rmtree(checkout / "results")
    declared = imported(checkout, server)
    assert [task.name for task in declared.tasks] == ["idiom-detection"]
    assert [board.name for board in declared.boards] == ["zero-shot", "one-shot"]
    assert [phase.name for phase in declared.phases] == ["practice", "eval"]
    assert declared.tasks[0].options == {"languages": ["en", "pt"]}  # Galician came with the test set
    assert all(not asked.options for phase in declared.phases for asked in phase.tasks.values())
    template = server / "competitions/semeval2022/public/eval/idiom-detection/eval_submission_format.csv"
    assert {*template.read_text(encoding="utf-8-sig").splitlines()} == official


def test_results_of_a_task_that_the_test_set_lacks_are_left_out(checkout: Path, server: Path) -> None:
    (checkout / "SubTaskA/TestData/test.csv").unlink()
    declared = imported(checkout, server)
    assert {board.name for board in declared.boards if board.historic} == {"pre-train", "fine-tune"}


def test_absent_dev_gold_leaves_practice_without_gold(checkout: Path, server: Path) -> None:
    (checkout / "SubTaskA/Data/dev_gold.csv").unlink()
    declared = imported(checkout, server)
    assert declared.phases[0].tasks["idiom-detection"].gold is None


def test_training_data_are_offered_where_the_checkout_has_them(checkout: Path, server: Path) -> None:
    (checkout / "SubTaskA/Data/train_zero_shot.csv").write_text("DataID,Label\nx,1\n", encoding="utf-8")
    declared = imported(checkout, server)
    files = {download.file for download in declared.phases[0].tasks["idiom-detection"].downloads}
    assert "public/practice/idiom-detection/train_zero_shot.csv" in files


def test_damaged_checkout_is_told_by_file_and_line_and_nothing_is_written(checkout: Path, server: Path) -> None:
    (checkout / "SubTaskA/Data/dev_gold.csv").write_text("ID,DataID,Language,Label\n1,x,EN,7\n", encoding="utf-8")
    (checkout / "results/best_submission_for_each_participant/subtask_a_one_shot.csv").write_text(
        ",User,F1 Score,Date\n1,maimao,0.9385,yesterday\n", encoding="utf-8"
    )
    with pytest.raises(InvalidFile) as refused:
        imported(checkout, server)
    said = [str(problem) for problem in refused.value.problems]
    assert said[0].startswith("SubTaskA/Data/dev_gold.csv, line 2, column Label")
    assert "subtask_a_one_shot.csv, line 2, column Date: this is not a moment" in said[1]
    assert not (server / "competitions").exists()


def test_edited_competition_is_not_overwritten(checkout: Path, server: Path) -> None:
    file = server / "competitions" / "semeval2022" / "competition.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("edited", encoding="utf-8")
    with pytest.raises(InvalidFile, match="move it away"):
        imported(checkout, server)
    assert file.read_text(encoding="utf-8") == "edited"


# --------------------------------------------------------------------------------------------------- applied and scored


@pytest.fixture
def applied(imports: Callable[[str], Import], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Import]:
    """An import in the database of its server, which this process then uses; applied once, and then again in vain."""

    def of(name: str) -> Import:
        found = imports(name)
        data = found.server / "var"
        monkeypatch.setenv("EVERGOLD_DATA_DIR", str(data))
        monkeypatch.setenv("EVERGOLD_GOLD_DIR", str(data / "gold"))
        get_settings.cache_clear()
        if not (found.server / "applied").exists():
            engine = get_engine(get_settings().database_address)
            upgrade(engine)
            loaded = load_competitions(found.server / "phases.yaml")
            for expected in (True, False):
                with writing(engine) as session:
                    changes = apply_phases(session, loaded, storage=FolderStorage(get_settings().storage_dir), now=NOW)
                assert any(change.counts for change in changes) is expected
            (found.server / "applied").touch()
        return found

    return of


def board_of(phase: str, board: str) -> Leaderboard:
    with reading(get_engine(get_settings().database_address)) as session:
        found = find_board(find_competition(session, "semeval2022-task2"), phase, board)
        return build_leaderboard(session, *found, Viewer(None, NOW))


def test_who_is_in_the_lists_alone_stands_there_as_listed(applied: Callable[[str], Import]) -> None:
    """Expected from the lists of our own, whose users the paper does not have."""
    applied("ours")
    shown = {
        name: [
            (row.team, [c.value for c in row.cells if c.value is not None])
            for row in board_of("test", name).rows
            if row.source and row.source.startswith("SemEval-2022 Task 2, official results")
        ]
        for name in ("zero-shot", "one-shot", "pre-train", "fine-tune")
    }
    assert shown == {
        "zero-shot": [("Cedar", [0.95]), ("Alder", [0.8123]), ("Birch", [0.7001])],
        "one-shot": [("Birch", [0.91])],
        "pre-train": [("Alder", [0.61, 0.41, 0.81])],
        "fine-tune": [("Birch", [0.66, 0.42, 0.65])],
    }
    assert all(row.kind != "historic" for row in board_of("practice", "zero-shot").rows)
    assert board_of("post-evaluation", "zero-shot").rows == board_of("test", "zero-shot").rows
    unranked = board_of("test", "zero-shot").rows[0]
    assert (unranked.kind, unranked.rank) == ("historic", None)
    assert unranked.source
    assert unranked.source.endswith("without a rank")


@dataclass
class Row:
    """A row of a board, as tests compare it: values in the order of the columns."""

    values: list[float | None]
    method: str
    paper: str
    code: str
    rank: int | None = None


def published(board: str) -> dict[str, Row]:
    return {
        row.team: Row(
            [cell.value for cell in row.cells],
            row.method,
            row.card.paper if row.card else "",
            row.card.code if row.card else "",
            row.published_rank,
        )
        for row in board_of("test", board).rows
        if row.source and row.source.startswith("Tayyar Madabushi et al. 2022")
    }


def test_systems_of_the_paper_have_its_names_and_all_its_values(applied: Callable[[str], Import]) -> None:
    """Expected: read off tables 5 to 8; columns are All, EN, PT, GL, and All, Idiom Only, STS Only before languages."""
    applied("ours")
    zero, one, pre = published("zero-shot"), published("one-shot"), published("pre-train")
    assert (len(zero), len(one), len(pre), len(published("fine-tune"))) == (22, 19, 7, 6)
    link = "https://aclanthology.org/2022.semeval-1."
    assert zero["NER4ID"] == Row(
        [0.7740, 0.8680, 0.7039, 0.6550],
        "dual encoder of expression and context; named entities found first; CodaLab: sted97",
        f"{link}25",
        "https://github.com/Babelscape/ner4id",
        3,
    )
    line = "mT5-base; easy data augmentation; focal loss; ensemble"
    assert zero["yxb"] == Row([0.8498, 0.8948, 0.8395, 0.7524], f"{line}; best in Portuguese", "", "", 2)
    assert zero["clay"].method.endswith("soft labels of an earlier checkpoint; best in English, Galician")
    line = "fine-tuned XLNet; post-evaluation only"
    assert zero["JARVix"] == Row([0.7235, 0.7869, 0.7201, 0.5588], line, f"{link}19", "", None)
    assert [zero[team].rank for team in ("clay", "HIT", "Hitachi")] == [1, 4, 5]
    assert zero["Baseline (mBERT, by the organisers)"].values == [0.6540, 0.7070, 0.6803, 0.5065]
    line = "as zero-shot, from its best checkpoint; post-processed by the labels in training"
    assert one["HIT"].method == f"{line}; CodaLab: maimao; best in English, Galician"
    line = "multi-task RemBERT over seven SemEval tasks"
    assert (one["MaChAmp"].method, one["MaChAmp"].rank) == (f"{line}; CodaLab: robvanderg; additional data", None)
    # By language as the organisers' page of baselines has it; Galician has no STS pairs, and so one value for both.
    assert pre["Baseline (mBERT, by the organisers)"].values == [0.4810, 0.2263, 0.8311, 0.5958, 0.5584, 0.1976]
    assert {team: row.code for team, row in (zero | one | pre).items() if row.code} == {
        "NER4ID": "https://github.com/Babelscape/ner4id",
        "HYU": "https://github.com/ojoo-J/SemEval-2022-Task2",
        "CardiffNLP-metaphors": "https://github.com/Mionies/CardiffNLP-SemEval-2022-Task2",
        "Zhichun Road": "https://github.com/cuixuage/SemEval2022-Task2",
        "海蛟NLP": "https://github.com/VisualJoyce/CiYi",
        "Helsinki-NLP": "https://github.com/dustedmtl/semeval2022",
    }
    assert pre["colorful"] == Row(
        [0.6262, 0.4290, 0.8880, None, None, None], "best in pairs with idioms, STS pairs", "", "", 2
    )
    described = {(row["board"], row["team"]): row["method"] for row in read_published("methods_semeval2022.csv")}
    boards = {"zero_shot": zero, "one_shot": one, "pre_train": pre, "fine_tune": published("fine-tune")}
    assert len(described) == 41
    assert all(boards[board][team].method.startswith(method) for (board, team), method in described.items())


def test_every_system_has_the_moment_of_its_listed_submission(applied: Callable[[str], Import]) -> None:
    """Check the official lists: no row has a CodaLab name, and exactly the listed systems have a date."""
    applied("official")
    with reading(get_engine(get_settings().database_address)) as session:
        rows = session.scalars(select(HistoricRow)).all()
        assert all(row.source.startswith("Tayyar Madabushi et al. 2022") for row in rows)
        assert {row.team for row in rows if row.source.endswith("without a rank")} == {"MaChAmp", "JARVix"}
        known = {row.team: row.achieved_at for row in rows}
    assert known["MaChAmp"] == datetime(2022, 1, 30, 14, 32, 28, tzinfo=UTC)
    undated = {team for team, moment in known.items() if moment == datetime(2022, 7, 14, tzinfo=UTC)}
    assert undated == {"JARVix", "Baseline (mBERT, by the organisers)"}


def test_names_on_codalab_belong_to_the_scores_of_the_paper() -> None:
    """The paper does not print them: the same score at the same rank of the official list is the same system."""
    handles = {row["team"]: row["handle"] for row in read_published(SYSTEMS)}
    for board in BOARDS:
        (score, split), *_ = board.scores.items()
        path = conformance("semeval2022", "repository", RESULTS, board.file)
        with path.open(encoding="utf-8-sig", newline="") as file:
            lists = {row["User"]: (row[""].strip(), float(row[score])) for row in csv.DictReader(file)}
        printed = [row for row in read_published(PUBLISHED) if row["split"] == f"{board.setting}/{split}"]
        ranked = {handles[row["team"]]: (row["rank"], float(row["value"])) for row in printed if row["rank"].isdigit()}
        assert ranked == {user: result for user, result in lists.items() if result[0].isdigit()}


def test_baselines_declare_what_the_official_evaluator_says_of_them(imports: Callable[[str], Import]) -> None:
    """Check that one of the conformance submissions predicts 1 everywhere, as the baseline does; four digits are
    declared.
    """
    official_import = imports("official")
    declared = official_import.declared
    baselines = {one.name: one for one in declared.phases[0].tasks["idiom-detection"].baselines}
    assert list(baselines) == ["Idiomatic", "Not idiomatic"]  # the folder has no training data to learn from
    own = official_import.folder / baselines["Not idiomatic"].file
    theirs = conformance("semeval2022", "submissions", "A_majority.csv")

    def labels(path: Path) -> dict[tuple[str, str], str]:
        with path.open(encoding="utf-8", newline="") as file:
            return {(row["ID"], row["Setting"]): row["Label"] for row in csv.DictReader(file)}

    assert labels(own) == labels(theirs)
    official = json.loads(conformance("semeval2022", "submissions", "expected.json").read_text())["subtask_a"]
    expected = {f"macro_f1 {setting}/all": round(official["A_majority"][f"{setting}/EN+PT"], 4) for setting in SETTINGS}
    assert dict(baselines["Not idiomatic"].scores) == expected
    test = declared.phases[2].tasks["idiom-detection"].baselines
    assert [one.name for one in test] == ["Idiomatic", "Not idiomatic", "Majority", "Frequency"]
    assert all(not one.scores for one in test)


def score_in_practice(predictions: Mapping[str, Path]) -> None:
    """Submit one prediction for each task, and score it."""
    from workers.score import score_submission

    engine = get_engine(get_settings().database_address)
    with writing(engine) as session:
        user = User(username="ada", email="ada@example.org", email_confirmed_at=NOW, display_name="Ada", created_at=NOW)
        session.add(user)
        session.flush()
        runs = []
        for task, path in predictions.items():
            phase_task = find_phase_task(session, "semeval2022-task2", "practice", task)
            upload = store_file(path, FolderStorage(get_settings().storage_dir))
            runs.append(accept_submission(session, phase_task, upload, Sender(user, NOW)).run_id)
    for run_id in runs:
        score_submission(run_id)
    with reading(engine) as session:
        assert {session.get_one(ScoringRun, run_id).status for run_id in runs} == {RunStatus.SCORED}


def test_scores_worked_out_by_hand_stand_on_the_boards(applied: Callable[[str], Import]) -> None:
    """Check the golden cases, which are the development data of our own checkout."""
    applied("ours")
    cases = official_shapes.DEVELOPMENT.values()
    score_in_practice({task: official_shapes.GOLDEN / task / "prediction.csv" for task in cases})
    for task, board in (("idiom-detection", "zero-shot"), ("idiom-similarity", "pre-train")):
        by_hand = json.loads((official_shapes.GOLDEN / task / "expected.json").read_text("utf-8"))["scores"]
        shown = board_of("practice", board)
        compared = 0
        for column, cell in zip(shown.columns, shown.rows[0].cells, strict=True):
            expected = by_hand.get(f"{column.metric} {column.split}")
            if isinstance(expected, float):
                assert cell.value == pytest.approx(expected, abs=1e-9), column
                compared += 1
        assert compared >= 3


def test_official_scores_stand_on_the_boards(applied: Callable[[str], Import]) -> None:
    """Expected from the official evaluators' output for these submissions."""
    files = {"idiom-detection": "A_noisy.csv", "idiom-similarity": "B_char.csv"}
    predictions = {task: conformance("semeval2022", "submissions", file) for task, file in files.items()}
    applied("official")
    score_in_practice(predictions)
    expected = json.loads(conformance("semeval2022", "submissions", "expected.json").read_text(encoding="utf-8"))
    noisy, char = expected["subtask_a"]["A_noisy"], expected["subtask_b"]["B_char"]
    for name, setting in (("zero-shot", "zero_shot"), ("one-shot", "one_shot")):
        values = [cell.value for cell in board_of("practice", name).rows[0].cells]
        official = [noisy[f"{setting}/{languages}"] for languages in ("EN+PT", "EN", "PT")]
        assert values[:3] == pytest.approx(official, abs=1e-9)
        assert values[3] is None  # no Galician in this phase
    for name, setting in (("pre-train", "pre_train"), ("fine-tune", "fine_tune")):
        values = [cell.value for cell in board_of("practice", name).rows[0].cells]
        pooled = char[f"{setting}/EN+PT"]
        official = [pooled[subset] for subset in ("all", "idiom", "sts")]
        official += [char[f"{setting}/{language}"]["all"] for language in ("EN", "PT")]
        assert values[:5] == pytest.approx(official, abs=1e-9)
        assert values[5] is None
