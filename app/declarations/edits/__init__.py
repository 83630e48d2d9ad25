"""Editing declarations on the server: editable values, effects of a change, and export as YAML; no forms, no HTTP."""
