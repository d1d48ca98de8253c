"""`matching: listed`: the arguments that are listed are JSON-equal, others are free, and nothing else is judged.

What other tools call a partial or superset match of arguments; `json` judges the offered schema beside.
"""

from __future__ import annotations

from otel_toolselect.rules.profile import Profile

PLUGIN = Profile("listed", schema=False)
