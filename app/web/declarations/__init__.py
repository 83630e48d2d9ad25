"""Editing a competition over HTTP, with preview, history and undo; what an edit means is `app.declarations`'."""
