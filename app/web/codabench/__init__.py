"""The part of Codabench's REST API that its clients use: its formats, on top of the rules of /api/v1."""
