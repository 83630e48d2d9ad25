"""The REST of Codabench that its clients use, over the rules of /api/v1: answers in its form, no rule of its own."""
