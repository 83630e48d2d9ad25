"""Rescoring sets over HTTP; `app.rescoring` has the rules."""
