"""Texts of SemEval-2022 Task 2 for its competition.yaml."""

from __future__ import annotations

COMMENT = """\
SemEval-2022 Task 2, imported from a checkout of the official data repository. Edit it as you like;
docs/phases-yaml.md explains every key. `evergold check` and `evergold apply` afterwards.

When you have the gold of a phase: put the file into the workers' gold folder under the name that stands in
the comment `# gold: …` below, take the comment sign away, and apply again. Until then the phase refuses
submissions. The test phase has ended; post-evaluation goes on with its gold.
"""

TITLE = "SemEval-2022 Task 2: Multilingual Idiomaticity Detection and Sentence Embedding"
SUMMARY = (
    "Detect idiomatic uses of potentially idiomatic expressions, and represent them in sentence embeddings, "
    "in English, Portuguese and Galician."
)
WEBSITE = "https://sites.google.com/view/semeval2022task2-idiomaticity"

DESCRIPTION = """\
A *swan song* is rarely sung by a swan. SemEval-2022 Task 2 asked for systems that tell idiomatic from literal
uses of such noun compounds, and that represent sentences with them as what they mean, in English, Portuguese
and Galician.

- **Subtask A** is a classification: is the expression idiomatic in this context? Settings `zero_shot` and
  `one_shot`.
- **Subtask B** is about sentence embeddings: how similar are two sentences? Settings `pre_train` and
  `fine_tune`.

The shared task itself ran in January 2022. Its official results stand on the boards of the test phase as
historic rows, as published, and beside new systems on those of the post-evaluation, which are scored against
the same gold, for ever.

Data: H-TayyarMadabushi/SemEval_2022_Task2-idiomaticity (GPL-3.0). If you use it, please cite Harish Tayyar
Madabushi, Edward Gow-Smith, Marcos Garcia, Carolina Scarton, Marco Idiart and Aline Villavicencio:
*SemEval-2022 Task 2: Multilingual Idiomaticity Detection and Sentence Embedding*. In: Proceedings of
SemEval-2022.
"""

DETECTION = """\
Is the expression (`MWE`) in the sentence `Target` used idiomatically? `Previous` and `Next` are its context.

Label `0` is idiomatic, `1` is not idiomatic, which includes proper names. In the setting `zero_shot` a system
has seen no labelled example of the expression; in `one_shot` it may use those of `train_one_shot.csv`.

**Your file**: CSV with the columns `ID,Language,Setting,Label`, alone or as the only file in a zip. Each item
appears once per setting. A setting that you do not enter has no labels, or no rows; one that you enter covers
all languages.

**Score**: macro F1 over the two labels, per setting and language; `All` pools the items of all languages and
ranks.
"""

SIMILARITY = """\
How similar are `sentence1` and `sentence2`? Replacing an idiom by its right paraphrase should give similarity
1; replacing it by a wrong one should give the similarity that your system itself finds between the right and
the wrong paraphrase. Pairs without idioms (STS) make sure that systems still do the ordinary task.

In the setting `pre_train` a system was never trained on similarities of sentences with idioms; in `fine_tune`
it may be.

**Your file**: CSV with the columns `ID,Language,Setting,Sim`, alone or as the only file in a zip. Each item
appears once per setting. A setting that you do not enter has no values, or no rows; one that you enter covers
all languages.

**Score**: Spearman's rank correlation with the targets, over all pairs (which ranks), those with idioms, and
STS pairs.
"""

PHASES = {
    "practice": (
        "Practice (development set)",
        "The development set with its public gold: try formats and systems as often as you like.",
    ),
    "eval": (
        "Evaluation set",
        "The blind evaluation set of the months before the test: its gold stays with the organisers.",
    ),
    "test": (
        "Evaluation (test set)",
        "The blind test set of the shared task, in January 2022: at most ten submissions, of which the last valid one "
        "counted, and a board that was hidden until the end. The board shows the official results as published ones.",
    ),
    "post-evaluation": (
        "Post-evaluation (test set)",
        "The same test set, for ever: the board begins with the results of the evaluation, and shows every new one at "
        "once.",
    ),
}

PAPER = "Tayyar Madabushi et al. 2022, SemEval-2022 Task 2, tables 5 to 8"
LISTS = "SemEval-2022 Task 2, official results (CodaLab, January 2022), best submission of each participant"
UNRANKED = "; listed there without a rank"
