"""Games in files: read from PGN, SGF and shards, written as PGN, SGF and lc0's training chunks."""
