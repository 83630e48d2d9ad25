"""Importers: published data of real shared tasks as competitions, which `app.declarations` applies."""
