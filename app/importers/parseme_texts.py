"""Texts of a PARSEME shared task for its competition.yaml."""

from __future__ import annotations

COMMENT = """\
The PARSEME shared task {edition}, imported from the official folder of its data. Edit it as you like;
docs/phases-yaml.md explains every key. `evergold check` and `evergold apply` afterwards.

The gold lies in the workers' gold folder, below {files}. {dates}
"""

DATES = {
    "1.1": "The phases have the days of the shared task.",
    "1.2": "The phases have the days of the shared task.",
    "2.0": (
        "Practice begins with the day on\n"
        "which training data were given out; the evaluation has the months of the shared task, not its exact days:\n"
        "write your own."
    ),
}

WITHOUT_TRAINING = """
Without training data, so that nothing is seen or unseen in it, and it stays out of these means: {languages}.
"""

TITLES = {
    "1.1": "PARSEME shared task 1.1: automatic identification of verbal multiword expressions",
    "1.2": "PARSEME shared task 1.2: semi-supervised identification of verbal multiword expressions",
    "2.0": "PARSEME shared task 2.0: identification of multiword expressions",
}

SUMMARIES = {
    "1.1": "Find verbal multiword expressions in running text, and name their category.",
    "1.2": "Find verbal multiword expressions in running text, above all those that were never seen in training.",
    "2.0": "Find multiword expressions of all syntactic types in running text, correctly and in all their diversity.",
}

DESCRIPTION = """\
*To let the cat out of the bag*, *to take a decision*, *to give up*: multiword expressions (MWEs) are groups of words
that mean, or behave, other than their parts do. Systems read tokenised text and mark which tokens form an MWE{what},
and of which category it is. {ranking}

Data: the PARSEME corpora of edition {edition}, in {count}. Licences differ from language to language: see the
`README.md` of each one. If you use the data, please cite their authors and the shared task:
{paper}
"""

WHAT = {"1.1": " with a verb", "1.2": " with a verb", "2.0": " of any syntactic type"}

RANKINGS = {
    "1.1": "Ranked is the global MWE-based F1, macro-averaged over languages.",
    "1.2": "Ranked is the MWE-based F1 of *unseen* MWEs, macro-averaged over languages.",
    "2.0": "Ranked are the global MWE-based and token-based F1, macro-averaged over languages.",
}

PAPERS = {
    "1.1": (
        "Carlos Ramisch et al. (2018): *Edition 1.1 of the PARSEME Shared Task on Automatic Identification of Verbal\n"
        "Multiword Expressions*. In: Proceedings of LAW-MWE-CxG-2018."
    ),
    "1.2": (
        "Carlos Ramisch et al. (2020): *Edition 1.2 of the PARSEME Shared Task on Semi-supervised Identification of\n"
        "Verbal Multiword Expressions*. In: Proceedings of MWE-LEX 2020."
    ),
    "2.0": (
        "Manon Scholivet et al. (2026): *Edition 2.0 of the PARSEME shared task on multilingual identification and\n"
        "paraphrasing of multiword expressions*. In: Proceedings of MWE 2026."
    ),
}

TASK = """\
Mark the MWEs in the column `PARSEME:MWE` of the blind files: `*` on a token in no MWE, `1:VID` on the first token of a
sentence's first MWE and `1` on its other tokens, `1;2` on a token of two.

**Your file**: a zip with `<LANG>/test.system.cupt` for every language that you take part in, in every phase. Sentences
and tokens (`ID`, `FORM`) are those of the blind file. Lemmas and all other columns are taken from gold; yours may
differ.

**Scores**, per language: *MWE-based* precision, recall and F1 count MWEs whose tokens are exactly right; *token-based*
ones count the tokens that gold and predicted MWEs share. An MWE is *unseen* when its lemmas were never annotated
together in {seen}.
*Macro* is the mean of precision and that of recall over all languages of the task, one that you leave out counting 0;
its F1 is computed from these two means.{diversity}
"""

SEEN = {"train": "the training data", "train+dev": "the training and development data"}

DIVERSITY = """
*Diversity* is that of the correctly found MWEs: richness is how many different ones there are, entropy and evenness say
how evenly they are distributed."""

PRACTICE = """\
The development data, with their public gold: try formats and systems as often as you like. Call each language's file
`<LANG>/test.system.cupt` here, too. Unseen means: never annotated in the training data.
"""
EVALUATION = "The blind test data, as they were evaluated in the shared task."
POST_EVALUATION = "The blind test data of the shared task. This phase stays open, and its gold hidden."

OVERALL = "Macro-averages over all languages of the task ({count}); one that a team left out counts as 0."
BY_LANGUAGE = "F1 of every language, and the macro-average over all of them ({count})."

LANGUAGES_OF = "the edition's {count} languages"
NO_MEANS = (
    "This board has no published results: those of edition {edition} are means over {own}, while this competition has "
    "{here}, and means over other languages do not compare."
)
NO_LANGUAGE = (
    "This board has no published results: of edition {edition} they are for {printed} and the means over {own}, while "
    "this competition has {here}."
)

#: Title and permitted resources of each track, by name.
TRACKS = {
    "closed": ("Closed", "Nothing but the data provided in the shared task."),
    "open": ("Open", "Also other resources: lexicons, other corpora, embeddings, pre-trained models."),
}

HISTORIC = {
    "unseen": "Ramisch et al. 2020, MWE-LEX 2020, table 5",
    "unseen-closed": "Ramisch et al. 2020, MWE-LEX 2020, table 5",
    "unseen-open": "Ramisch et al. 2020, MWE-LEX 2020, table 5",
    "unseen-by-language": (
        "Ramisch et al. 2020, MWE-LEX 2020, tables 5 (macro) and 6; SHOMA was scored on the test data of edition 1.1"
    ),
    "mwe-based": "Karatepe et al. 2026, MWE 2026, abstract",
}
