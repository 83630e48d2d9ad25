"""mwe-identification: the golden case, files and folders that teams and organisers send, options, signatures."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from evergold.cli import run
from evergold.scoring.cupt import folders
from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction, Problem
from evergold.scoring.mwe import languages as mwe_languages
from evergold.scoring.mwe.options import Options
from evergold.scoring.task import NOT_ENTERED, Score, read_options, score_with_outcomes
from evergold.scoring.tasks import get_task
from evergold.scoring.tasks.mwe_identification import TASK, Gold, Prediction
from tests import lanes

GOLDEN = Path(__file__).parents[2] / "golden" / "mwe-identification"
GOLD, PREDICTION = GOLDEN / "gold", GOLDEN / "prediction"
FRENCH = PREDICTION / "FR" / "test.system.cupt"
OPTIONS = Options()


def scores(prediction: Path, gold: Path = GOLD, options: Options = OPTIONS) -> list[Score]:
    answers = TASK.read_gold(gold, options)
    return TASK.score(answers, TASK.read_prediction(prediction, TASK.items_of(answers, options), options), options)


def official_text_of(gold: Gold, prediction: Prediction, options: Options) -> str:
    assert TASK.report is not None
    return TASK.text_reports["parseme"](TASK.report(gold, prediction, options), options)


def values(found: list[Score]) -> dict[str, float | str | None]:
    return {f"{one.metric} {one.split}": one.reason if one.value is None else one.value for one in found}


def rejected(prediction: Path, gold: Path = GOLD, options: Options = OPTIONS) -> list[Problem]:
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(prediction, TASK.read_items(gold, options), options)
    return list(caught.value.problems)


def zipped(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def expected(text: str | float) -> object:
    """The golden file writes fractions as they were calculated, `6/8`."""
    try:
        return pytest.approx(float(Fraction(text)), abs=1e-12)
    except ValueError:
        return text


# ------------------------------------------------------------------------------------------------- the golden case


def test_golden_scores_are_as_calculated_by_hand() -> None:
    golden = json.loads((GOLDEN / "expected.json").read_text())["scores"]
    found = values(scores(PREDICTION))
    assert list(found) == list(golden)
    for name, value in golden.items():
        assert found[name] == expected(value), name


def test_the_blind_files_ask_for_the_same_as_gold() -> None:
    assert TASK.read_items(GOLD, OPTIONS) == TASK.items_of(TASK.read_gold(GOLD, OPTIONS), OPTIONS)


def test_gold_as_its_own_prediction_is_perfect(tmp_path: Path) -> None:
    for language in ("FR", "HR"):
        shutil.copytree(GOLD / language, tmp_path / language)
        (tmp_path / language / "test.cupt").rename(tmp_path / language / "test.system.cupt")
    found = values(scores(tmp_path))
    assert {found[f"mwe_f1 {split}"] for split in ("fr", "hr", "macro", "macro/unseen", "macro/category/VID")} == {1.0}


def test_one_file_is_called_all_unless_it_is_given_a_language() -> None:
    gold = GOLD / "FR" / "test.cupt"
    unnamed, named = scores(FRENCH, gold), scores(FRENCH, gold, Options(language="FR"))
    assert {one.split.partition("/")[0] for one in unnamed} == {"all"}
    assert {one.split.partition("/")[0] for one in named} == {"fr"}
    assert [one.value for one in unnamed] == [one.value for one in named]
    assert values(unnamed)["mwe_f1 all"] == pytest.approx(2 / 5)
    assert values(scores(FRENCH, gold, Options(languages=("fr",))))["mwe_f1 fr"] == pytest.approx(2 / 5)


def test_without_training_data_nothing_is_seen_or_unseen() -> None:
    gold = GOLD / "FR" / "test.cupt"
    found = values(scores(FRENCH, gold))
    for view in ("seen", "unseen", "variant", "identical"):
        assert found[f"mwe_f1 all/{view}"] == "no training data"
    answers = TASK.read_gold(gold, OPTIONS)
    predicted = TASK.read_prediction(FRENCH, TASK.items_of(answers, OPTIONS), OPTIONS)
    text = official_text_of(answers, predicted, OPTIONS)
    assert "Number of tokens" in text
    assert "Whether seen" not in text


def test_the_mean_over_languages_says_why_it_is_empty(tmp_path: Path) -> None:
    """Check gold with one MWE of two words: without training data nothing can be compared; with it, there is no such
    MWE.
    """
    head = "# global.columns = ID FORM LEMMA PARSEME:MWE\n"
    gold = "1\tfait\tfaire\t1:VID\n2\tface\tface\t1\n\n"
    train = "1\tun\tun\t*\n\n"
    prediction = tmp_path / "prediction" / "FR" / "test.system.cupt"
    none, no_training = "gold has no such MWE in any language", "no training data"
    for name, trained, seen in (("bare", False, no_training), ("trained", True, none)):
        folder = tmp_path / name / "FR"
        folder.mkdir(parents=True)
        (folder / "test.cupt").write_text(head + gold)
        if trained:
            (folder / "train.cupt").write_text(head + train)
        prediction.parent.mkdir(parents=True, exist_ok=True)
        prediction.write_text(head + gold)
        found = values(scores(prediction.parents[1], folder.parent))
        assert (found["mwe_f1 macro/single_token"], found["mwe_f1 macro/seen"]) == (none, seen)
        assert found["mwe_f1 macro/continuous"] == 1


def test_training_files_can_be_given_beside_a_single_gold_file() -> None:
    assert TASK.read_gold_with_train is not None
    train = [GOLD / "FR" / "train.cupt"]
    for gold in (GOLD / "FR" / "test.cupt", GOLD):
        options = Options(languages=("fr",))
        answers = TASK.read_gold_with_train(gold, train, options)
        predicted = TASK.read_prediction(FRENCH, TASK.items_of(answers, options), options)
        found = values(TASK.score(answers, predicted, options))
        # fr-2 is seen in dev only: of fr-1, fr-2 and {c, d} two are left.
        assert found["mwe_recall fr/seen"] == pytest.approx(1 / 2)
    with pytest.raises(InvalidGold, match="training files can be given for one language"):
        TASK.read_gold_with_train(GOLD, train, OPTIONS)


def test_unseen_against_train_alone_leaves_dev_out() -> None:
    both, train = (values(scores(PREDICTION, options=Options(unseen_against=a))) for a in ("train+dev", "train"))
    assert (both["mwe_recall fr/seen"], train["mwe_recall fr/seen"]) == (pytest.approx(1 / 3), pytest.approx(1 / 2))
    assert both["mwe_f1 fr"] == train["mwe_f1 fr"]


def test_training_data_without_any_mwe_make_everything_unseen(tmp_path: Path) -> None:
    train = tmp_path / "train.cupt"
    train.write_text("# global.columns = ID FORM LEMMA PARSEME:MWE\n1\tOui\toui\t*\n\n")
    assert TASK.read_gold_with_train is not None
    answers = TASK.read_gold_with_train(GOLD / "FR" / "test.cupt", [train], OPTIONS)
    predicted = TASK.read_prediction(FRENCH, TASK.items_of(answers, OPTIONS), OPTIONS)
    found = values(TASK.score(answers, predicted, OPTIONS))
    assert found["mwe_f1 all/unseen"] == found["mwe_f1 all"]
    assert found["mwe_f1 all/seen"] == 0


def test_changed_lemmas_cannot_move_a_score(tmp_path: Path) -> None:
    lines = [line.split("\t") for line in FRENCH.read_text().split("\n")]
    changed = "\n".join("\t".join([*row[:2], "x", "X", row[4]]) if len(row) == 5 else row[0] for row in lines)
    path = zipped(tmp_path / "s.zip", {"FR/test.system.cupt": changed})
    assert scores(path) == scores(PREDICTION)


def test_the_report_is_compact_json_with_every_count() -> None:
    answers = TASK.read_gold(GOLD, OPTIONS)
    predicted = TASK.read_prediction(PREDICTION, TASK.items_of(answers, OPTIONS), OPTIONS)
    assert TASK.report is not None
    document = json.loads(json.dumps(TASK.report(answers, predicted, OPTIONS), allow_nan=False))
    french = document["languages"]["fr"]
    assert document["languages"]["hr"] is None
    assert french["all"] == {"mwe": [2, 5, 5], "token": [10, 12, 11]}
    assert french["views"]["unseen"] == [1, 2, 4]
    # In the official order: an MWE without a category is sorted as None.
    assert list(french["categories"]) == ["LVC.full", "<unlabeled>", "VID"]
    assert french["categories"]["VID"]["token"] == [6, 8, 6]
    assert french["diversity"]["richness"] == 2
    assert (document["macro"]["submitted"], document["macro"]["of"]) == (1, 2)
    assert document["macro"]["views"]["single_token"] is None
    assert document["macro"]["all"]["token"] == pytest.approx([5 / 11, 5 / 12, 10 / 23])
    assert len(json.dumps(french)) < 1000


@pytest.mark.parametrize("macro", ["languages-with-gold", "all-languages"])
def test_the_means_of_the_report_are_those_of_the_scores(macro: str) -> None:
    options = OPTIONS.model_copy(update={"macro": macro})
    answers = TASK.read_gold(GOLD, options)
    predicted = TASK.read_prediction(PREDICTION, TASK.items_of(answers, options), options)
    assert TASK.report is not None
    document = TASK.report(answers, predicted, options)["macro"]
    assert document["absent"] == {"languages-with-gold": "left-out", "all-languages": "as-zero"}[macro]
    means = document["views"]
    scores = values(TASK.score(answers, predicted, options))
    kinds = ("precision", "recall", "f1")
    defined = {view: list(mean) for view, mean in means.items() if mean is not None}
    assert len(defined) == len(means) - 1, "no language has the single-token view"
    assert defined == {view: [scores[f"mwe_{kind} macro/{view}"] for kind in kinds] for view in defined}


def test_the_official_text_follows_the_lemmas_of_the_prediction(tmp_path: Path) -> None:
    changed = tmp_path / "test.system.cupt"
    changed.write_text(FRENCH.read_text().replace("\tprendre\t", "\tprennen\t"))
    options = Options(languages=("fr",))
    answers = TASK.read_gold(GOLD, options)
    predicted = TASK.read_prediction(changed, TASK.items_of(answers, options), options)
    # The one MWE that was seen is not any more: 0 of 0 predicted, and 5 instead of 4 unseen ones.
    text = official_text_of(answers, predicted, options)
    assert "* Seen-in-train: MWE-based: P=0/0=0.0000 R=0/3=0.0000 F=0.0000" in text
    assert "* Unseen-in-train: MWE-based: P=1/5=0.2000 R=1/2=0.5000 F=0.2857" in text
    assert values(TASK.score(answers, predicted, options))["mwe_precision fr/seen"] == 1


def test_several_languages_are_reported_one_after_the_other() -> None:
    answers = TASK.read_gold(GOLD, OPTIONS)
    predicted = TASK.read_prediction(PREDICTION, TASK.items_of(answers, OPTIONS), OPTIONS)
    lines = official_text_of(answers, predicted, OPTIONS).split("\n")
    assert [line for line in lines if line.startswith("# ")] == ["# FR", "# HR"]
    assert lines[-1] == NOT_ENTERED


def test_little_or_nothing_found_leaves_diversity_undefined(tmp_path: Path) -> None:
    nothing = zipped(tmp_path / "0.zip", {"HR/test.system.cupt": (GOLD / "HR" / "train.cupt").read_text()})
    assert rejected(nothing)[0].code == "token-mismatch"
    hr = (GOLD / "HR" / "test.cupt").read_text()
    none = hr.replace("\t1:IRV", "\t*").replace("\t1\n", "\t*\n")
    found = values(scores(zipped(tmp_path / "1.zip", {"HR/test.system.cupt": none})))
    assert (found["richness hr"], found["entropy hr"]) == (0, "no MWE was found")
    found = values(scores(zipped(tmp_path / "2.zip", {"HR/test.system.cupt": hr})))
    assert (found["richness hr"], found["entropy hr"]) == (1, 0)
    assert found["evenness hr"] == "fewer than two different MWEs were found"


# ----------------------------------------------------------------------------------------- what teams may send


def test_a_zip_with_an_extra_folder_and_what_desktops_add_is_read(tmp_path: Path) -> None:
    members = {
        "my submission/FR/test.system.cupt": FRENCH.read_bytes(),
        "my submission/.DS_Store": b"\0",
        "__MACOSX/my submission/FR/._test.system.cupt": b"\0",
    }
    assert scores(zipped(tmp_path / "s.zip", members)) == scores(PREDICTION)


def test_folders_may_be_written_in_small_letters(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"fr/test.system.cupt": FRENCH.read_bytes()})
    assert scores(path) == scores(PREDICTION)


def test_other_files_are_passed_over_with_a_warning(tmp_path: Path) -> None:
    others = {"FR/dev.system.cupt": b"x", "README.md": b"x"}
    path = zipped(tmp_path / "s.zip", {"FR/test.system.cupt": FRENCH.read_bytes(), **others})
    prediction = TASK.read_prediction(path, TASK.read_items(GOLD, OPTIONS), OPTIONS)
    unexpected = [warning.file for warning in prediction.warnings if warning.code == "unexpected-file"]
    assert unexpected == ["FR/dev.system.cupt", "README.md"]


@pytest.mark.parametrize(
    ("members", "code", "said"),
    [
        (
            {"DE/test.system.cupt": "x"},
            "unknown-language",
            "DE is not a language of this task; its languages are fr, hr",
        ),
        ({"test.system.cupt": "x"}, "unknown-language", "the file is not in a folder"),
        ({"FR/fr.cupt": "x"}, "wrong-file-name", "the file must be called FR/test.system.cupt"),
        ({"a/FR/test.system.cupt": "x", "FR/test.system.cupt": "x"}, "duplicate-language", "a second file for fr"),
        ({"FR/system.txt": "x"}, "nothing-submitted", "<LANG>/test.system.cupt, where <LANG> is one of fr, hr"),
    ],
)
def test_files_in_wrong_places_are_told(members: dict[str, str], code: str, said: str, tmp_path: Path) -> None:
    problems = rejected(zipped(tmp_path / "s.zip", members))
    assert code in [problem.code for problem in problems]
    assert any(said in str(problem) for problem in problems)


def test_problems_of_all_files_are_told_at_once_and_capped_per_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "PROBLEMS_PER_FILE", 2)
    members = {
        "FR/test.system.cupt": FRENCH.read_text().replace("\t*\n", "\t1;;2\n"),
        "HR/test.system.cupt": (GOLD / "HR" / "test.cupt").read_text().replace("\tse\t", "\tsi\t"),
        "DE/test.system.cupt": "x",
    }
    with pytest.raises(InvalidPrediction) as caught:
        TASK.read_prediction(zipped(tmp_path / "s.zip", members), TASK.read_items(GOLD, OPTIONS), OPTIONS)
    found = [(problem.file, problem.code, problem.line) for problem in caught.value.problems]
    assert found == [
        ("DE/test.system.cupt", "unknown-language", None),
        ("FR/test.system.cupt", "malformed-code", 3),
        ("FR/test.system.cupt", "malformed-code", 5),
        ("HR/test.system.cupt", "token-mismatch", 4),
    ]
    assert caught.value.omitted == FRENCH.read_text().count("\t*\n") - 2


def test_swapped_languages_are_recognised(tmp_path: Path) -> None:
    members = {
        "FR/test.system.cupt": (GOLD / "HR" / "test.cupt").read_text(),
        "HR/test.system.cupt": FRENCH.read_text(),
    }
    problems = rejected(zipped(tmp_path / "s.zip", members))
    assert [(problem.code, problem.file) for problem in problems] == [
        ("swapped-language", "FR/test.system.cupt"),
        ("swapped-language", "HR/test.system.cupt"),
    ]
    assert "sentences of hr" in problems[0].message


def test_the_blind_file_unfilled_is_rejected(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"FR/test.system.cupt": (GOLD / "FR" / "test.blind.cupt").read_text()})
    assert [problem.code for problem in rejected(path)] == ["unannotated"]


def test_a_single_file_is_enough_for_one_language_and_not_for_several(tmp_path: Path) -> None:
    one = Options(languages=("fr",))
    in_zip = zipped(tmp_path / "s.zip", {"FR/test.system.cupt": FRENCH.read_text()})
    assert scores(FRENCH, options=one) == scores(in_zip, options=one)
    assert [problem.code for problem in rejected(FRENCH)] == ["not-a-zip"]
    single = GOLD / "FR" / "test.cupt"
    assert scores(in_zip, single) == scores(FRENCH, single)
    assert scores(PREDICTION, single) == scores(FRENCH, single)


def test_a_zip_of_several_files_for_one_language_is_ambiguous(tmp_path: Path) -> None:
    path = zipped(tmp_path / "s.zip", {"a.cupt": "x", "b.cupt": "x"})
    assert rejected(path, GOLD / "FR" / "test.cupt")[0].code == "several-files"


def test_categories_of_the_task_are_checked() -> None:
    assert rejected(PREDICTION, options=Options(categories=("VID",)))[0].code == "unknown-category"
    assert values(scores(PREDICTION, options=Options(categories=("VID", "LVC.full")))) == values(scores(PREDICTION))


def test_the_command_line_checks_a_file_without_gold(capsys: pytest.CaptureFixture[str]) -> None:
    blind = GOLD / "FR" / "test.blind.cupt"
    checked = ["validate", str(FRENCH), "--task", "mwe-identification", "--items"]
    assert run([*checked, str(blind)]) == 0
    assert "code on the range 2-3" in capsys.readouterr().err
    assert run([*checked, str(GOLD)]) == 2


def test_the_blind_files_may_come_as_a_zip_of_folders(tmp_path: Path) -> None:
    blind = {
        f"1.2/{language}/test.blind.cupt": (GOLD / language / "test.blind.cupt").read_bytes()
        for language in ("FR", "HR")
    }
    path = zipped(tmp_path / "blind.zip", blind)
    assert TASK.read_items(path, OPTIONS) == TASK.read_items(GOLD, OPTIONS)
    assert list(TASK.read_items(path, Options(languages=("hr",))).languages) == ["hr"]
    with pytest.raises(InvalidItems, match="there is no DE/test.blind.cupt"):
        TASK.read_items(path, Options(languages=("de", "fr")))
    single = zipped(tmp_path / "one.zip", {"FR/test.blind.cupt": blind["1.2/FR/test.blind.cupt"]})
    assert not TASK.read_items(single, OPTIONS).in_folders


# ----------------------------------------------------------------------------------- what organisers may get wrong


def test_a_prediction_checked_against_other_items_is_not_scored(tmp_path: Path) -> None:
    other = tmp_path / "gold" / "FR"
    shutil.copytree(GOLD / "FR", other)
    for name in ("test.cupt", "test.blind.cupt"):
        (other / name).write_text((other / name).read_text().replace("\tIl\t", "\tElle\t"))
    one = Options(languages=("fr",))
    prediction = TASK.read_prediction(FRENCH, TASK.read_items(GOLD, one), one)
    with pytest.raises(InvalidGold, match="fr: the items file has other sentences or tokens than gold"):
        TASK.score(TASK.read_gold(tmp_path / "gold", one), prediction, one)


def test_gold_folders_that_lack_something_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidGold, match="there is no DE/test.cupt"):
        TASK.read_gold(GOLD, Options(languages=("de", "fr")))
    with pytest.raises(InvalidGold, match="there is no <LANG>/test.cupt"):
        TASK.read_gold(tmp_path, OPTIONS)
    with pytest.raises(InvalidItems, match="there is no <LANG>/test.cupt"):
        TASK.read_items(tmp_path, OPTIONS)
    shutil.copytree(GOLD / "FR", tmp_path / "FR")
    (tmp_path / "FR" / "train.cupt").unlink()
    with pytest.raises(InvalidGold, match=r"FR has dev\.cupt but no train\.cupt"):
        TASK.read_gold(tmp_path, OPTIONS)


def test_problems_of_all_gold_files_are_told_at_once(tmp_path: Path) -> None:
    shutil.copytree(GOLD, tmp_path / "gold")
    for language, name in (("FR", "dev.cupt"), ("HR", "test.cupt")):
        file = tmp_path / "gold" / language / name
        file.write_text(file.read_text().replace("1:", "1::"))
    with pytest.raises(InvalidGold) as caught:
        TASK.read_gold(tmp_path / "gold", OPTIONS)
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        ("FR/dev.cupt", 3),
        ("HR/test.cupt", 3),
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"languages": ["fr"], "language": "fr"}, "not both"),
        ({"languages": ["macro"]}, "not a language"),
        ({"languages": []}, "languages"),
        ({"language": "a/b"}, "language"),
        ({"language": "macro"}, "not a language"),
        ({"unseen_against": "dev"}, "unseen_against"),
        ({"categories": ["a:b"]}, "cannot be the name of a category"),
        ({"rank_by": "speed"}, "rank_by"),
        ({"colour": "red"}, "no option colour"),
    ],
)
def test_options_that_make_no_sense_are_refused(document: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidOptions, match=said):
        read_options(TASK, document)


def test_options_may_be_written_on_the_command_line() -> None:
    options = read_options(TASK, {"languages": "FR,hr", "categories": "VID,IRV"})
    assert isinstance(options, Options)
    assert (options.languages, options.categories) == (("fr", "hr"), ("VID", "IRV"))


# --------------------------------------------------------------------------------- columns, signatures, registration


def test_every_column_of_a_board_is_scored_and_every_metric_is_described() -> None:
    options = Options(languages=("fr", "hr"))
    found = scores(PREDICTION, options=options)
    columns = TASK.columns(options)
    assert {(column.metric, column.split) for column in columns} <= {(one.metric, one.split) for one in found}
    assert {one.metric for one in found} == set(TASK.metrics)
    assert len({(column.metric, column.split) for column in columns}) == len(columns)
    single = {(column.metric, column.split) for column in TASK.columns(OPTIONS)}
    assert {("mwe_f1", "all"), ("mwe_f1", "macro"), ("token_f1", "macro"), ("mwe_f1", "macro/unseen")} <= single


@pytest.mark.parametrize(
    ("options", "first"),
    [
        (Options(), ("mwe_f1", "macro")),
        (Options(rank_by="unseen"), ("mwe_f1", "macro/unseen")),
        (Options(rank_by="token", languages=("fr", "hr")), ("token_f1", "macro")),
        (Options(rank_by="unseen", language="fr"), ("mwe_f1", "fr/unseen")),
    ],
)
def test_the_first_column_is_the_one_by_which_the_edition_ranks(options: Options, first: tuple[str, str]) -> None:
    column = TASK.columns(options)[0]
    assert (column.metric, column.split) == first


def signatures(options: Options, prediction: Path = PREDICTION, gold: Path = GOLD) -> set[str]:
    return {one.signature for one in scores(prediction, gold, options)}


def test_what_can_move_a_score_is_in_its_signature() -> None:
    by_name = {f"{one.metric} {one.split}": one.signature for one in scores(PREDICTION)}
    assert by_name["mwe_f1 fr"] == "mwe-identification:2|mwe_f1|fr|matching:exact|lemmas:gold"
    assert by_name["mwe_f1 fr/unseen"].endswith("|lemmas:gold|seen_in:train+dev")
    assert by_name["token_f1 macro"].endswith("matching:assignment|lemmas:gold|macro:of-p-and-r|languages:fr,hr")
    assert len(set(by_name.values())) == len(by_name)
    changed = signatures(Options(unseen_against="train")) ^ signatures(OPTIONS)
    assert {signature.split("|")[2].split("/")[1] for signature in changed} == {
        "seen",
        "unseen",
        "variant",
        "identical",
    }
    assert all("macro" in signature for signature in signatures(Options(languages=("fr",))) - signatures(OPTIONS))
    french = GOLD / "FR" / "test.cupt"
    assert not signatures(OPTIONS, FRENCH, french) & signatures(Options(language="fr"), FRENCH, french)


def test_there_is_no_template_because_the_blind_file_is_one() -> None:
    assert TASK.template(TASK.read_items(GOLD, OPTIONS), OPTIONS) is None


def test_the_task_is_registered() -> None:
    assert get_task("mwe-identification") is TASK


# ---------------------------------------------------------------------------------------------------- any bytes


@settings(deadline=None, max_examples=lanes.examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300), packed=st.booleans())
def test_any_bytes_are_read_or_refused(content: bytes, packed: bool, tmp_path: Path) -> None:
    read_or_refuse(content, packed, tmp_path)


_EDITS = st.lists(
    st.tuples(st.integers(0, 900), st.integers(0, 3), st.sampled_from([*b"\t\n*_;:#-.19\r \xff", *b"VID"])),
    min_size=1,
    max_size=4,
)


@settings(deadline=None, max_examples=lanes.examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=_EDITS, packed=st.booleans())
def test_a_damaged_prediction_is_read_or_refused(
    edits: list[tuple[int, int, int]], packed: bool, tmp_path: Path
) -> None:
    content = bytearray(FRENCH.read_bytes())
    for place, removed, added in edits:
        content[place : place + removed] = bytes([added])
    read_or_refuse(bytes(content), packed, tmp_path)


def read_or_refuse(content: bytes, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    if packed:
        zipped(path, {"FR/test.system.cupt": content})
    options = Options(languages=("fr",))
    gold = TASK.read_gold(GOLD, options)
    refused: tuple[Problem, ...] = ()
    try:
        prediction = TASK.read_prediction(path, TASK.items_of(gold, options), options)
    except InvalidPrediction as invalid:
        refused = invalid.problems or (Problem("nothing", ""),)
    if refused:
        assert all(problem.message for problem in refused)
        return
    assert all(one.value is None or one.value >= 0 for one in TASK.score(gold, prediction, options))
    assert official_text_of(gold, prediction, options)


# -------------------------------------------------------------------------------------------------------- counted once


def test_scores_outcomes_and_report_of_a_run_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that counting, a quarter of a run's time besides reading, happens once, and anew against other gold."""
    counted: list[str] = []

    def noted(name: str) -> None:
        original = getattr(mwe_languages, name)

        def noting(*given: object) -> object:
            counted.append(name)
            return original(*given)

        monkeypatch.setattr(mwe_languages, name, noting)

    for name in ("outcomes", "count", "found_diversity"):
        noted(name)
    gold = TASK.read_gold(GOLD, OPTIONS)
    prediction = TASK.read_prediction(PREDICTION, TASK.items_of(gold, OPTIONS), OPTIONS)
    assert TASK.report is not None
    found, _ = score_with_outcomes(TASK, gold, prediction, OPTIONS)
    report = TASK.report(gold, prediction, OPTIONS)
    languages, submitted = len(gold.languages), len(prediction.languages)
    assert Counter(counted) == {"outcomes": languages, "found_diversity": submitted}
    again = TASK.read_gold(GOLD, OPTIONS)
    assert (TASK.score(again, prediction, OPTIONS), TASK.report(again, prediction, OPTIONS)) == (found, report)
    assert Counter(counted) == {"outcomes": languages, "count": languages, "found_diversity": 2 * submitted}
