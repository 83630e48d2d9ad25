"""Editing competitions over HTTP, with preview, history and undo; effects of edits are in `app.declarations`."""
