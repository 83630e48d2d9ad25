"""Human judgement over HTTP: annotators' forms and organisers' rounds; `app.judging` has the rules."""
