"""The invented teams of the demo's past: who they are, how good, what they enter and say of their systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Letters of the tasks in `HistoryTeam.enters`: the boards of one-shot alone are entered with `o`.
DETECTION, SIMILARITY, IDENTIFICATION, BLIND, ONE_SHOT_ALONE = "dsibo"


@dataclass(frozen=True, slots=True)
class HistoryTeam:
    """level: 0 guesses, 1 knows nearly all; runs: how many per task; enters: letters of tasks; since: days before."""

    username: str
    name: str
    level: float
    runs: int
    enters: str
    since: float
    method: str
    data: str = ""
    has_paper: bool = False
    has_code: bool = False
    summary: str = ""

    @property
    def card(self) -> dict[str, Any]:
        """The method card, as an upload carries it."""
        parts = {
            "method": self.method,
            "summary": self.summary,
            "data": self.data,
            "paper": f"https://papers.example.org/{self.username}.pdf" if self.has_paper else "",
            "code": f"https://code.example.org/{self.username}" if self.has_code else "",
        }
        return {name: text for name, text in parts.items() if text}


_ENSEMBLE = "Five encoders, trained with other seeds; the mean of their probabilities decides."
_PROMPT = "Asked for a gloss first and for the label afterwards; answers were read by a regular expression."

TEAMS = (
    HistoryTeam(
        "northwind",
        "North Wind",
        0.97,
        5,
        "dsib",
        34,
        "Ensemble of five encoders",
        "Task data, MAGPIE",
        True,
        True,
        _ENSEMBLE,
    ),
    HistoryTeam("kitestring", "Kite String", 0.94, 5, "dsib", 33, "Contrastive encoder", "Task data", True, True),
    HistoryTeam(
        "idiomlab-jp",
        "慣用句ラボ",
        0.48,
        4,
        "dsi",
        31,
        "Gloss, then label",
        "Task data, dictionaries",
        True,
        summary=_PROMPT,
    ),
    HistoryTeam(
        "tbilisi-words", "თბილისის სიტყვები", 0.9, 4, "dib", 30, "Adapters for each language", "Task data", False, True
    ),
    HistoryTeam(
        "copper-kettle",
        "Copper Kettle",
        0.88,
        4,
        "ds",
        32,
        "Prompted model, 24 examples",
        "None",
        True,
        summary=_PROMPT,
    ),
    HistoryTeam("mahaz", "فريق المجاز", 0.86, 4, "di", 28, "Encoder with context windows", "Task data", True),
    HistoryTeam(
        "second-draft", "Second Draft", 0.85, 6, "dsb", 35, "Encoder, then calibration", "Task data", True, True
    ),
    HistoryTeam("nivim", "צוות ניבים", 0.83, 3, "ds", 27, "Sense vectors", "Task data, Wiktionary"),
    HistoryTeam("idiomatika", "Ιδιωματικά", 0.82, 3, "di", 26, "Conditional random field", "Task data", False, True),
    HistoryTeam("blue-margin", "Blue Margin", 0.8, 4, "dsi", 29, "Cross-encoder", "Task data", True),
    HistoryTeam("three-lanterns", "Three Lanterns", 0.78, 3, "d", 25, "Multilingual encoder", "Task data"),
    HistoryTeam("zorzal", "Zorzal", 0.77, 5, "dsb", 34, "Encoder and lexicon", "Task data, own lexicon", True, True),
    HistoryTeam("papel-mollado", "Papel Mollado", 0.76, 4, "dsi", 33, "Transfer from Portuguese", "Task data", True),
    HistoryTeam("granite", "Granite", 0.74, 3, "d", 24, "Frozen encoder, linear layer", "Task data", False, True),
    HistoryTeam("quiet-corner", "Quiet Corner", 0.72, 3, "ds", 22, "Sentence vectors, ridge", "Task data"),
    HistoryTeam("paper-boat", "Paper Boat", 0.7, 3, "dib", 23, "Sequence labelling", "Task data"),
    HistoryTeam("the-understudies", "The Understudies", 0.69, 4, "ds", 30, "Distilled encoder", "Task data", True),
    HistoryTeam("brume", "Brume", 0.66, 3, "d", 20, "Adversarial training", "Task data"),
    HistoryTeam("moss-and-stone", "Moss & Stone", 0.64, 2, "ds", 19, "Character model", "Task data", False, True),
    HistoryTeam("left-margin", "Left Margin", 0.62, 3, "di", 27, "Bigrams and a dictionary", "Task data"),
    HistoryTeam("oxbow", "Oxbow", 0.6, 3, "dsb", 21, "Gradient-boosted cues", "Task data", False, True),
    HistoryTeam("fado-e-ferro", "Fado e Ferro", 0.58, 3, "do", 18, "Nearest labelled example", "Task data"),
    HistoryTeam("grey-heron", "Grey Heron", 0.55, 2, "d", 17, "Word vectors", "Task data"),
    HistoryTeam("sundial", "Sundial", 0.52, 3, "ds", 16, "tf-idf and a threshold", "Task data"),
    HistoryTeam("late-bloomers", "Late Bloomers", 0.5, 2, "di", 9, "Logistic regression", "Task data"),
    HistoryTeam("attic-window", "Attic Window", 0.45, 2, "d", 14, "Frequency of the expression", "None"),
    HistoryTeam("harbour-bells", "Harbour Bells", 0.4, 2, "so", 13, "Shared characters", "None"),
    HistoryTeam("two-left-shoes", "Two Left Shoes", 0.35, 2, "d", 12, "Rules", "None", False, True),
    HistoryTeam("open-question", "Open Question", 0.25, 1, "d", 8, "A coin with a bias", "None"),
    HistoryTeam("mirror-image", "Mirror Image", 0.99, 2, "d", 11, "Encoder", "Task data"),
)
#: A team of the demo proper, whose printed log-in shows a past: its last file is its real one.
OWN = HistoryTeam("magpie", "Magpie", 0.62, 4, "dsi", 24, "Naive Bayes, an early version")
RENAMED = ("blue-margin", "Red Margin")
UNRANKED = ("papel-mollado", "A member helped to write the Galician items; shown outside the ranking.")
DISQUALIFIED = ("mirror-image", "Submitted from two accounts to get around the daily limit.")
ANNOTATORS = {"en": ("ada-reads", "ben-reads"), "pt": ("clara-le", "davi-le")}
