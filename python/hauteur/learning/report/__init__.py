"""Reports of learning runs: pages and figures."""
