"""Processes beside the web: what scores, what is computed afterwards, the sweep; only they open what is sealed."""

import gc

#: What is imported stays, and runs create many objects that live until the run ends, and hardly any cycles: collecting
#: garbage at the default rate takes a tenth of a process's start, and up to a quarter of a run.
gc.set_threshold(20_000, 20, 50)
