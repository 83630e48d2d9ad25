"""Options of the task type `mwe-paraphrase`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from evergold.scoring.bertscore.models import LAYERS, Precision, model_name
from evergold.scoring.bertscore.scores import Compatibility
from evergold.scoring.errors import quoted
from evergold.scoring.option_types import USUAL_CHARACTERS, AveragedLanguages, MaxCharacters, Texts
from evergold.scoring.task import Options as TaskOptions


def _types(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not name.isalnum():
            raise ValueError(f"{quoted(name)} cannot be the name of a type: letters and digits")
    return names


Baseline = Annotated[float, Field(gt=-1, lt=1)]


class Options(TaskOptions):
    """languages: the languages of the task, each with a folder in gold (None: all that gold has). language: the name in
    splits of the language of a single gold file (None: `all`). types: the allowed values of MWE_type. model, layer: the
    encoder and the layer of its vectors (None: as bert-score recommends for the model). precision: of the encoder;
    anything but fp32 moves numbers. idf: whether rare tokens weigh more. baseline: the F1 of unrelated sentences, one
    for all languages or one for each, used for rescaling. compatibility: `upstream-64` to reproduce what bert-score
    prints by default.
    implementation: `reference` for the package bert-score itself, whose batches and precision cannot be changed.
    max_characters: how long a paraphrase may be; encoders read the first few hundred words only.
    """

    languages: AveragedLanguages | None = None
    language: Annotated[str, Field(pattern=r"^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$", max_length=40)] | None = None
    types: Annotated[Texts, AfterValidator(_types), Field(min_length=1)] = ("VID", "NID", "AdjID")
    model: Annotated[str, AfterValidator(model_name)] = "bert-base-multilingual-cased"
    layer: Annotated[int, Field(ge=0, le=100)] | None = None
    precision: Precision = "fp32"
    idf: bool = False
    baseline: Baseline | dict[str, Baseline] | None = None
    compatibility: Compatibility = "batch-independent"
    implementation: Literal["evergold", "reference"] = "evergold"
    max_characters: MaxCharacters = USUAL_CHARACTERS

    @model_validator(mode="after")
    def _complete(self) -> Options:
        if self.language is not None and self.languages is not None:
            raise ValueError("give languages for gold in folders, or language for a single gold file, not both")
        if self.layer is None and self.model not in LAYERS:
            raise ValueError(f"give layer: for {self.model} none is recommended")
        if self.implementation == "reference" and self.precision != "fp32":
            raise ValueError("with implementation: reference, precision is fp32: bert-score knows no other")
        return self

    @property
    def used_compatibility(self) -> Compatibility:
        """The `compatibility` that applies: always `upstream-64` for bert-score itself, whose batches cannot be
        changed.
        """
        return "upstream-64" if self.implementation == "reference" else self.compatibility

    @property
    def used_layer(self) -> int:
        """The layer that the options name, or else the one recommended for the model."""
        return LAYERS[self.model] if self.layer is None else self.layer

    def baseline_of(self, language: str) -> float | None:
        """Return the rescaling baseline of this language; raises KeyError if only other languages have one."""
        return self.baseline[language] if isinstance(self.baseline, dict) else self.baseline
