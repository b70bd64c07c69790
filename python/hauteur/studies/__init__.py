"""Studies of games and positions: puzzles, reviews, explanations, traps; the folders of experiments."""
