"""Organisers' downloads over HTTP; their content is defined in `app.exports`."""
