"""Editing of competitions over HTTP, with preview, history and undo; `app.declarations` has the effects of edits."""
