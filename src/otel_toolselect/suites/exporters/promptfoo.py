"""`promptfoo`: a configuration with trajectory assertions (JSON, which is YAML), to be given providers.

A reference becomes tool-sequence (ordered, exact) or tool-used (superset), its arguments tool-args-match; tools in
`never` become not-trajectory:tool-used.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from otel_toolselect.suites.exporting import PlainCase, Step


class _Promptfoo:
    name = "promptfoo"
    about = "a promptfoo configuration with trajectory assertions"

    def write(self, suite: str, cases: list[PlainCase]) -> str:
        asserted = [(case, _asserts(case)) for case in cases]
        tests = [{"description": c.id, "vars": {"prompt": c.prompt}, "assert": made} for c, made in asserted if made]
        config = {"description": suite, "prompts": ["{{prompt}}"], "tests": tests}
        return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def _asserts(case: PlainCase) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    steps = case.steps()
    if steps is None:
        case.kept -= {"first"}
    elif steps[0]:
        found += _sequence(case, *steps)
    never = case.expect.get("never")
    if isinstance(never, list):
        tools = [n for n in never if isinstance(n, str) and " " not in n and not n.startswith("effect:")]
        found += [{"type": "not-trajectory:tool-used", "value": name} for name in tools]
        if len(tools) == len(never):
            case.kept.add("never")
    return found


def _sequence(case: PlainCase, steps: list[Step], mode: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if mode in ("exact", "ordered"):
        value = {"mode": "exact" if mode == "exact" else "in_order", "steps": [s.tool for s in steps]}
        found.append({"type": "trajectory:tool-sequence", "value": value})
    else:
        counts = Counter(s.tool for s in steps)
        found += [{"type": "trajectory:tool-used", "value": {"name": t, "min": n}} for t, n in counts.items()]
        if mode != "superset":
            case.lost.append(f"mode {mode}: other calls are not forbidden")
    for step in steps:
        if step.args:
            wanted = {"name": step.tool, "args": dict(step.args)}
            found.append({"type": "trajectory:tool-args-match", "value": wanted})
    return found


PLUGIN = _Promptfoo()
