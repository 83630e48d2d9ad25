"""Other limits for a running site."""

from __future__ import annotations

from app.web.http.rate_limits import RateLimits
from tests.web.site import Site


def limited(site: Site, **settings: int | str) -> RateLimits:
    """Replace the site's limits by those of these settings, counted from zero."""
    found = RateLimits(site.settings.model_copy(update=settings))
    site.app.state.rate_limits = found
    return found
