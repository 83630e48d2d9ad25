"""What organisers and teams wrote in the demo's past."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, so many days before the first start; without an answer it is still open."""

    days: float
    username: str
    title: str
    text: str
    answer: str = ""
    is_public: bool = True


CORRECTION = (
    "Nine labels of the evaluation were wrong, three teams told us: names of places that had been taken for idioms. "
    "All submissions were rescored."
)
#: Days before the first start, title, text, whether it stays on top.
ANNOUNCEMENTS = (
    (
        37.5,
        "The evaluation is open",
        "The items are under **Data**, for all four tasks. Ten submissions per task per day; your latest one counts. "
        "Try your files on *Practice* first: there the gold is public.",
        False,
    ),
    (
        9.2,
        "Nine labels corrected, all submissions rescored",
        "Three teams told us about labels of *Idiom detection* that were wrong. The gold is corrected, every "
        "submission was scored against it, and the ranks moved a little. Thank you for looking closely!",
        True,
    ),
    (
        7.9,
        "The blind test begins",
        "Sentences that nobody has tuned on, for *Idiom identification*. Nobody sees a score before it ends, not even "
        "yours; your last submission counts.",
        False,
    ),
)
QUESTIONS = (
    Asked(
        29.1,
        "kitestring",
        "May we use other corpora?",
        "Are corpora with idioms allowed as training data for the one-shot setting?",
        "Yes, in every setting. Name them in your method card, under *Data used*.",
    ),
    Asked(
        21.6,
        "idiomatika",
        "Different tokens",
        "Our tokeniser splits *don't*. Can we send our own tokens for identification?",
        "No: the words of the blind file are what is scored. `evergold validate` tells you where yours differ.",
    ),
    Asked(
        10.4,
        "second-draft",
        "Item 41377 looks wrong",
        "*Green Light* is the name of a bar there, but our literal answer counts as an error. So do some others.",
        "You are right; we are going through them, and will score everything anew.",
    ),
    Asked(
        0.9,
        "magpie",
        "Two papers for one team?",
        "May we describe our two systems in two papers, or is it one paper per team?",
    ),
)
GUIDELINES = (
    "Read the sentence, then the paraphrase. Mark how well the meaning of the idiom and of the rest is kept, and how "
    "natural the paraphrase sounds. Do not judge whether you like it."
)
