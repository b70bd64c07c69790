"""The command line: `main` runs it, `commands` has one module for each group of commands."""
