"""The steps of a generation: self-play, training, gate; each is a function of the run."""
