"""`evergold compare`, and `evergold score --intervals`: tables, JSON, exit codes; the same numbers as in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evergold.cli import run
from evergold.cli.compare import p_text, show_differences
from evergold.scoring.resampling.pairs import Difference
from evergold.scoring.tasks import get_task
from evergold.scoring.uncertainty import Reader, differences, gold_digest

GOLDEN = Path(__file__).parents[2] / "golden" / "idiom-detection"
GOLD, PREDICTION = str(GOLDEN / "gold.csv"), str(GOLDEN / "prediction.csv")
SCORE = ["score", "idiom-detection", "--gold", GOLD, "--prediction", PREDICTION, "--intervals"]


@pytest.fixture
def other(tmp_path: Path) -> str:
    """The golden prediction with all of its 1 made 0."""
    path = tmp_path / "other.csv"
    path.write_text(Path(PREDICTION).read_text().replace("zero_shot,1", "zero_shot,0"))
    return str(path)


def compare(*arguments: str) -> list[str]:
    return ["compare", *arguments, "--task", "idiom-detection", "--gold", GOLD, "--resamples", "200"]


def test_table_has_an_interval_behind_each_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SCORE) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Metric\tSplit\tValue\t95 % interval"
    metric, split, value, interval = lines[1].split("\t")
    low, high = (float(end) for end in interval.split(" to "))
    assert (metric, split) == ("macro_f1", "zero-shot · all")
    assert 0 < low < float(value) < high < 1


def test_json_has_the_ends_the_level_and_the_method_or_why_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE, "--format", "json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    first = scores[0]
    assert first["interval"].keys() == {"low", "high", "level", "method"}
    assert (first["interval"]["level"], first["interval_reason"]) == (0.95, None)
    assert first["interval"]["method"] == "jackknife-logit-t:2|units:item,6"
    assert first["interval"]["low"] < first["value"] < first["interval"]["high"]
    assert (scores[-1]["interval"], scores[-1]["interval_reason"]) == (None, "not entered")


def test_scores_are_the_same_with_intervals_and_without(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SCORE, "--format", "json"]) == 0
    beside = json.loads(capsys.readouterr().out)
    assert run([*SCORE[:-1], "--format", "json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    for score in beside["scores"]:
        del score["interval"], score["interval_reason"]
    assert beside == alone


def test_a_report_has_no_place_for_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    case = GOLDEN.parent / "mwe-identification"
    files = ["--gold", str(case / "gold"), "--prediction", str(case / "prediction")]
    assert run(["score", "mwe-identification", *files, "--format", "parseme", "--intervals"]) == 64
    assert "table or json" in capsys.readouterr().err


@pytest.mark.parametrize("turned", [False, True])
def test_exit_code_is_0_whichever_wins(other: str, turned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    files = [other, PREDICTION] if turned else [PREDICTION, other]
    assert run(compare(*files)) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert lines[0] == "Metric\tSplit\tFirst\tSecond\tDifference\t95 % interval\tp\tp (corrected)"
    assert len(lines) == 1 + 2 * 3
    assert lines[1].split("\t")[4].startswith("+" if turned else "-")
    assert "the corrected p (Holm) is over all rows" in output.err


def test_corrected_p_takes_all_listed_scores_together(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Holm: the k-th smallest of m counts m + 1 - k times, at most 1, and no less than one before it."""
    assert run([*compare(PREDICTION, other), "--json"]) == 0
    scores = sorted(json.loads(capsys.readouterr().out)["scores"], key=lambda one: one["p"])
    steps = [min(1.0, (len(scores) - place) * one["p"]) for place, one in enumerate(scores)]
    assert [one["corrected"] for one in scores] == pytest.approx([max(steps[: at + 1]) for at in range(len(steps))])


def difference(
    *, undefined: int = 0, resamples: int = 200, ends: tuple[float, float] | None = (-0.1, 0.1)
) -> Difference:
    low, high = ends or (None, None)
    return Difference(0.5, 0.6, 0.1, low, high, 0.04, undefined, resamples, 0.95, "paired:1")


def test_the_most_resamples_without_a_score_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"en": 3, "pt": 7, "gl": 0}
    show_differences({("accuracy", split): difference(undefined=count) for split, count in counts.items()})
    told = capsys.readouterr()
    assert "In up to 7 resamples a score was undefined" in told.err
    assert [line.split("\t")[1] for line in told.out.splitlines()[1:]] == ["English", "Portuguese", "Galician"]
    show_differences({("accuracy", "en"): difference()})
    assert "undefined" not in capsys.readouterr().err


@pytest.mark.parametrize(("undefined", "is_told"), [(0, True), (10, True), (11, False)])
def test_no_interval_is_explained_unless_too_many_resamples_have_no_score(
    undefined: int, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check that ten of 200 resamples are one in twenty; with one more there is no interval, which is
    reported already.
    """
    found = {("accuracy", "all"): difference(), ("macro_f1", "all"): difference(undefined=undefined, ends=None)}
    show_differences(found)
    assert ("A difference without an interval is the same in every resample" in capsys.readouterr().err) is is_told


def test_a_split_is_chosen_as_tables_show_it(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    documents = []
    for name in ("accuracy zero_shot/en", "accuracy zero-shot · English"):
        assert run([*compare(PREDICTION, other), "--metric", name, "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out)["scores"])
    assert documents[0] == documents[1]
    assert [one["split"] for one in documents[0]] == ["zero_shot/en"]


def test_json_has_both_values_their_difference_its_interval_and_p(
    other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*compare(PREDICTION, other), "--metric", "accuracy zero_shot/all", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["task"], document["version"], document["second"]) == ("idiom-detection", 1, other)
    [score] = document["scores"]
    assert (score["metric"], score["split"], score["undefined"], score["resamples"]) == (
        "accuracy", "zero_shot/all", 0, 200,
    )  # fmt: skip
    assert score["difference"] == pytest.approx(score["second"] - score["first"])
    assert score["interval"]["low"] <= score["difference"] <= score["interval"]["high"]
    assert 0 < score["p"] <= 1
    reader = Reader.of(get_task("idiom-detection"), Path(GOLD), {})
    runs = [reader.read(Path(path)) for path in (PREDICTION, other)]
    again = differences(runs[0], runs[1], gold_digest(Path(GOLD)), resamples=200)["accuracy", "zero_shot/all"]
    assert (again.p, again.low, again.method) == (score["p"], score["interval"]["low"], score["method"])


def test_seed_is_the_golds_unless_another_is_given(other: str, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = []
    for more in ([], [], ["--seed", "3f" * 32]):
        assert run([*compare(PREDICTION, other), "--json", *more]) == 0
        seeds.append(json.loads(capsys.readouterr().out)["scores"][0]["method"].rpartition("seed:")[2])
    assert seeds[0] == seeds[1] != seeds[2]


def test_digest_of_a_folder_knows_names_and_contents(tmp_path: Path) -> None:
    digests = set()
    for name, content in (("a", "1"), ("b", "1"), ("b", "2")):
        folder = tmp_path / f"{name}{content}"
        folder.mkdir()
        (folder / name).write_text(content)
        digests.add(gold_digest(folder))
    assert len(digests) == 3


def test_wrong_files_and_names_are_said_as_by_score(
    other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(Path(PREDICTION).read_text().replace("zero_shot,1", "zero_shot,7"))
    assert run(compare(PREDICTION, str(wrong))) == 2
    assert "expected 0 or 1" in capsys.readouterr().err
    assert run([*compare(PREDICTION, other), "--metric", "bleu"]) == 64
    assert "the metrics are macro_f1, accuracy" in capsys.readouterr().err


def test_systems_without_a_common_score_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one_shot = tmp_path / "one.csv"
    one_shot.write_text(
        Path(PREDICTION).read_text().replace("zero", "two").replace("one", "zero").replace("two", "one")
    )
    assert run(compare(PREDICTION, str(one_shot))) == 1
    assert "no score in common" in capsys.readouterr().err


def test_p_is_written_as_journals_do() -> None:
    assert [p_text(p) for p in (1e-9, 0.00099, 0.001, 0.0321, 1.0)] == ["< .001", "< .001", ".001", ".032", "1.000"]
