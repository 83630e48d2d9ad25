"""Editing of declarations on the server: editable values, effects of a change, export as YAML; no forms, no HTTP."""
