"""Many workers, of this machine or of others: work in units that any of them may do, with the same results."""
