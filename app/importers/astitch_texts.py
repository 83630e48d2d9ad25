"""Texts of the AStitchInLanguageModels competition for its competition.yaml."""

from __future__ import annotations

COMMENT = """\
AStitchInLanguageModels, imported from the authors' repository. Edit it as you like; docs/phases-yaml.md explains every
key. Historic rows are the figures of the paper's tables 4 to 9, 12 and 13; baselines learn from the dev data alone.
"""

DESCRIPTION = """\
Is a *big fish* an animal or an important person? This dataset asks pre-trained language models about potentially
idiomatic expressions in English and Portuguese, each language by itself:

- **Task 1, coarse**: is the expression idiomatic in this sentence? **Task 1, fine**: which of several meanings does it
  have there? Settings `zero_shot` (no labelled example of the expression was seen in training), `one_shot` (one of each
  kind) and `few_shot` (several).
- **Task 2**: do sentence embeddings represent it? Settings `pre_train` (never trained on similarities of sentences with
  idioms) and `fine_tune` (it may be).

**Splits**: *dev* and *test* have no expression in common. Labels of both are published by the authors: these boards
compare systems, and crown nobody. All ids were given at the import, and follow the rows of the authors' files.

**Licence**: the data are those of the repository H-TayyarMadabushi/AStitchInLanguageModels (GPL-3.0). If you use them,
please cite Harish Tayyar Madabushi, Edward Gow-Smith, Carolina Scarton and Aline Villavicencio (2021):
*AStitchInLanguageModels: Dataset and Methods for the Exploration of Idiomaticity in Pre-Trained Language Models*. In:
Findings of EMNLP 2021.
"""

_SETTINGS = """\
A setting that you do not enter has no values, or no rows. `template.csv` is such a file, ready to be filled in.
"""

TASKS = {
    "coarse": f"""\
Is the expression `MWE` used idiomatically in `Sentence`? Label `0` is idiomatic, `1` is not.

**Items** (`items.csv`): `ID,Language,MWE,Sentence`. **Your file**: CSV, each item once in each setting that you enter:

```csv
ID,Language,Setting,Label
test.EN.0,EN,zero_shot,1
```

{_SETTINGS}
**Score**: macro F1 over the two labels; accuracy beside it.
""",
    "fine": f"""\
Does `Meaning` fit the expression `MWE` in `Sentence`? The meanings of a sentence share a `SentenceID`; besides
paraphrases there are `Proper Noun` and `Meta Usage`.

**Items** (`items.csv`): `ID,Language,SentenceID,MWE,Sentence,Meaning`. **Your file**: CSV, label `1` fits, `0` does
not; a column `Score` (any number, higher fits better) may say which meaning fits best:

```csv
ID,Language,Setting,Label
test.EN.0,EN,zero_shot,1
```

{_SETTINGS}
**Score**: macro F1 over the pairs' labels; accuracy, and the share of sentences whose meaning was found, beside it.
""",
    "similarity": f"""\
How similar are `sentence1` and `sentence2`? With its right paraphrase in the place of the idiom they mean the same (1);
with a wrong one, the similarity should be that of the right and the wrong paraphrase, which your system says itself.
Pairs without idioms (STS) make sure that systems still do the ordinary task.

**Items** (`items.csv`): `ID,Language,MWE,sentence1,sentence2`. **Your file**: CSV, `Sim` any number, usually 0 to 1:

```csv
ID,Language,Setting,Sim
test.EN.0,EN,pre_train,0.83
```

{_SETTINGS}
**Score**: Spearman's rank correlation with the targets, over all pairs (which ranks), those with idioms, and STS pairs.
""",
}

PHASES = {
    "dev": (
        "Development data",
        "The dev split, for choosing and tuning: its labels are in the authors' repository.",
    ),
    "test": ("Test data", "The test split, on which the paper's systems are compared; it stays open."),
}
