"""Synthetic events, for the demo, the tests and the benchmarks."""
