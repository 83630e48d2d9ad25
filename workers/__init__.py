"""Processes other than the web: scoring, later computations, the sweep; only they open sealed files."""

import gc

#: Imported objects stay, and runs create many objects that live until the run ends, with hardly any cycles. Collecting
#: garbage at the default rate takes a tenth of a process's start, and up to a quarter of a run.
gc.set_threshold(20_000, 20, 50)
