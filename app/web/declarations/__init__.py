"""Editing competitions over HTTP, with preview, history and undo; the effects of edits are computed in
`app.declarations`."""
