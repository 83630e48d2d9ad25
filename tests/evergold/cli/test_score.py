"""`evergold score`: formats and exit codes; and the public face of scoring, which loads nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evergold import scoring
from evergold.cli import run
from evergold.scoring.task import Score

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-detection"
GOLD, ITEMS, PREDICTION = (str(GOLDEN / name) for name in ("gold.csv", "items.csv", "prediction.csv"))
SCORE = ["score", "idiom-detection", "--gold", GOLD, "--prediction", PREDICTION]
_OF_MWES = GOLDEN.parent / "mwe-identification"
MWE = [
    *("score", "mwe-identification", "--gold", str(next(_OF_MWES.glob("gold*")))),
    *("--prediction", str(next(_OF_MWES.glob("prediction*")))),
]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.csv"
    path.write_text(Path(PREDICTION).read_text().replace("zero_shot,1", "zero_shot,7"))
    return str(path)


def test_table_shows_every_score_and_says_once_what_was_not_entered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SCORE) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert lines[:2] == ["Metric\tSplit\tValue", "macro_f1\tzero-shot · all\t0.666667"]
    assert len(lines) == 1 + 2 * 3
    assert output.err == "Not entered: one-shot.\n"


def test_json_is_one_document_with_signatures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE, "--items", ITEMS, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["task"], document["version"], document["warnings"]) == ("idiom-detection", 1, [])
    assert document["scores"][0] == {
        "metric": "macro_f1",
        "split": "zero_shot/all",
        "value": pytest.approx(2 / 3),
        "reason": None,
        "signature": "idiom-detection:1|macro_f1|zero_shot/all|labels:0,1|languages:en,pt|average:labels-present",
    }
    assert document["scores"][-1]["value"] is None
    assert document["scores"][-1]["reason"] == "not entered"


def test_python_m_scoring_is_the_same_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "evergold.scoring", *SCORE[1:], "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run([*SCORE, "--format", "json"]) == 0
    assert done.stdout == capsys.readouterr().out


def test_wrong_prediction_lists_its_problems_on_stderr(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE[:4], "--prediction", wrong]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    first, *problems = output.err.splitlines()
    assert first == "Error: The prediction is wrong."
    assert [problem.partition(" (")[0] for problem in problems] == [
        "  line 3, column Label: invalid label '7': expected 0 or 1",
        "  line 5, column Label: invalid label '7': expected 0 or 1",
        "  line 7, column Label: invalid label '7': expected 0 or 1",
    ]


def test_wrong_prediction_is_json_where_asked(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE[:4], "--prediction", wrong, "--format", "json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "invalid_prediction"
    problems = error["details"]["problems"]
    assert [problem["line"] for problem in problems] == [3, 5, 7]
    assert problems[0]["message"] == "invalid label '7': expected 0 or 1"
    assert error["details"]["problems_omitted"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "name", "message"),
    [
        ([*SCORE[:2], "--gold", ITEMS, "--prediction", PREDICTION], 6, "invalid_gold", "The gold is wrong."),
        ([*SCORE, "--items", PREDICTION], 6, "invalid_items", "The items are wrong."),
        (["score", "idiom-detecton", *SCORE[2:]], 64, "unknown_task", "did you mean idiom-detection?"),
        ([*SCORE, "--option", "labels=1"], 64, "invalid_options", "option labels"),
        ([*SCORE, "--option", "average=micro"], 64, "invalid_options", "no option average; its options are: settings"),
        ([*SCORE, "--option", "labels"], 64, "error", "is not NAME=VALUE"),
        ([*SCORE, "--option", "labels=0,1", "--option", "labels=0,1"], 64, "error", "is given twice"),
        ([*SCORE, "--train", GOLD], 64, "invalid_options", "does not use training data"),
        ([*SCORE[:4], "--prediction", str(GOLDEN)], 64, "unreadable_file", "Is a directory"),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    arguments: list[str], code: int, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert run([*arguments, "--format", "json"]) == code
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == name
    assert message in error["message"]


DIVIDED = ["--private-share", "0.5", "--private-seed", "sixteen letters!"]


def test_both_parts_of_divided_items_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE, *DIVIDED, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["scores"]
    parts = [[one["metric"] for one in found if one["part"] == part] for part in ("public", "private")]
    assert parts[0] == parts[1] != []
    assert all(f"|items:{one['part']},0.5," in one["signature"] for one in found)
    assert run([*SCORE, *DIVIDED]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if "part" in line] == ["Public part", "Private part"]


@pytest.mark.parametrize(
    "arguments",
    [
        [*SCORE, *DIVIDED[:2]],
        [*SCORE, *DIVIDED[2:]],
        [*SCORE, "--private-share", "1", *DIVIDED[2:]],
        [*SCORE, *DIVIDED[:3], "fifteen letters"],
        [*SCORE, *DIVIDED, "--intervals"],
        [*MWE, *DIVIDED, "--format", "parseme"],
    ],
)
def test_parts_need_share_and_seed_and_a_form_that_has_a_place_for_them(arguments: list[str]) -> None:
    assert run(arguments) == 64


@pytest.mark.parametrize(
    "arguments",
    [SCORE[:2], SCORE[:4], [*SCORE, "--fast"], [*SCORE, "--format", "xml"], [*SCORE[:4], "--prediction", "none.csv"]],
)
def test_wrong_usage_is_not_mistaken_for_a_wrong_prediction(arguments: list[str]) -> None:
    assert run(arguments) == 64


def test_options_are_read_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    printed = set()
    for pairs in (["languages=en,pt", "labels=0,1"], ['languages=["EN", "PT"]', "labels=[0, 1]"]):
        assert run([*SCORE, *(part for pair in pairs for part in ("--option", pair))]) == 0
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1


def test_public_face_scores_and_validates_files() -> None:
    scores = scoring.score("idiom-detection", GOLD, PREDICTION, {"languages": ["en", "pt"]}, ITEMS)
    assert all(isinstance(score, Score) for score in scores)
    assert scores == scoring.score("idiom-detection", GOLD, PREDICTION)
    assert scoring.validate("idiom-detection", ITEMS, PREDICTION) == ()
    assert all(getattr(scoring, name) is not None for name in scoring.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        scoring.scores  # noqa: B018 - the access itself is tested


def test_unknown_task_is_said_with_the_nearest_name() -> None:
    with pytest.raises(scoring.UnknownTask, match="did you mean idiom-similarity"):
        scoring.score("Idiom_Similarity", GOLD, PREDICTION)


def loaded(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_import_stays_light() -> None:
    assert not {"numpy", "pydantic", "scipy", "torch"} & loaded("import evergold.scoring")
    assert not {"scipy", "sklearn", "torch", "transformers"} & loaded("import evergold.scoring.tasks")


def test_a_small_file_is_scored_without_what_is_slow_to_load() -> None:
    """Check numpy's threads, too: each takes as long to start as the whole computation."""
    code = f"""
import os, sys
from evergold.cli import run
sys.stdout = sys.stderr
assert run({SCORE!r}) == 0
print(os.environ["OPENBLAS_NUM_THREADS"], *sorted(sys.modules), file=sys.__stdout__)
"""
    others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=others)
    threads, *names = ran.stdout.split()
    assert threads == "1"
    assert {"numpy", "pydantic"} <= set(names)
    assert not {"scipy", "torch", "sqlalchemy", "httpx", "yaml", "asyncio", "rich", "ssl"} & set(names)


def test_every_task_is_registered_under_its_name_and_complete() -> None:
    for name, task in scoring.TASKS.items():
        assert task.name == name
        assert scoring.get_task(name) is task
        assert task.version >= 1
        assert all(metric.name == key for key, metric in task.metrics.items())


def test_a_score_without_an_interval_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gold.csv", "prediction.csv"):
        (tmp_path / name).write_text("id,label\n1,0.5\n2,0.7\n3,0.9\n")
    files = ("--gold", str(tmp_path / "gold.csv"), "--prediction", str(tmp_path / "prediction.csv"))
    assert run(["score", "table", *files, "--option", 'metrics=["spearman"]', "--intervals"]) == 0
    assert "spearman\tall\t1.000000\t– (it is the same without any item" in capsys.readouterr().out
