"""Tuning of player settings for strength: `parameters` and bounds, the optimiser `spsa`, `strength` by matches."""
