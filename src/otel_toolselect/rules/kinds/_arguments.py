"""The one form of an arguments finding: one per call, so that calls can be counted (R25)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import Finding
from otel_toolselect.rules.matching import Expected, Scope
from otel_toolselect.rules.view import CallView


def unknown(check: str, call: CallView, args: Unknown) -> Finding:
    """Arguments that the trace does not hold: never wrong, always said."""
    entry = {"call": call.seq, "tool": call.name, "unknown": args.reason}
    said = f"the arguments of {call.name} are not known: {args.reason}"
    return Finding(check, "arguments", "needs_review", said, {"calls": [entry]})


def judged(check: str, call: CallView, wrong: Sequence[tuple[str, str]], fits: str) -> Finding:
    """`wrong` are (argument, reason); none of them means a pass, said as `fits`."""
    if not wrong:
        return _fitting(check, call.seq, call.name, fits)
    entry: dict[str, Any] = {"call": call.seq, "tool": call.name}
    entry["mismatches"] = [{"argument": name, "reason": why} for name, why in wrong]
    said = f"{call.name}: " + "; ".join(f"{name} {why}" for name, why in wrong)
    return Finding(check, "arguments", "fail", said, {"calls": [entry]})


@lru_cache(maxsize=16_384)  # the same few findings in run after run; findings are read-only
def _fitting(check: str, seq: int, tool: str, fits: str) -> Finding:
    return Finding(check, "arguments", "pass", f"{tool} {fits}", {"calls": [{"call": seq, "tool": tool}]})


def mismatches(
    expected: Sequence[Expected], args: Mapping[str, Any], scope: Scope, *, defaults: bool = True
) -> list[tuple[str, str]]:
    """(argument, reason) for each expected argument that does not fit.

    `defaults`: what is left out has its schema's default; a matching profile that leaves the schema aside has none.
    """
    wrong = []
    for e in expected:
        why = e.mismatch(args, scope)
        if why is not None and defaults and e.name not in args:
            why = _by_default(e, why, scope)
        if why is not None:
            wrong.append((e.name, why))
    return wrong


def _by_default(expected: Expected, why: str, scope: Scope) -> str | None:
    schema = scope.view.offered.get(scope.call.name)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    member = properties.get(expected.name) if isinstance(properties, dict) else None
    if not isinstance(member, dict) or "default" not in member:
        return why
    reason = expected.matcher.mismatch(member["default"], scope)
    return None if reason is None else f"is left out, and its default does not fit: {reason}"
