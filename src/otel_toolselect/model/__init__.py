"""Frozen plain data that crosses layers: spans, events, runs, catalogs, verdicts, figures.

Nothing here reads a file, a clock or the network; nothing here knows a wire format or a dialect.
"""
