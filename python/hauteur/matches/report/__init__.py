"""Pages of matches, tournaments, tunings and rating lists, made of the files in their folders."""
