"""Rescoring sets over HTTP; the rules are `app.rescoring`'."""
