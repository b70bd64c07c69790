"""Games between players: the arena, openings, records, matches, tournaments, ratings and tuning."""
