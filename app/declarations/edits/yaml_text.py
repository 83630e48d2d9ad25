"""Declarations as readable YAML, which `evergold.yaml_lines` reads back as identical values."""

from __future__ import annotations

from typing import Any

import yaml

from evergold.yaml_lines import plain_scalar

_WIDTH = 110
#: Mappings and lists of scalars up to this length are written on one line.
_ONE_LINE_CHARACTERS = 90


def declaration_text(document: dict[str, Any], comment: str = "") -> str:
    """Return one competition as a file in the form of phases.yaml, preserving the order of keys."""
    whole = {"version": 1, "competitions": [_dressed(document)]}
    text = yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines()) + text


class _OneLineMapping(dict[str, Any]):
    """`{metric: macro_f1, split: zero_shot/all}`."""


class _OneLineList(list[Any]):
    """`[en, pt]`."""


def _dressed(value: Any) -> Any:
    """Return the same values, with those that fit on one line marked."""
    if isinstance(value, dict):
        inside = {name: _dressed(one) for name, one in value.items()}
        return _OneLineMapping(inside) if _fits_on_a_line(inside) else inside
    if isinstance(value, list):
        elements = [_dressed(one) for one in value]
        are_single = not any(isinstance(one, dict | list) for one in elements)
        return _OneLineList(elements) if are_single and _is_short(elements) else elements
    return value


def _fits_on_a_line(mapping: dict[str, Any]) -> bool:
    are_small = all(not isinstance(one, dict) and type(one) is not list for one in mapping.values())
    return are_small and "name" not in mapping and _is_short([*mapping, *mapping.values()])


def _is_short(values: list[Any]) -> bool:
    texts = [str(value) for value in values]
    return sum(len(text) + 2 for text in texts) <= _ONE_LINE_CHARACTERS and not any("\n" in text for text in texts)


class _Dumper(yaml.SafeDumper):
    """Indents lists, and never writes aliases, which only puzzle readers."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    """Represent long texts as blocks; quote texts that are ambiguous or contain invisible characters."""
    lines = value.replace("\n", "").replace("\t", "")
    if "\n" in value.rstrip("\n") and value == value.strip(" \t") and lines.isprintable():
        style: str | None = "|"
    else:
        style = None if value.isprintable() and plain_scalar(value) == value else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _mapping(dumper: _Dumper, value: _OneLineMapping) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


def _list(dumper: _Dumper, value: _OneLineList) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_OneLineMapping, _mapping)
_Dumper.add_representer(_OneLineList, _list)
