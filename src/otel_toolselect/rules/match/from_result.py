"""`{from_result: search_orders, path: "$.orders[*].id"}`: a value that an earlier call returned (provenance, R27).

Fits when a call of the tool that did not fail returned the value, at the JSONPath, and its result was there before this
call was decided: calls of one message do not wait for each other. Without `path` any scalar of the result will do. A
result that is text in JSON is read as JSON. Results that the trace does not hold prove nothing, and the reason says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import JSON, json_equal
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope
from otel_toolselect.rules.paths import Path, compile_path
from otel_toolselect.rules.selectors import Tool
from otel_toolselect.rules.sources import leaves

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class FromResult:
    tool: str
    path: Path | None
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        calls = [c for c in scope.view.calls if c.name == self.tool and c is not scope.call]
        if not calls:
            return f"expected {self.describe}, but {self.tool} was never called"
        earlier = [c.result for c in calls if c.result and c.ok is not False and scope.call.knew(c)]
        if not earlier:
            return f"expected {self.describe}, but no result of {self.tool} was there yet"
        unknown = [r.value.reason for r in earlier if isinstance(r.value, Unknown)]
        returned = [v for r in earlier if not isinstance(r.value, Unknown) for v in self._values(r.value)]
        if any(json_equal(value, v) for v in returned):
            return None
        if unknown:
            return f"expected {self.describe}, but a result of {self.tool} is not known: {unknown[0]}"
        listed = ", ".join(brief(v, 40) for v in returned[:_SHOWN]) + (", …" if len(returned) > _SHOWN else "")
        return f"expected {self.describe}, got {brief(value)}; returned were: {listed or 'nothing'}"

    def _values(self, result: JSON) -> list[Any]:
        return returned_values(result, self.path)


def decoded(result: JSON) -> JSON:
    """A result that is the text of a JSON object or list, decoded."""
    if isinstance(result, str) and result.lstrip()[:1] in ("{", "["):
        try:
            found: JSON = json.loads(result)
        except ValueError:
            return result
        return found
    return result


def returned_values(result: JSON, path: Path | None) -> list[Any]:
    """What a result holds at a path; all of its scalars without one."""
    value = decoded(result)
    return [leaf for _, leaf in leaves(value)] if path is None else path.find(value)


class _Kind:
    name = "from_result"
    options = frozenset({"path"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        text = draft.problems.text(node, "from_result")
        tool = draft.tool(text, node) if text is not None else None
        path = compile_path(options["path"], "path", draft.problems) if "path" in options else None
        if tool is None or ("path" in options and path is None):
            return None
        draft.wants(Tool(tool), may_start=False)
        return FromResult(tool, path, f"a value that {tool} returned{f' at {path.text}' if path else ''}")


PLUGIN = _Kind()
