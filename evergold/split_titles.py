"""Names of splits for people, as pages and commands show them: `zero-shot · Portuguese`."""

from __future__ import annotations

_NAMES = """
af Afrikaans; am Amharic; ar Arabic; az Azerbaijani; be Belarusian; bg Bulgarian; bn Bengali; br Breton; bs Bosnian;
ca Catalan; cs Czech; cy Welsh; da Danish; de German; el Greek; en English; eo Esperanto; es Spanish; et Estonian;
eu Basque; fa Persian; fi Finnish; fo Faroese; fr French; fy Frisian; ga Irish; gd Scottish Gaelic; gl Galician;
grc Ancient Greek; gu Gujarati; ha Hausa; he Hebrew; hi Hindi; hr Croatian; ht Haitian Creole; hu Hungarian;
hy Armenian; id Indonesian; ig Igbo; is Icelandic; it Italian; ja Japanese; ka Georgian; kk Kazakh; ko Korean;
ku Kurdish; ky Kyrgyz; la Latin; lb Luxembourgish; lt Lithuanian; lv Latvian; mk Macedonian; ml Malayalam; mn Mongolian;
mr Marathi; mt Maltese; nb Norwegian Bokmål; ne Nepali; nl Dutch; nn Norwegian Nynorsk; no Norwegian; oc Occitan;
pa Punjabi; pl Polish; ps Pashto; pt Portuguese; ro Romanian; ru Russian; sa Sanskrit; sk Slovak; sl Slovenian;
sq Albanian; sr Serbian; sv Swedish; sw Swahili; ta Tamil; te Telugu; th Thai; tr Turkish; uk Ukrainian; ur Urdu;
uz Uzbek; vi Vietnamese; wo Wolof; xh Xhosa; yo Yoruba; zh Chinese; zu Zulu; egy Ancient Egyptian
"""
LANGUAGE_NAMES = dict(entry.split(maxsplit=1) for entry in " ".join(_NAMES.split()).split("; "))


def language_name(code: str) -> str:
    """Return `Portuguese` for `pt` or `PT`; empty for an unknown code."""
    return LANGUAGE_NAMES.get(code.lower(), "")


def split_title(split: str) -> str:
    """Return `zero-shot · Portuguese` for `zero_shot/pt`."""
    return " · ".join(language_name(part) or part.replace("_", "-") for part in split.split("/"))
