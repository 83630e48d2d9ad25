"""Organisers' downloads over HTTP; what is in them is `app.exports`'."""
