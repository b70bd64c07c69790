"""Interfaces for programs and people: UCI, GTP and the terminal."""
