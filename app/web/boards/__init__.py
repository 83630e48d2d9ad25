"""Boards over HTTP: API, pages, feeds, exports, pictures; boards are computed in `app.boards`."""
