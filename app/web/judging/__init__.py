"""Human judgement over HTTP: annotators' forms and organisers' rounds; the rules are in `app.judging`."""
