"""Organisers' Markdown texts: rendering to HTML, limits and cache."""
