"""Published data of real shared tasks turned into competitions; applying these is `app.declarations`'."""
