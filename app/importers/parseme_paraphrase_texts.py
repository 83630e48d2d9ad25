"""Texts of PARSEME's paraphrasing task: for its competition.yaml, and the guidelines for judging."""

from __future__ import annotations

COMMENT = """\
Subtask 2 of the PARSEME shared task 2.0, imported from the folder of its data. Edit it as you like;
docs/phases-yaml.md explains every key. `evergold check` and `evergold apply` afterwards.

The gold lies in the workers' gold folder, below parseme-2.0-paraphrase; where its line is a comment, it was not in the
folder. The phases have the months of the shared task, not its exact days: write your own. Scoring needs
`evergold[bertscore]` and the encoder on a worker, see docs/running.md.
Human judgement: `evergold judge start parseme-2-0-paraphrase/evaluation/mwe-paraphrase --guidelines guidelines.md`.
"""

TITLE = "PARSEME shared task 2.0: paraphrasing of multiword expressions"
SUMMARY = "Rewrite a sentence so that its multiword expression is gone and its meaning stays, in many languages."

DESCRIPTION = """\
*They took part in the festivities* becomes *they participated in the festivities*, or something livelier: systems
rewrite a sentence so that its multiword expression (MWE) is gone and its meaning stays. They are not told where it is.
This is subtask 2 of the PARSEME shared task 2.0, in {count}; subtask 1, identification, is a competition of
its own (`evergold import parseme --edition 2.0`).

The paraphrases that people wrote, a *creative* and a *minimal* one of each sentence, are the anchors of quality and of
diversity: the board in pictures has their entropies as lines, between which good systems lie.

**As published** (Scholivet et al., the paper on the corpus):

- Test set: 14 languages, 1,742 sentences, from 66 (Swedish) to 150 (Georgian); 726 verbal MWEs (VID), 863 nominal
  (NID), 153 adjectival (AdjID).
- References: 1,670 minimal and 1,618 creative paraphrases.
- Submissions: 5; the baseline alone in all 14 languages, the others in French, Georgian, Portuguese and Romanian.
- Automatic against manual score: Pearson 0.92, Spearman 0.90.
- Krippendorff's alpha of the annotators: 0.803 (Portuguese), 0.7599 (Romanian).
- Manual score: 0 if the MWE is still there, else (2 × sense of the MWE + sense of the rest + grammaticality) / 4, each
  from 0 to 3, on a scale from 0 to 100; the mean over sentences, then over languages.
- On Codabench: [12002](https://www.codabench.org/competitions/12002/), everlasting
  [13192](https://www.codabench.org/competitions/13192/).

The scores of single systems stand in the paper on the shared task (MWE 2026), and are not carried here.

Data: the PARSEME corpora of edition 2.0; licences differ from language to language. If you use the data, please cite
their authors and the shared task: Manon Scholivet et al. (2026): *Edition 2.0 of the PARSEME shared task on
multilingual identification and paraphrasing of multiword expressions*. In: Proceedings of MWE 2026.
"""

TASK = """\
Every item is a sentence (`raw_text`) with an MWE somewhere in it. Rewrite it without the MWE.

**Items**: a zip with `<LANG>/test.blind.json`, each a list of `source_sent_id` and `raw_text`. **Your file**: a zip
with `<LANG>/test.system.json` for every language that you take part in,

```json
[{"source_sent_id": "en-48213", "prediction": "They participated in the festivities."}]
```

A language that you enter covers all of its items, in any order.

**Scores**, per language: *BERTScore* is the larger F1 with the two references, 0 where the MWE is still there;
*Removed* is the share of items without it. *Entropy*, *Variety* and *Balance* tell how diverse the new words are.
*Macro* is the mean over all languages of the task, one that you leave out counting 0. Organisers may have paraphrases
judged by people, too; the boards then show what these say.
"""

BOARDS = {
    "quality": ("Quality", "Ranked by BERTScore, the mean over all languages; one that a team left out counts as 0."),
    "diversity": (
        "Diversity",
        "Ranked by the entropy of the new words, the mean over all languages. Read it with the quality.",
    ),
    "by-language": ("Quality, by language", "BERTScore in every language, and the mean over all of them."),
}

PHASES = {
    "practice": ("Practice (trial data)", "The trial data: try formats and systems as often as you like."),
    "evaluation": ("Evaluation", "The blind test data, as they were evaluated in the shared task."),
    "post-evaluation": ("Post-evaluation", "The same test data. This phase stays open, and its gold hidden."),
}

GUIDELINES = """\
# How to judge paraphrases

You see a sentence with its expression, and a paraphrase of it. Give three marks from 0 to 3, each by itself:

- **Sense of the expression**: is what the expression means said in other words? 3: exactly, 2: nearly, 1: a part of it,
  0: not at all, or something else.
- **Sense of the rest**: does everything else still mean the same? 3: all of it, 2: but for a nuance, 1: something is
  missing or added, 0: it is another statement.
- **Naturalness**: would somebody who grew up with the language say it so? 3: yes, 2: with a slip, 1: hardly, 0: no.

Where the expression is still there, nothing is asked: its score is 0.
"""
