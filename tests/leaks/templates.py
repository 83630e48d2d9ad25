"""Places that are built once for all tests of a process: building one takes a hundred times as long as a copy."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.config import get_settings
from tests.leaks.place import MONITORED, Place, serve
from tests.web.site import Site


@dataclass(frozen=True)
class Templates:
    """Built places, by the name of the function that builds them."""

    folder: Path
    _built: dict[str, Place] = field(default_factory=dict)

    def copy(self, site: Site, build: Callable[[Site], Place], kept_in: str = "folder") -> Place:
        """Return a copy of the place that `build` makes of an empty server, which keeps its files in `kept_in`."""
        name = f"{build.__qualname__}-{kept_in}"
        if name not in self._built:
            place = build(site)
            place.save()
            shutil.copytree(get_settings().data_dir, self.folder / name)
            self._built[name] = replace(place, saved=_copied(place.saved))
            return place
        shutil.copytree(self.folder / name, get_settings().data_dir, dirs_exist_ok=True)
        serve(site, site.settings.model_copy(update=MONITORED))
        built = self._built[name]
        copy = Place(site, dict(built.secrets), dict(built.names), dict(built.submitted), _copied(built.saved))
        copy.restore()
        return copy


def _copied(database: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    database.backup(copy)
    return copy
