"""JSON Schemas of uploads: validators that fetch nothing, and whose patterns take linear time.

Source: https://json-schema.org/draft/2020-12; the validator is the library jsonschema-rs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evergold.scoring.errors import shorten
from evergold.scoring.optional import load_package

if TYPE_CHECKING:
    import jsonschema_rs

#: So many faults of one document are told.
_FAULTS = 20


def validator_of(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    """Return a validator. Raises ValueError if this is not a schema, or refers to an address that would be fetched."""
    library: Any = load_package("jsonschema_rs")
    try:
        validator: jsonschema_rs.Validator = library.validator_for(
            dict(schema), retriever=_fetch_nothing, pattern_options=library.RegexOptions()
        )
    except (library.ValidationError, library.ReferencingError, ValueError) as fault:
        raise ValueError(shorten(str(fault).partition("\n")[0], 200)) from None
    return validator


def faults_of(validator: jsonschema_rs.Validator, document: object) -> Iterator[str]:
    """Yield the faults of a document, each as a sentence without a full stop, with the place in the document."""
    for number, fault in enumerate(validator.iter_errors(document)):
        if number == _FAULTS:
            yield "there are more problems, which are not listed"
            return
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.instance_path)
        message = shorten(fault.message, 200)
        yield f"{shorten(place.lstrip('.'))}: {message}" if place else message


def _fetch_nothing(address: str) -> Any:
    raise ValueError(f"it names {shorten(address)}, and nothing is fetched: put that schema under $defs")
