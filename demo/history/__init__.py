"""What the demo's other teams did in the weeks before its first start: `python -m demo.history`, once per server.

Their predictions are drawn, their scores are not: every file goes through the worker's own scoring, at a clock of its
own. It is a program of its own since it needs both the server's rules and the workers' gold.
"""
