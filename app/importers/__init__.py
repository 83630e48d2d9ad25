"""Importers: published data of real shared tasks as competitions; `app.declarations` applies these."""
