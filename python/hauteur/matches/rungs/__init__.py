"""The ladder: fixed opponents on one scale, by nodes and never by time, and the rating of any player among them."""
