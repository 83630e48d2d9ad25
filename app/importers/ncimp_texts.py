"""Texts of NCIMP for its competition.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

COMMENT = """\
NCIMP, imported from the authors' repository. Yours to edit; docs/phases-yaml.md explains every key. A board's first
column ranks it.
"""

LACKING = """\

Not in this folder, so that there are no boards of it: {lacking}.
"""

PAPER = "He et al. (2025), as printed"

DESCRIPTION = """\
A *wet blanket* is a spoilsport, a *police car* a car of the police. Do a model's vectors of noun compounds know the
difference? Each compound stands in sentences, naturalistic ones (*nat*, three for each compound) or a neutral one
(*neut*, "This is a …"), and is replaced by probes: a synonym of the whole, its head or its modifier alone, a synonym of
each word, five random compounds of like frequency. What a representation keeps of the meaning shows in how similar the
original and the probed text are to it, for the sentence (`sent`) and for the compound in it (`nc`).

**Licence**: the data are those of the repository risehnhew/Finding-Idiomaticity-in-Word-Representations, and belong to
its authors: see there. If you use them, please cite Wei He et al. (2025): *Investigating Idiomaticity in Word
Representations*. In: Computational Linguistics.
"""

TASK = """\
How similar are the original and every probe of it, to your model? Any model that gives vectors can be asked;
`evergold probe --model MODEL --items items.csv --into mine.npz` asks one of Hugging Face, or word vectors, on your own
machine, and writes a file that is valid here.

**Items** (`items.csv`): `language,context,compound,probe,sentence,nc`; `nc` marks the words of the compound. **Your
file**: CSV with the cosines,

```csv
language,context,compound,probe,level,sim
en,neut,acid test,syn,sent,0.9134
```

each probe at both levels (`template.csv` is ready to be filled in), or the vectors themselves: `.npz` or `.safetensors`
with a tensor `<language>/<setting>/<level>` such as `en/neut/sent`, one row for each row of the items of that language
and setting. A language, setting and level may be left out.

**Score**: similarities (`sim_…`), affinities (is the synonym nearer than a random compound? 1 is ideal) and scaled
similarities, each the mean over compounds, and its rank correlation (`…_rho`) with how compositional people find them.
"""

_SETTINGS = {"nat": "naturalistic sentences", "neut": "the neutral sentence"}
_LANGUAGES = {"en": "English", "pt": "Portuguese"}


def lacking(parts: Iterable[tuple[str, str]], languages: Sequence[str]) -> list[str]:
    """Describe what a folder with these (language, setting) lacks."""
    have = set(parts)
    return [
        f"{_LANGUAGES[language]}, {title}"
        for language in languages
        for setting, title in _SETTINGS.items()
        if (language, setting) not in have
    ]


def comment(parts: Iterable[tuple[str, str]], languages: Sequence[str]) -> str:
    """Return the comment at the head of competition.yaml, with what the folder lacks.

    parts: its (language, setting).
    """
    missing = lacking(parts, languages)
    return COMMENT + (LACKING.format(lacking="; ".join(missing)) if missing else "")
