"""What the web API says, as pydantic models: one file per subject, each with examples for `/docs`.

Every model is built from rows by a function beside it; routes only fetch and hand over.
"""
