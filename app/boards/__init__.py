"""Leaderboards from scored runs: rows, columns, ranks, official results, pictures, tables; never how HTTP asks for
them."""
