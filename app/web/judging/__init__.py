"""Judgement over HTTP: annotators' forms and organisers' rounds; the rules are `app.judging`'."""
