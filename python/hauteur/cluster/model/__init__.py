"""A model of self-play by 1 to 10,000 workers: what everything costs, a simulation, and where it breaks first."""
