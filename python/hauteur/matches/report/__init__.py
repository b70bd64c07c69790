"""Pages of matches, tournaments and tunings, made of the files in their folders."""
