"""Mutants of the decisive modules: small faults, put in one at a time, that the tests must notice (`make mutants`).

The faults are those of mutmut. Modules of this package decide which of them count and which tests look for them.
"""
