"""What API and pages share: identity, errors, bodies, caching, limits, the shape of schemas; no subject of its own."""
