"""Ground that every other room stands on: files, locks, settings, seeds, hardware, errors as lines. Knows no games."""
