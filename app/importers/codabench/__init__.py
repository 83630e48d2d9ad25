"""Bundles of Codabench and CodaLab: `competition.yaml` of the versions 2, 1, 1.5 and 1.8 in a zip."""
