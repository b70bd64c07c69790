"""Base of all other packages: files, locks, settings, seeds, hardware, errors as lines. Independent of games."""
