"""Conditions of a gate, one file each (R43). A new file here, with its `PLUGIN`, is a new condition."""
