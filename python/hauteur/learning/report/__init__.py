"""Reports of learning runs: pages, figures, TensorBoard events."""
