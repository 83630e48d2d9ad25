"""Static files, addressed with a digest of their content (`rendering.asset`): browsers may cache them for ever."""

from __future__ import annotations

import os

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope


class StaticAssets(StaticFiles):
    """Static files: those with a digest in the address, and fonts (versioned names), are cached for ever; others are
    revalidated.
    """

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        is_addressed = scope["query_string"].startswith(b"v=") or str(full_path).endswith(".woff2")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_addressed else "no-cache"
        return response
