"""Studies on top of everything: papers, puzzles, checks against reference files, exact play."""
