"""What people read about a PARSEME shared task: the words of its competition.yaml."""

from __future__ import annotations

COMMENT = """\
The PARSEME shared task {edition}, imported from the official folder of its data. Edit it as you like; docs/phases-yaml.md
explains every key. `evergold check` and `evergold apply` afterwards.

The gold lies in the workers' gold folder, below {files}. {dates}
"""

DATES = {
    "1.1": "The phases have the days of the call for participation.",
    "1.2": "The phases have the days of the call for participation.",
    "2.0": "The phases have the months in which the task took place,\nnot its exact days: put in your own.",
}

TITLES = {
    "1.1": "PARSEME shared task 1.1: automatic identification of verbal multiword expressions",
    "1.2": "PARSEME shared task 1.2: semi-supervised identification of verbal multiword expressions",
    "2.0": "PARSEME shared task 2.0: identification of multiword expressions",
}

SUMMARIES = {
    "1.1": "Find verbal multiword expressions in running text, and say of which category they are.",
    "1.2": "Find verbal multiword expressions in running text, above all those that were never seen in training.",
    "2.0": "Find multiword expressions of all syntactic types in running text; quality and diversity are measured.",
}

DESCRIPTION = """\
*To let the cat out of the bag*, *to take a decision*, *to give up*: multiword expressions (MWEs) are groups of words whose meaning or
form cannot be derived from their parts alone. Systems read a tokenised text and mark which tokens form an MWE, and of which
category. {ranking}

Data: the PARSEME corpora, edition {edition}, in {count}. Licences differ from language to language: see the `README.md` of
each one in the training data. If you use them, please cite the authors named there and the shared task's paper:
{paper}
"""

PAPERS = {
    "1.1": "Carlos Ramisch et al. (2018): *Edition 1.1 of the PARSEME Shared Task on Automatic Identification of Verbal\n"
    "Multiword Expressions*. In: Proceedings of LAW-MWE-CxG-2018.",
    "1.2": "Carlos Ramisch et al. (2020): *Edition 1.2 of the PARSEME Shared Task on Semi-supervised Identification of Verbal\n"
    "Multiword Expressions*. In: Proceedings of MWE-LEX 2020.",
    "2.0": "Manon Scholivet et al. (2026): *Edition 2.0 of the PARSEME shared task on multilingual identification and\n"
    "paraphrasing of multiword expressions*. In: Proceedings of MWE 2026.",
}

RANKINGS = {
    "1.1": "The ranking is by the global MWE-based F1, macro-averaged over languages.",
    "1.2": "The ranking is by the MWE-based F1 of *unseen* MWEs, macro-averaged over languages.",
    "2.0": "The rankings are by the global MWE-based and token-based F1, macro-averaged over languages.",
}

TASK = """\
Mark the MWEs in the column `PARSEME:MWE` of the blind files: `*` for a token in no MWE, `1:VID` on the first token of a sentence's
first MWE and `1` on its further tokens, `1;2` on a token of two.

**Your file**: a zip with `<LANG>/test.system.cupt` for every language that you take part in, also in the practice phase. Sentences
and tokens (`ID`, `FORM`) are those of the blind file; lemmas and all other columns are taken from gold, so they may differ.

**Scores**, per language: *MWE-based* precision, recall and F1 count MWEs whose tokens are exactly right, *token-based* ones the tokens
that gold and predicted MWEs share. An MWE is *unseen* when its lemmas were never annotated together in {seen}. *Macro* is the mean of
precision and of recall over all {count}, one that you leave out counting 0; F1 is computed from these two means.{diversity}
"""

DIVERSITY = """
*Diversity* is that of the correctly found MWEs: richness is the number of different ones, entropy and evenness say how evenly they
are distributed."""

SEEN = {"train": "the training data", "train+dev": "the training and development data"}

PRACTICE = """\
The development data with their public gold: try formats and systems as often as you like. Send each language's file as
`<LANG>/test.system.cupt` here, too. Unseen means: never annotated in the training data.
"""
EVALUATION = "The blind test data, as they were evaluated in the shared task."
POST_EVALUATION = "The blind test data of the shared task: the phase stays open, and the gold stays hidden."

OVERALL = "Macro-averages over {count}; a language that a team left out counts 0."
BY_LANGUAGE = "F1 of every language, and the macro-average over all {count}."

PAPER_TABLE = "Ramisch et al. 2020, MWE-LEX 2020, table {table}"
