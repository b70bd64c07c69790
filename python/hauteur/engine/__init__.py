"""What programs and people talk to: UCI, GTP and the terminal."""
