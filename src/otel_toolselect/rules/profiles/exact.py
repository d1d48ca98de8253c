"""`matching: exact`: the arguments of a call as a whole are JSON-equal to those listed, and nothing else is judged.

What tools do that compare whole calls: sorted JSON in tau-bench, equal argument objects in ADK's and LangChain's
trajectory evaluators.
"""

from __future__ import annotations

from otel_toolselect.rules.profile import Profile

PLUGIN = Profile("exact", closed=True, schema=False)
