"""Kinds of targets: one file each, found by scanning."""
