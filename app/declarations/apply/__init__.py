"""Declarations written into the tables, with what changes said first; only what was checked comes here."""
