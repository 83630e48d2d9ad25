"""The task idiomaticity-probing from files to scores: what is read, what is refused and how, what pages are given."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.errors import InvalidGold, InvalidItems, InvalidOptions, InvalidPrediction
from evergold.scoring.probing.measures import PROBES
from evergold.scoring.task import NOT_ENTERED, Score, read_options
from evergold.scoring.tasks.idiomaticity_probing import NOT_CHOSEN, SMALL_CLASS, TASK, ProbingOptions

OPTIONS = ProbingOptions()
COMPOUNDS = tuple(f"compound {letter}" for letter in "abcdefghijkl")
CONTEXTS = {"nat": ("nat1", "nat2", "nat3"), "neut": ("neut",)}
HUMAN = "language,compound,compositionality,class\n" + "".join(
    f"pt,{name},{place / 3},{'idiomatic' if place < 11 else 'compositional'}\n" for place, name in enumerate(COMPOUNDS)
)
HEADER = "language,context,compound,probe,level,sim"

Rows = dict[tuple[str, str, str, str, str], str]


Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return lambda name, content: write_to(tmp_path / name, content)


def write_to(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def blind_items(settings: Sequence[str] = ("nat", "neut")) -> str:
    rows = [
        f"pt,{context},{compound},{probe},Uma frase .,0 1 0"
        for setting in settings
        for context in CONTEXTS[setting]
        for compound in COMPOUNDS
        for probe in ("original", *PROBES)
    ]
    return "language,context,compound,probe,sentence,nc\n" + "\n".join(rows) + "\n"


def full_rows(setting: str = "neut", level: str = "nc", compounds: Sequence[str] = COMPOUNDS) -> Rows:
    random = np.random.default_rng(7)
    return {
        ("pt", context, compound, probe, level): f"{random.random():.3f}"
        for context in CONTEXTS[setting]
        for compound in compounds
        for probe in PROBES
    }


def written(rows: Mapping[Any, str], *more: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([HEADER.split(","), *((*key, sim) for key, sim in rows.items())])
    return text.getvalue() + "".join(f"{line}\n" for line in more)


def by_name(scores: Sequence[Score]) -> dict[str, Score]:
    return {f"{score.metric} {score.split}": score for score in scores}


def scored(write: Write, prediction: str | bytes, items: str | None = None, **options: Any) -> dict[str, Score]:
    chosen = ProbingOptions(**options)
    gold = TASK.read_gold(write("gold.csv", HUMAN), chosen)
    wanted = TASK.read_items(write("items.csv", items), chosen) if items else TASK.items_of(gold, chosen)
    return by_name(TASK.score(gold, TASK.read_prediction(write("prediction", prediction), wanted, chosen), chosen))


def refused(write: Write, prediction: str | bytes, items: str | None = None) -> list[str]:
    with pytest.raises(InvalidPrediction) as caught:
        scored(write, prediction, items)
    return [str(problem) for problem in caught.value.problems]


def test_scores_of_one_split_by_hand(write: Write) -> None:
    rows = full_rows()
    for place, compound in enumerate(COMPOUNDS):
        for probe in PROBES:
            rows["pt", "neut", compound, probe, "nc"] = "0.5" if probe.startswith("rand") else "0.6"
        rows["pt", "neut", compound, "syn", "nc"] = str(0.5 + place / 100)  # 0.5 … 0.61, rising with the human score
    found = scored(write, written(rows))
    assert found["sim_syn pt/neut/nc"].value == pytest.approx(0.555)
    assert found["affinity_syn_rand pt/neut/nc"].value == pytest.approx(0.055)
    assert found["simr_syn pt/neut/nc"].value == pytest.approx(0.11)
    assert found["sim_syn_sd pt/neut/nc"].value == pytest.approx(0.01 * np.sqrt(13))  # 1..12: variance 12·13/12
    assert (found["sim_syn_rho pt/neut/nc"].value, found["sim_syn_p pt/neut/nc"].value) == (1.0, 0.0)
    assert found["sim_syn pt/neut/nc/idiomatic"].value == pytest.approx(0.55)
    for name in ("compositional", "partly"):  # one compound and none: a mean would tell which compound it is
        assert found[f"sim_syn pt/neut/nc/{name}"].reason == SMALL_CLASS
    assert found["sim_comp_rho pt/neut/nc"].reason == "all predictions are equal"


def test_a_class_of_exactly_ten_compounds_has_scores(write: Write) -> None:
    """Check that ten are enough for a mean that names none; that of two is not shown."""
    human = "".join(
        f"pt,{name},{place / 3},{'idiomatic' if place < 10 else 'partly'}\n" for place, name in enumerate(COMPOUNDS)
    )
    gold = TASK.read_gold(write("gold.csv", f"language,compound,compositionality,class\n{human}"), OPTIONS)
    rows = {key: str(COMPOUNDS.index(key[2]) / 100) for key in full_rows()}
    items = TASK.items_of(gold, OPTIONS)
    prediction = TASK.read_prediction(write("prediction", written(rows)), items, OPTIONS)
    found = by_name(TASK.score(gold, prediction, OPTIONS))
    assert found["sim_syn pt/neut/nc/idiomatic"].value == pytest.approx(0.045)  # the mean of 0.00 … 0.09
    assert found["sim_syn pt/neut/nc/partly"].reason == SMALL_CLASS


def test_boards_rank_every_measure_upwards_but_the_similarity_with_random_compounds() -> None:
    """The less alike a compound and a random one are, the better."""
    means = {name for name in TASK.metrics if not name.endswith(("_sd", "_rho", "_p"))}
    assert {name for name in means if not TASK.metrics[name].higher_is_better} == {"sim_rand"}


def test_rows_in_any_order_score_the_same(write: Write) -> None:
    rows = full_rows()
    backwards = dict(reversed(rows.items()))
    assert scored(write, written(rows)) == scored(write, written(backwards))


def test_what_was_left_out_is_not_entered(write: Write) -> None:
    template = TASK.template(TASK.read_items(write("items.csv", blind_items()), OPTIONS), OPTIONS)
    assert template is not None
    empty: dict[Any, str] = {tuple(line.split(",")[:5]): "" for line in template.splitlines()[1:]}
    rows = {**empty, **full_rows()}
    found = scored(write, written(rows), blind_items())
    assert {score.split for score in found.values() if score.reason != NOT_ENTERED} == {
        "pt/neut/nc",
        *(f"pt/neut/nc/{name}" for name in ("compositional", "partly", "idiomatic")),
    }
    assert found["sim_syn pt/nat/nc"].reason == NOT_ENTERED


def test_template_covers_every_item_once(write: Write) -> None:
    template = TASK.template(TASK.read_items(write("items.csv", blind_items()), OPTIONS), OPTIONS)
    assert template is not None
    lines = template.splitlines()
    assert lines[0] == HEADER
    assert len(lines) == len(set(lines)) == 1 + len(COMPOUNDS) * 4 * 9 * 2


def test_every_column_is_a_score(write: Write) -> None:
    found = scored(write, written(full_rows()))
    assert {f"{column.metric} {column.split}" for column in TASK.columns(OPTIONS)} <= set(found)
    assert {score.metric for score in found.values()} == set(TASK.metrics)


def test_signatures_tell_splits_and_measures_apart(write: Write) -> None:
    found = scored(write, written(full_rows()))
    assert len({score.signature for score in found.values()}) == len(found)


def test_compound_without_human_score_may_be_predicted_when_only_scores_are_known(write: Write) -> None:
    rows = full_rows(compounds=(*COMPOUNDS, "another compound"))
    assert scored(write, written(rows))["sim_syn pt/neut/nc"].value is not None
    assert refused(write, written(rows), blind_items()) == [
        f"line {line}, column compound: 'another compound' is not a compound of the pt items"
        for line in range(110, 119)
    ]


def test_misspelt_compound_is_named_by_line_where_only_human_scores_are_known(write: Write) -> None:
    rows = full_rows(compounds=("compund a", *COMPOUNDS[1:]))  # the rows of compound a, nine of them, from line 2
    assert refused(write, written(rows)) == [
        f"line {2}, column compound: 'compund a' has no human score, and 'compound a' has no rows: is it misspelt?",
    ]


def test_head_or_modifier_is_chosen_by_its_own_level_or_by_that_of_the_compound(write: Write) -> None:
    """Check that at nc the modifier preserves more (0.9 against 0.2), in the sentence the head (0.8 against 0.3)."""
    rows = full_rows() | full_rows(level="sent")
    for compound in COMPOUNDS:
        for level, head, modifier in (("nc", "0.2", "0.9"), ("sent", "0.8", "0.3")):
            rows["pt", "neut", compound, "head", level] = head
            rows["pt", "neut", compound, "modifier", level] = modifier
    own, by_compound = scored(write, written(rows)), scored(write, written(rows), component="nc-level")
    assert own["sim_comp pt/neut/sent"].value == pytest.approx(0.8)
    assert by_compound["sim_comp pt/neut/sent"].value == pytest.approx(0.3)
    for found in (own, by_compound):
        assert found["sim_comp pt/neut/nc"].value == pytest.approx(0.9)
    changed = {name for name, score in own.items() if score.signature != by_compound[name].signature}
    assert changed == {name for name in own if name.startswith("sim_comp")}


def test_where_head_and_modifier_are_equal_the_head_is_kept(write: Write) -> None:
    rows = full_rows() | full_rows(level="sent")
    for compound in COMPOUNDS:
        for level, head, modifier in (("nc", "0.5", "0.5"), ("sent", "0.1", "0.7")):
            rows["pt", "neut", compound, "head", level] = head
            rows["pt", "neut", compound, "modifier", level] = modifier
    assert scored(write, written(rows), component="nc-level")["sim_comp pt/neut/sent"].value == pytest.approx(0.1)


def test_without_the_choosing_level_nothing_is_chosen_and_that_is_said(write: Write) -> None:
    found = scored(write, written(full_rows(level="sent")), component="nc-level")
    assert found["sim_comp pt/neut/sent"].reason == NOT_CHOSEN
    assert found["sim_syn pt/neut/sent"].value is not None
    with pytest.raises(InvalidOptions, match="nc-level needs the level nc"):
        read_options(TASK, {"levels": ["sent"], "component": "nc-level"})


def test_all_problems_are_said_at_once_by_line(write: Write) -> None:
    first = "pt,neut,compound a,syn,nc"
    rows = full_rows()
    rows["pt", "neut", "compound b", "head", "nc"] = "nan"
    rows["pt", "neut", "compound c", "head", "nc"] = "1.01"
    rows["pt", "neut", "compound d", "head", "nc"] = "0,5"
    found = refused(
        write,
        written(
            rows, f"{first},0.5", "xx,neut,compound a,syn,nc,0.5", "pt,nat4,compound a,syn,nc,0.5",
            "pt,neut,compound a,rand6,nc,0.5", "pt,neut,compound a,syn,word,0.5", "pt,neut,kompound a,syn,nc,0.5",
            "pt,neut",
        ),
        blind_items(("neut",)),
    )  # fmt: skip
    assert found == [
        "line 12, column sim: 'nan' is not a cosine: a number between -1 and 1",
        "line 21, column sim: '1.01' is not a cosine: a number between -1 and 1",
        "line 30, column sim: '0,5' is not a cosine: a decimal comma; write 0.5",
        "line 110, column compound: neut compound a syn at level nc appears twice, first on line 2",
        "line 111, column language: the language must be pt",
        "line 112, column context: the context must be nat1, nat2, nat3, neut",
        f"line 113, column probe: the probe must be {', '.join(PROBES)}",
        "line 114, column level: the level must be sent or nc",
        "line 115, column compound: 'kompound a' is not a compound of the pt items",
        "line 116: 2 fields, the header has 6",
    ]


def test_one_mistake_on_every_line_hides_no_other(write: Write) -> None:
    rows = {key: "2" for key in full_rows()}
    found = refused(write, written(rows, "xx,neut,compound a,syn,nc,0.5"))
    assert len(found) == 22
    assert "… and 88 more lines like this, starting here: " in found[-2]
    assert found[-1].startswith("line 110, column language")


def test_half_filled_split_is_refused_with_what_is_missing(write: Write) -> None:
    rows = {**full_rows(), **full_rows("nat")}
    del rows["pt", "nat2", "compound a", "rand5", "nc"]
    rows["pt", "neut", "compound b", "syn", "nc"] = ""
    assert refused(write, written(rows)) == [
        "pt/nat/nc is half-filled, 1 of 324 similarities are missing or empty: nat2 compound a rand5; "
        "a language, setting and level is filled completely, or left out",
        "pt/neut/nc is half-filled, 1 of 108 similarities are missing or empty: neut compound b syn; "
        "a language, setting and level is filled completely, or left out",
    ]


def test_empty_template_is_refused(write: Write) -> None:
    assert refused(write, HEADER + "\n") == ["nothing is predicted: fill at least one language, setting and level"]


def test_cosine_may_exceed_one_by_single_precision(write: Write) -> None:
    rows = full_rows()
    rows["pt", "neut", "compound a", "syn", "nc"] = "1.0000001"
    assert scored(write, written(rows))["sim_syn pt/neut/nc"].value is not None


# Embeddings


def vectors_for(setting: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(3).standard_normal((len(CONTEXTS[setting]) * 12 * 10, 6)).astype(np.float32)


def npz(**tensors: object) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **{name.replace("_", "/"): tensor for name, tensor in tensors.items()})  # type: ignore[arg-type]
    return file.getvalue()


def cosine_rows(setting: str, level: str, vectors: np.ndarray[Any, Any]) -> Rows:
    """The CSV that a team would compute from the same vectors, by numpy alone, walking the blind file."""
    rows = list(csv.DictReader(io.StringIO(blind_items())))
    rows = [row for row in rows if row["context"] in CONTEXTS[setting]]
    place = {(row["context"], row["compound"], row["probe"]): n for n, row in enumerate(rows)}
    found: Rows = {}
    for (context, compound, probe), number in place.items():
        if probe != "original":
            a, b = vectors[place[context, compound, "original"]].astype(float), vectors[number].astype(float)
            found["pt", context, compound, probe, level] = repr(float(a @ b / np.sqrt((a @ a) * (b @ b))))
    return found


def test_embeddings_score_as_the_cosines_of_the_same_vectors(write: Write) -> None:
    nat, neut = vectors_for("nat"), vectors_for("neut")
    from_vectors = scored(write, npz(pt_nat_sent=nat, pt_neut_nc=neut), blind_items())
    from_csv = scored(
        write, written({**cosine_rows("nat", "sent", nat), **cosine_rows("neut", "nc", neut)}), blind_items()
    )
    for name, score in from_csv.items():
        if not score.split.endswith("standardised"):
            assert from_vectors[name].value == pytest.approx(score.value, abs=1e-9), name
            assert from_vectors[name].signature == score.signature


def test_standardised_variant_is_that_of_standardised_vectors(write: Write) -> None:
    vectors = vectors_for("neut") * np.array([1, 1, 1, 1, 1, 100], dtype=np.float32) + 5
    found = scored(write, npz(pt_neut_nc=vectors), blind_items())
    by_hand = (vectors.astype(float) - vectors.mean(axis=0, dtype=float)) / vectors.astype(float).std(axis=0)
    expected = scored(write, written(cosine_rows("neut", "nc", by_hand)), blind_items())
    for metric in TASK.metrics:
        value = expected[f"{metric} pt/neut/nc"].value
        assert found[f"{metric} pt/neut/nc/standardised"].value == pytest.approx(value, abs=1e-6)
        assert found[f"{metric} pt/nat/nc/standardised"].reason == NOT_ENTERED
    assert found["sim_syn pt/neut/nc/standardised"].value != pytest.approx(found["sim_syn pt/neut/nc"].value, abs=0.01)
    assert "sim_syn pt/neut/nc/standardised/idiomatic" in found


def test_standardising_can_be_switched_off(write: Write) -> None:
    found = scored(write, npz(pt_neut_nc=vectors_for("neut")), blind_items(), standardised=False)
    assert not [name for name in found if "standardised" in name]


def test_vectors_that_never_change_are_undefined_when_standardised(write: Write) -> None:
    found = scored(write, npz(pt_neut_nc=np.ones((120, 4))), blind_items())
    assert found["sim_syn pt/neut/nc"].value == pytest.approx(1.0)
    assert found["simr_syn pt/neut/nc"].reason == "undefined for 12 of 12 compounds"
    assert found["sim_syn pt/neut/nc/standardised"].reason == "undefined for 12 of 12 compounds"


def test_embeddings_need_the_list_of_items(write: Write) -> None:
    assert "embeddings need the items file" in refused(write, npz(pt_neut_nc=vectors_for("neut")))[0]


def test_broken_embeddings_are_named_even_without_items(write: Write) -> None:
    header = (20 * 1024**3).to_bytes(8, "little") + b'{"pt/neut/nc"'
    assert "21,474,836,480 bytes" in refused(write, header)[1]
    assert "Python objects" in refused(write, npz(pt_neut_nc=np.array([[None]])))[1]


def test_file_of_twenty_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write((20 * 1024**3).to_bytes(8, "little") + b"{")
        file.truncate(20 * 1024**3 + 8)
    gold = TASK.read_gold(write_to(tmp_path / "gold.csv", HUMAN), OPTIONS)
    tracemalloc.start()
    with pytest.raises(InvalidPrediction, match="the file has 21,474,836,488 bytes"):
        TASK.read_prediction(path, TASK.items_of(gold, OPTIONS), OPTIONS)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    path.unlink()


def test_embeddings_of_another_shape_are_refused(write: Write) -> None:
    assert refused(write, npz(pt_neut_nc=np.ones((119, 4)), en_neut_nc=np.ones((120, 4))), blind_items()) == [
        "en/neut/nc: this tensor is not expected; the names are pt/nat/sent, pt/nat/nc, pt/neut/sent, pt/neut/nc",
        "pt/neut/nc: 119 rows; one for each of the 120 rows of the items",
    ]


# Items and gold


def test_problems_of_the_blind_file_are_said_by_line(write: Write) -> None:
    text = blind_items(("neut",)).replace("pt,neut,compound a,rand5,Uma frase .,0 1 0\n", "")
    text += "pt,neut,compound b,syn,x,1\npt,neut,compound a,rand7,x,1\npt,nat9,compound a,syn,x,1\npt,neut, ,syn,x,1\n"
    with pytest.raises(InvalidItems) as caught:
        TASK.read_items(write("items.csv", text), OPTIONS)
    assert [problem.code for problem in caught.value.problems] == [
        "missing-row", "duplicate-row", "unknown-probe", "unknown-context", "empty-cell",
    ]  # fmt: skip
    assert str(caught.value.problems[1]) == "line 121: neut, compound b, syn appears twice, first on line 12"


def test_problems_of_the_human_scores_are_said_by_line(write: Write) -> None:
    text = (
        HUMAN + "pt,compound a,3,idiomatic\npt,x,nan,\npt,y,1,odd\n,z,1,\npt,compound b,0.3333333333333333,idiomatic\n"
    )
    with pytest.raises(InvalidGold) as caught:
        TASK.read_gold(write("gold.csv", text), OPTIONS)
    assert [(problem.line, problem.code) for problem in caught.value.problems] == [
        (14, "conflict"),
        (15, "not-a-number"),
        (16, "unknown-class"),
        (17, "empty-cell"),
    ]


def test_gold_folder_brings_its_items(tmp_path: Path, write: Write) -> None:
    write("items.csv", blind_items(("neut",)))
    write("human_scores.csv", HUMAN)
    gold = TASK.read_gold(tmp_path, OPTIONS)
    assert TASK.items_of(gold, OPTIONS) == TASK.read_items(tmp_path / "items.csv", OPTIONS)
    assert TASK.items_of(gold, OPTIONS).compounds == {("pt", "neut"): COMPOUNDS}


def test_gold_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidGold, match=r"human_scores\.csv or human_scores\.xlsx"):
        TASK.read_gold(tmp_path, OPTIONS)


def test_unknown_level_and_language_are_refused_as_options() -> None:
    with pytest.raises(InvalidOptions, match="a level is sent or nc"):
        read_options(TASK, {"levels": ["word"]})
    assert read_options(TASK, {"levels": "nc", "languages": "PT"}) == ProbingOptions(levels=("nc",), languages=("pt",))


# Pages


def test_report_draws_distributions_but_no_compound(write: Write) -> None:
    gold = TASK.read_gold(write("gold.csv", HUMAN), OPTIONS)
    prediction = TASK.read_prediction(write("p.csv", written(full_rows())), TASK.items_of(gold, OPTIONS), OPTIONS)
    assert TASK.report is not None
    report = TASK.report(gold, prediction, OPTIONS)
    text = json.dumps(report)
    assert not [compound for compound in COMPOUNDS if compound in text]
    split = report["splits"]["pt/neut/nc"]
    assert list(report["splits"]) == ["pt/neut/nc"]
    assert sum(split["probes"]["sim_syn"]["histogram"]["counts"]) == split["compounds"] == 12
    assert list(split["probes"]["sim_syn"]["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    assert report["ideals"] == {"sim_syn": 1.0, "affinity_syn_rand": 1.0, "simr_syn": 1.0}
    scores = by_name(TASK.score(gold, prediction, OPTIONS))
    assert split["measures"]["sim_syn"]["rho"]["value"] == scores["sim_syn_rho pt/neut/nc"].value


def test_report_leaves_out_classes_so_small_that_they_would_name_compounds(write: Write) -> None:
    gold = TASK.read_gold(write("gold.csv", HUMAN), OPTIONS)
    prediction = TASK.read_prediction(write("p.csv", written(full_rows())), TASK.items_of(gold, OPTIONS), OPTIONS)
    assert TASK.report is not None
    classes = TASK.report(gold, prediction, OPTIONS)["splits"]["pt/neut/nc"]["classes"]
    assert set(classes["idiomatic"]["affinity"]) == {"affinity_syn_wordssyn", "affinity_syn_rand"}
    assert classes["compositional"] == {"compounds": 1, "affinity": {}}
