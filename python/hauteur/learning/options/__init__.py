"""Ideas beyond AlphaZero that a recipe may switch on, one a file: what each adds to the loop."""
