"""Declarations edited on the server: what may be, what it would do, and YAML back out of them; no form, no HTTP."""
