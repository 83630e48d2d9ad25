"""Code shared by API and pages: identity, errors, request bodies, caching, rate limits and base schemas."""
