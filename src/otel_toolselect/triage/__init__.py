"""From verdicts to work: what to fix first, why a pair is confused, what is wrong with a catalog, and how a production
run becomes a test case (R19, R46, R51, R52; design section 8).

Pure functions over runs, verdicts and a suite; `reports` says their results, `cli` the commands.
"""
