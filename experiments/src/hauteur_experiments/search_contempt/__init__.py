"""Experiments of "Search-contempt" (Joshi 2025)."""
