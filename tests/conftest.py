"""What holds for all tests: properties are not timed, the machine that runs them may be busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
