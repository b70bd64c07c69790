"""The engine for the Go Text Protocol: `hauteur gtp`, for games whose moves are points."""
