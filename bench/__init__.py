"""The benchmarks that the README quotes: each runs alone (`python -m bench.scoring`), or all in turn (`make bench`)."""
