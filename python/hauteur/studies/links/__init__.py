"""Links that repeat a search on another machine, and what differs there."""
