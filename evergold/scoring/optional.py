"""Import packages that only some task types need (scipy, scikit-learn, sacrebleu, openpyxl) on first use.

The web process imports every task type for its names and options, and must stay small.
"""

from __future__ import annotations

import importlib
from typing import Any

from evergold.scoring.errors import ScoringError


class MissingPackage(ScoringError):
    """A package that this score needs is not installed here."""


def load_package(module: str, extra: str = "metrics") -> Any:
    """Import the module called `module` (`scipy.stats`); raises MissingPackage, which names what to install.

    extra: the extra of `evergold` that contains it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        package = module.partition(".")[0]
        if (missing.name or "").partition(".")[0] != package:
            raise
        raise MissingPackage(f"{package} is needed for this: pip install 'evergold[{extra}]'") from None
