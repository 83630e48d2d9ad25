"""`python -m evergold.scoring` and the public face: formats, exit codes, and that nothing heavy is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evergold import scoring
from evergold.scoring.__main__ import main
from evergold.scoring.task import Score

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-detection"
GOLD, ITEMS, PREDICTION = (str(GOLDEN / name) for name in ("gold.csv", "items.csv", "prediction.csv"))
SCORE = ["idiom-detection", "--gold", GOLD, "--prediction", PREDICTION]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.csv"
    path.write_text(Path(PREDICTION).read_text().replace("zero_shot,1", "zero_shot,7"))
    return str(path)


def test_table_shows_every_score_and_says_once_what_was_not_entered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SCORE) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "macro_f1  zero_shot/all    0.666667"
    assert lines[-1] == "not entered: one_shot"
    assert len(lines) == 2 * 3 + 1


def test_json_is_one_document_with_signatures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SCORE, "--items", ITEMS, "--format", "json"]) == 0
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


def test_wrong_prediction_lists_its_problems_on_stderr(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["idiom-detection", "--gold", GOLD, "--prediction", wrong]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines() == [
        "invalid prediction:",
        "  line 3, column Label: '7' is not a label, it must be 0 or 1",
        "  line 5, column Label: '7' is not a label, it must be 0 or 1",
        "  line 7, column Label: '7' is not a label, it must be 0 or 1",
    ]


def test_wrong_prediction_is_json_where_asked(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["idiom-detection", "--gold", GOLD, "--prediction", wrong, "--format", "json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"] == "invalid-prediction"
    assert [problem["line"] for problem in document["problems"]] == [3, 5, 7]
    assert document["problems"][0]["sentence"] == "line 3, column Label: '7' is not a label, it must be 0 or 1"


def test_prediction_is_only_checked_without_gold(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["idiom-detection", "--items", ITEMS, "--prediction", PREDICTION]) == 0
    assert capsys.readouterr().out == "the prediction can be scored\n"
    assert main(["idiom-detection", "--items", ITEMS, "--prediction", PREDICTION, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["problems"] == []
    assert main(["idiom-detection", "--items", ITEMS, "--prediction", wrong]) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["idiom-detection", "--gold", ITEMS, "--prediction", PREDICTION], 3, "invalid gold:"),
        ([*SCORE, "--items", PREDICTION], 3, "invalid items:"),
        (["idiom-detecton", "--gold", GOLD, "--prediction", PREDICTION], 4, "did you mean idiom-detection?"),
        ([*SCORE, "--option", "labels=1"], 4, "option labels"),
        ([*SCORE, "--option", "average=micro"], 4, "idiom-detection has no option average; its options are: settings"),
        ([*SCORE, "--option", "labels"], 4, "must be written NAME=VALUE"),
        ([*SCORE, "--option", "labels=0,1", "--option", "labels=0,1"], 4, "is given twice"),
        ([*SCORE, "--format", "xml"], 4, "the formats are table, json"),
        ([*SCORE, "--train", GOLD], 4, "has no use for training data"),
        ([*SCORE[:3], "--prediction", "none.csv"], 5, "No such file"),
        ([*SCORE[:3], "--prediction", str(GOLDEN)], 5, "Is a directory"),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert said in output.err
    assert main([*arguments, "--format", "json"] if "xml" not in arguments else arguments) == code


@pytest.mark.parametrize("arguments", [[], ["idiom-detection"], [*SCORE, "--fast"], SCORE[:3]])
def test_wrong_usage_is_not_mistaken_for_a_wrong_prediction(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 4


def test_options_are_read_as_text_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    printed = set()
    for pairs in (["languages=en,pt", "labels=0,1"], ['languages=["EN", "PT"]', "labels=[0, 1]"]):
        assert main([*SCORE, *(part for pair in pairs for part in ("--option", pair))]) == 0
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1


def test_list_names_every_task_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listing = capsys.readouterr().out
    for name, task in scoring.TASKS.items():
        assert f"{name} (version {task.version})" in listing
        assert all(f"--option {option}" in listing for option in task.options.model_fields)
    assert "--option settings  (default: zero_shot,one_shot)" in listing


def test_help_documents_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert all(f"\n  {code}  " in text for code in range(6))


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
    assert not {"numpy", "pydantic", "scipy", "torch"} & loaded("import scoring")
    assert not {"scipy", "sklearn", "torch", "transformers"} & loaded("import evergold.scoring.tasks")


def test_every_task_is_registered_under_its_name_and_complete() -> None:
    for name, task in scoring.TASKS.items():
        assert task.name == name
        assert scoring.get_task(name) is task
        assert task.version >= 1
        assert all(metric.name == key for key, metric in task.metrics.items())
