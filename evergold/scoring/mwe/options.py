"""Options of the task type `mwe-identification`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from evergold.scoring.option_types import AveragedLanguages, Texts, without_macro
from evergold.scoring.task import Options as TaskOptions

LANGUAGES_WITH_GOLD = "languages-with-gold"


def _language(name: str) -> str:
    return without_macro((name.lower(),))[0]


def _category_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not name or any(character in name for character in ":;/ \t"):
            raise ValueError(f"{name!r} cannot be the name of a category")
    return names


Language = Annotated[str, Field(pattern=r"^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$", max_length=40), AfterValidator(_language)]


class Options(TaskOptions):
    """languages: the languages of the task, each with a folder in gold (None: all that gold has). language: the name in
    splits of the language of a single gold file (None: `all`). unseen_against: the files in gold's folders in which an
    MWE must not be annotated in order to be unseen. categories: those that a prediction may use (None: any). macro: how
    a language whose gold has no MWE of a category or view enters the mean: not at all, or as 0, see docs/tasks.md.
    rank_by: which F1 is the first column.
    """

    languages: AveragedLanguages | None = None
    language: Language | None = None
    unseen_against: Literal["train", "train+dev"] = "train+dev"
    categories: Annotated[Texts, AfterValidator(_category_names), Field(min_length=1)] | None = None
    macro: Literal["languages-with-gold", "all-languages"] = "languages-with-gold"
    rank_by: Literal["mwe", "token", "unseen"] = "mwe"

    @model_validator(mode="after")
    def _one_of_both(self) -> Options:
        if self.language is not None and self.languages is not None:
            raise ValueError("give languages for gold in folders, or language for a single gold file, not both")
        return self
