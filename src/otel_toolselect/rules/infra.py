"""Which failures are the platform's (R36): the names that a policy may use, and users' own patterns.

A failed result is an infrastructure failure when assembly tagged it so, or when its error type or text matches one of
the policy's `infra_errors`: a name from the table below, or any RE2 pattern (searched, not anchored).
"""

from __future__ import annotations

from otel_toolselect.model.runs import ToolResult
from otel_toolselect.model.values import canonical
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.patterns import Pattern, compile_node, compile_text
from otel_toolselect.rules.problems import Problems, closest

NAMED = {
    "timeout": r"(?i)\b(time[- _]?d?[- _]?out|deadline[_ ]exceeded)|timeout",
    "connection": r"(?i)\bconnection[ _-]?(refused|reset|aborted|error|closed|lost)|ECONN|network is unreachable|"
    r"name resolution|\bDNS\b|broken pipe|ConnectError",
    "http_5xx": r"(?i)^5\d\d$|\b(http|status|code|error)[ _:=-]*5\d\d\b|\(5\d\d\)|service unavailable|bad gateway|"
    r"internal server error",
    "rate_limited": r"(?i)\brate[ _-]?limit|too many requests|^429$|\b(http|status|code|error)[ _:=-]*429\b|"
    r"quota exceeded|RESOURCE_EXHAUSTED",
    "permission_expired": r"(?i)\b(token|credentials?|session|permission|key|login)s?\b[^.]{0,30}\bexpired|"
    r"\bexpired[ _-]?(token|credentials?|session|permission|key)|permission_expired",
}
_SCANNED = 2_000  # characters of an error's text that are searched


def parse_infra(node: Node, problems: Problems) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for text, item in problems.texts(node, "infra_errors"):
        if text in NAMED:
            found.append(compile_text(NAMED[text]))
            continue
        # a lower-case word near a name is a slip, not a pattern: it would never match what its author means
        near = closest(text, NAMED) if text.replace("_", "").isalnum() and text.islower() else None
        if near is not None:
            problems.add(item, f"unknown infra error {text!r}", f"did you mean {near!r}?")
            continue
        pattern = compile_node(item, "an infra_errors pattern", problems)
        if pattern is not None:
            found.append(pattern)
    return tuple(found)


def is_infra(result: ToolResult, patterns: tuple[Pattern, ...]) -> bool:
    """True for a failed result that is the platform's fault under these patterns (or by assembly's own tag)."""
    if result.ok is not False:
        return False
    if result.infra or not patterns:
        return result.infra
    texts = [result.error_type] if result.error_type else []
    if isinstance(result.value, str):
        texts.append(result.value[:_SCANNED])
    elif isinstance(result.value, (dict, list)):
        texts.append(canonical(result.value)[:_SCANNED])
    return any(p.search(t) for p in patterns for t in texts)
