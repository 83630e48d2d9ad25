"""Plots as SVG from plain numbers; the callers supply the numbers."""
