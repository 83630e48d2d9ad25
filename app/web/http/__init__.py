"""Code shared by API and pages: identity, errors, bodies, caching, limits and base schemas; no subject of its own."""
