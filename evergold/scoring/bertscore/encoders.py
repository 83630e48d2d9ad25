"""Turn texts into vectors, one per token: load a model, cut it at a layer, tokenise as bert-score does, encode.

torch and transformers are imported when the first model is loaded. `bertscore` compares the vectors.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from evergold.scoring.bertscore.models import BrokenModel, EncoderSettings, ModelFiles, Precision, find_model
from evergold.scoring.errors import InvalidOptions, Problem, ScoringError
from evergold.scoring.optional import load_package

Matrix = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]

EXTRA = "bertscore"
#: Number of models that stay loaded in a process.
MODELS_KEPT = 2
#: Hexadecimal digits of a sha256 that a signature shows.
DIGITS = 16

_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
#: Where the layers of an encoder are, by architecture.
_LAYER_LISTS = (("encoder", "layer"), ("transformer", "layer"))
#: Tokenisers for which upstream writes a space before the first word.
_WITH_PREFIX_SPACE = ("GPT2Tokenizer", "RobertaTokenizer")
_NO_LIMIT = 1_000_000


class OutOfDeviceMemory(ScoringError):
    """Not even one text at a time fits into the device's memory."""


@dataclass
class Encoder:
    """A loaded model, cut after its layer `layer`. fitting_budget: the token budget for which memory last sufficed."""

    name: str
    files: ModelFiles
    layer: int
    precision: Precision
    device: str
    model: Any
    tokenizer: Any
    max_tokens: int
    fitting_budget: int | None = None

    @property
    def width(self) -> int:
        """Length of a vector."""
        return int(self.model.config.hidden_size)

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids of the special tokens that are added before and after every text."""
        ids = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
        return tuple(int(id_) for id_ in ids if id_ is not None)


_encoders: OrderedDict[tuple[object, ...], Encoder] = OrderedDict()
_loading = Lock()


def load_encoder(name: str, layer: int, precision: Precision, settings: EncoderSettings) -> Encoder:
    """Load the encoder, or return the one already loaded.

    Raises ModelNotFound, BrokenModel, MissingPackage; InvalidOptions if the model has no such layer.
    """
    torch = load_package("torch", EXTRA)
    files = find_model(name, settings.models_dir)
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    key = (files, name, layer, precision, settings.device)
    with _loading:
        if key not in _encoders:
            _encoders[key] = _load(name, files, layer, precision, settings.device)
        _encoders.move_to_end(key)
        while len(_encoders) > MODELS_KEPT:
            _encoders.popitem(last=False)
        return _encoders[key]


def encoder_signature(encoder: Encoder) -> dict[str, object]:
    """Return everything about the encoder that can change a number, in order, for `task.signature`.

    The device is not part of it: float32 gives the same numbers everywhere, to about 1e-6.
    """
    versions = {name: _public_version(name) for name in ("torch", "transformers", "tokenizers")}
    return {
        "model": encoder.name,
        "weights": encoder.files.weights[:DIGITS],
        "config": encoder.files.config[:DIGITS],
        "tokenizer": encoder.files.tokenizer[:DIGITS],
        "layer": encoder.layer,
        "max_tokens": encoder.max_tokens,
        "tokenizer_class": type(encoder.tokenizer).__name__,
        "dtype": encoder.precision,
        "backend": "torch",
        **versions,
    }


def tokenise(encoder: Encoder, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of every text, at most `max_tokens` each, special tokens included; as upstream's
    `sent_encode`.

    A text of white space alone has the special tokens only.
    """
    tokenizer = encoder.tokenizer
    options: dict[str, Any] = {"add_special_tokens": True, "max_length": encoder.max_tokens, "truncation": True}
    if any(kind.__name__ in _WITH_PREFIX_SPACE for kind in type(tokenizer).__mro__):
        options["add_prefix_space"] = True
    stripped = (text.strip() for text in texts)
    return [
        list(tokenizer.encode(text, **options) if text else tokenizer.build_inputs_with_special_tokens([]))
        for text in stripped
    ]


def encode(
    encoder: Encoder,
    ids: Sequence[Sequence[int]],
    token_budget: int,
    advance: Callable[[int], None] = lambda tokens: None,
) -> Matrix:
    """Return the vectors of all tokens, text after text, each of length 1, float32.

    Texts are encoded longest first, in batches of at most `token_budget` tokens with padding; if a batch exceeds the
    device's memory, the budget is halved, for later calls too. advance: called with the number of tokens of each
    finished batch. Raises OutOfDeviceMemory.
    """
    lengths = np.array([len(tokens) for tokens in ids], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    vectors = np.empty((int(starts[-1]), encoder.width), dtype=np.float32)
    order, done = np.argsort(-lengths, kind="stable"), 0
    while done < len(order):
        budget = min(token_budget, encoder.fitting_budget or token_budget)
        batch = order[done : done + max(1, budget // int(lengths[order[done]]))]
        encoded = _try_to_encode(encoder, [ids[text] for text in batch])
        if encoded is None:
            if len(batch) == 1:
                raise OutOfDeviceMemory(f"{encoder.device} has too little memory for {encoder.name}, text by text")
            encoder.fitting_budget = min(budget, len(batch) * int(lengths[batch[0]])) // 2
            continue
        rows = np.concatenate([np.arange(starts[text], starts[text + 1]) for text in batch])
        vectors[rows] = encoded
        done += len(batch)
        advance(len(rows))
    return vectors


def _try_to_encode(encoder: Encoder, ids: Sequence[Sequence[int]]) -> Matrix | None:
    """Return the vectors of one batch, or None if it does not fit into the device's memory."""
    torch = load_package("torch", EXTRA)
    try:
        return _encode_batch(torch, encoder, ids)
    except (RuntimeError, MemoryError) as error:
        if not _is_out_of_memory(error):
            raise
    # Only now, when the exception no longer holds the tensors.
    if encoder.device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif encoder.device.startswith("mps"):
        torch.mps.empty_cache()
    return None


def _encode_batch(torch: Any, encoder: Encoder, ids: Sequence[Sequence[int]]) -> Matrix:
    longest = max(map(len, ids))
    padded = np.full((len(ids), longest), encoder.tokenizer.pad_token_id, dtype=np.int64)
    mask = np.zeros((len(ids), longest), dtype=np.int64)
    for row, tokens in enumerate(ids):
        padded[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    inputs, attention = (torch.from_numpy(array).to(encoder.device) for array in (padded, mask))
    with torch.inference_mode():
        hidden = encoder.model(inputs, attention_mask=attention)[0]
        tokens_only = hidden[attention.bool()].float()
        normalised: Matrix = (tokens_only / tokens_only.norm(dim=-1, keepdim=True)).cpu().numpy()
    return normalised


def _is_out_of_memory(error: BaseException) -> bool:
    """Recognise torch's class for CUDA, and the messages of CPU and MPS."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or any(words in str(error) for words in ("out of memory", "can't allocate memory"))
    )


def _load(name: str, files: ModelFiles, layer: int, precision: Precision, device: str) -> Encoder:
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported; a name must never lead to a download
    torch, transformers = load_package("torch", EXTRA), load_package("transformers", EXTRA)
    damaged = load_package("safetensors", EXTRA).SafetensorError
    transformers.utils.logging.set_verbosity_error()  # warnings about weights that BERTScore does not use are no news
    transformers.utils.logging.disable_progress_bar()
    folder = str(files.folder)
    try:
        # Upstream's default is the tokeniser in Python, and some models are split differently by the fast one.
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False, local_files_only=True)
        model = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError, damaged) as error:
        raise BrokenModel(f"{name}: the model cannot be loaded: {error}") from error
    _cut(model, name, layer)
    torch.set_float32_matmul_precision("highest")  # never TensorFloat-32, which has lower precision
    model = model.to(dtype=getattr(torch, _DTYPES[precision]), device=torch.device(device)).eval()
    return Encoder(name, files, layer, precision, device, model, tokenizer, max_tokens(tokenizer, model))


def _cut(model: Any, name: str, layer: int) -> None:
    """Remove the layers after `layer` (0: all of them), as upstream does."""
    for outer, inner in _LAYER_LISTS:
        layers = getattr(getattr(model, outer, None), inner, None)
        if layers is None:
            continue
        if layer > len(layers):
            message = f"option layer: {name} has {len(layers)} layers, not {layer}"
            raise InvalidOptions([Problem("bad-option", message)])
        setattr(getattr(model, outer), inner, layers[:layer])
        return
    raise BrokenModel(f"{name}: a {type(model).__name__} is not an encoder whose layers can be counted")


def max_tokens(tokenizer: Any, model: Any) -> int:
    """Return the maximum number of tokens: the tokeniser's limit, or the model's if the tokeniser has none.

    In the second case upstream fails on long texts.
    """
    limit = int(tokenizer.model_max_length)
    if limit <= _NO_LIMIT:
        return limit
    positions = int(model.config.max_position_embeddings)
    # RoBERTa counts positions from the padding id on.
    return positions - (model.config.pad_token_id + 1 if "roberta" in model.config.model_type else 0)


def _public_version(package: str) -> str:
    """Return a package's version without the part that names the build (`2.13.0+cpu`)."""
    return str(load_package(package, EXTRA).__version__).partition("+")[0]
