"""Setting up a draft competition step by step: each step is a small form over its declaration, saved as an edit.

Nothing here opens gold, and nothing is stored that a declaration does not have: see decision 097.
"""
