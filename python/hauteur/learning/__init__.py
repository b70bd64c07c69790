"""Learning a game: recipe, self-play, replay, training, gate, and the loop of them."""
