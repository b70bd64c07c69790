"""What a run may begin with: recorded games, and the answers of another network."""
