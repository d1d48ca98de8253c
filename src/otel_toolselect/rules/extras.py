"""Libraries that are extras: asked for at load, imported at first use, and missed with the way to get them."""

from __future__ import annotations

from importlib.util import find_spec

from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.problems import Problems


def available(module: str, extra: str, node: Node, what: str, problems: Problems) -> bool:
    """Whether the library can be imported; if not, a problem that says how to install it."""
    if find_spec(module) is not None:
        return True
    problems.add(node, f"{what} needs a library that is not installed", f"pip install otel-toolselect[{extra}]")
    return False
