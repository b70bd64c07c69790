"""Experiments of "Multiple policy value Monte Carlo tree search" (Lan et al. 2019)."""
