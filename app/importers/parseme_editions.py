"""Differences between editions of PARSEME's shared task: ranking, definition of unseen, categories, dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evergold.scoring.mwe import MWE_BASED, TOKEN_BASED


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking by the macro F1 of one view. `short` is for headings; `view` None means global."""

    name: str
    title: str
    short: str
    basis: str
    view: str | None = None

    def split(self, root: str) -> str:
        """Return the split of this view for a language or `macro`."""
        return f"{root}/{self.view}" if self.view else root


GLOBAL = Ranking("mwe-based", "Global, MWE-based", "MWE", MWE_BASED)
TOKENS = Ranking("token-based", "Global, token-based", "Token", TOKEN_BASED)
UNSEEN = Ranking("unseen", "Unseen, MWE-based", "Unseen", MWE_BASED, "unseen")


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition.

    - rankings: the first one is the official ranking.
    - categories: those of its guidelines, allowed in addition to those in the data.
    - data_given: release of the training data.
    - evaluation: from the release of the blind test data to the deadline.
    """

    version: str
    unseen_against: Literal["train", "train+dev"]
    rank_by: Literal["mwe", "unseen"]
    rankings: Sequence[Ranking]
    categories: Sequence[str]
    data_given: str
    evaluation: tuple[str, str]
    website: str
    diversity: bool = False

    @property
    def name(self) -> str:
        """Name of the competition, for addresses, without dots."""
        return f"parseme-{self.version.replace('.', '-')}"

    @property
    def files(self) -> str:
        """Name of its gold folder, and prefix of its files."""
        return f"parseme-{self.version}"


_VERBAL = ("IAV", "IRV", "LS.ICV", "LVC.cause", "LVC.full", "MVC", "VID", "VPC.full", "VPC.semi")
# Since 2.0 verb-particle constructions are IVPC; AV. and NV. are adverbial and nominal uses of verbal MWEs.
_VERBAL_2 = ("IAV", "IRV", "IVPC.full", "IVPC.semi", "LVC.cause", "LVC.full", "MVC", "VID")
_OTHERS_2 = ("AdjID", "AdpID", "AdvID", "ConjID", "DetID", "IntjID", "NID", "PronID")
_DERIVED_2 = tuple(f"{kind}.{category}" for kind in ("AV", "NV") for category in _VERBAL_2)

EDITIONS = {
    edition.version: edition
    for edition in (
        Edition(
            version="1.1",
            unseen_against="train",
            rank_by="mwe",
            rankings=(GLOBAL,),
            categories=_VERBAL,
            data_given="2018-04-04 00:00 UTC",
            evaluation=("2018-04-30 00:00 UTC", "2018-05-05 00:00 AoE"),
            website="http://multiword.sourceforge.net/sharedtask2018",
        ),
        Edition(
            version="1.2",
            unseen_against="train+dev",
            rank_by="unseen",
            rankings=(UNSEEN,),
            categories=_VERBAL,
            data_given="2020-03-23 00:00 UTC",
            evaluation=("2020-07-01 00:00 UTC", "2020-07-04 00:00 AoE"),
            website="http://multiword.sourceforge.net/sharedtask2020",
        ),
        Edition(
            version="2.0",
            unseen_against="train+dev",
            rank_by="mwe",
            rankings=(GLOBAL, TOKENS),
            categories=tuple(sorted(_VERBAL_2 + _OTHERS_2 + _DERIVED_2)),
            data_given="2025-09-30 00:00 UTC",
            evaluation=("2025-12-01 00:00 UTC", "2026-02-01 00:00 AoE"),
            website="https://unidive.lisn.upsaclay.fr/doku.php?id=other-events:parseme-st",
            diversity=True,
        ),
    )
}
