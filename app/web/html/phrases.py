"""Right-to-left phrases within our sentences, isolated so that the text around them keeps its order."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

#: Letters of Hebrew, Arabic (Persian, Urdu), Syriac, Thaana, N'Ko and related scripts.
_LETTER = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
#: From the first to the last such letter of a phrase, with everything in between.
_PHRASE = re.compile(rf"{_LETTER}(?:[^\S\n]*[\w\u200c\u200d'\u2019.-]*[^\S\n]*{_LETTER})*")


def isolated(text: str) -> Markup:
    """Return the sentence, escaped, with each right-to-left phrase in a <bdi>."""
    parts, end = [], 0
    for found in _PHRASE.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<bdi>{}</bdi>").format(found[0])]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])
