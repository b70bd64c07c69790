"""Experiments of the AlphaZero implementation report."""
