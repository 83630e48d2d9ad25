"""What method cards ask, as the database keeps it: nothing where nothing was declared."""

from __future__ import annotations

from typing import Any

from app.competitions import MethodCardDeclaration


def method_card_values(declared: MethodCardDeclaration) -> dict[str, Any]:
    """For `Competition.method_card`; `app.method_cards.card_form` reads it."""
    if declared == MethodCardDeclaration():
        return {}
    return declared.model_dump(mode="json")
