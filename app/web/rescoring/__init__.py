"""Rescoring sets over HTTP; the rules are in `app.rescoring`."""
