"""Setting up a draft competition step by step: each step is a small form for its declaration, saved as an edit.

Nothing here opens gold, and nothing is stored outside of the declaration: see decision 097.
"""
