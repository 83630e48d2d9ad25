"""Boards over HTTP: API, pages, feeds, exports, pictures; how a board comes about is `app.boards`'."""
