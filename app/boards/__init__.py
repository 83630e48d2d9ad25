"""Leaderboards from scored runs: rows, columns, ranks, official results, pictures, tables. Independent of HTTP."""
