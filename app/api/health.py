"""Whether the server is well."""

from __future__ import annotations

from typing import Literal

from app.api.base import ApiModel, example


class Health(ApiModel):
    """The web process answers, and so does its database."""

    model_config = example({"status": "ok", "version": "0.1.0"})

    status: Literal["ok"] = "ok"
    version: str
