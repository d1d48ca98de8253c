"""Ways to choose tools for a prompt: one file each, found by scanning."""
