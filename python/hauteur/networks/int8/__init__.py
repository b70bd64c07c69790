"""int8 networks: calibration on positions of games, rounding of the weights, and the quantised model in the cache."""
