"""Review of recorded games: what every position was worth by a search, and which moves lost how much of that."""
