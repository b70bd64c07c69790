"""Sessions: what one client works with, each in a process of its own, and the pool of these processes."""
