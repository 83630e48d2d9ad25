"""Mutants of the decisive modules: small faults, put in one at a time, that the tests must notice (`make mutants`).

The faults are those that mutmut knows. Which of them count, which tests look for them, and why some may live, is said
here.
"""
