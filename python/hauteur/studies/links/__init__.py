"""Links that repeat a search on another machine, and what is another one there."""
