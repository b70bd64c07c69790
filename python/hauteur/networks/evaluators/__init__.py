"""Evaluators: from rows of features to policy logits and win/draw/loss, one file a backend."""
