"""Games between players: the loop of games, openings, records, matches, tournaments, ratings and tuning."""
