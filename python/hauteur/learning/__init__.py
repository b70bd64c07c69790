"""Learning a game: recipe, self-play, replay, training, gate, and the pipeline that runs them."""
