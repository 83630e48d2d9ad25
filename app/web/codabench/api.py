"""All routes for clients of Codabench; `EVERGOLD_CODABENCH_API=false` removes them."""

from __future__ import annotations

from app.web.codabench import accounts, creating, reading, submissions, submitting, uploads

ROUTERS = (accounts.router, creating.router, reading.router, submissions.router, submitting.router, uploads.router)
