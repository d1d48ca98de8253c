"""What holds for all tests.

Properties are not timed, as the machine that runs them may be busy. They try the same examples in every run, so that a
run's outcome says something about the change it tests; `make explore` looks for new ones.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("steady")
