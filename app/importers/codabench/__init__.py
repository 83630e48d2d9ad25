"""Bundles of Codabench and CodaLab: a zip with a `competition.yaml` of version 2, 1, 1.5 or 1.8."""
