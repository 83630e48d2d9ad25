"""Two bundles of our own: `results` as Codabench has them (version 2), `tracks` as CodaLab had them (version 1.5)."""
