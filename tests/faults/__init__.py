"""Faults on purpose: the real `toolselect serve` under load is killed, its disk fills, its store fails.

Each script runs alone as well, as long as one likes: `python -m tests.faults.kills --count 100`.
"""
