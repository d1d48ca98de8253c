"""JSON Schemas of what commands print: `python -m docs._reference.shapes` infers them from the documents of the
reference page and writes docs/schema/outputs; a test holds what commands print now against them.

What is always there is required, and what is new is allowed, as members are added and never removed. Any value may be
null, as a figure that is not defined is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs._reference import outputs

OUT = Path(__file__).parents[1] / "schema" / "outputs"
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of documents that say the same `schema`."""
    name = documents[0]["schema"]
    inferred = _object(documents)
    inferred["properties"]["schema"] = {"const": name}
    return {"$schema": DRAFT, "title": name, **inferred, "type": "object"}


def _shape(values: Sequence[Any], name: str) -> dict[str, Any]:
    there = [value for value in values if value is not None]
    objects = [value for value in there if isinstance(value, dict)]
    if not there or name in outputs.OPAQUE or (objects and len(objects) < len(there)):
        return {}
    if objects:
        return _object(objects)
    if all(isinstance(value, list) for value in there):
        inside = [one for value in there for one in value]
        return {"type": ["array", "null"], "items": _shape(inside, name) if inside else {}}
    return {"type": [*sorted({_scalar(value) for value in there}), "null"]}


def _object(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    shared = [outputs.shared(value) for value in values]
    if any(given is not value for given, value in zip(shared, values, strict=True)):
        return {"type": ["object", "null"], "additionalProperties": _shape([o for v in values for o in v.values()], "")}
    names = sorted({name for value in values for name in value})
    return {
        "type": ["object", "null"],
        "properties": {name: _shape([value[name] for value in values if name in value], name) for name in names},
        "required": [name for name in names if all(name in value for value in values)],
    }


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        return "array"
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    by_schema: dict[str, list[dict[str, Any]]] = {}
    for found in outputs.documents().values():
        for document in found:
            if "schema" in document:
                by_schema.setdefault(document["schema"], []).append(document)
    for name, found in by_schema.items():
        text = json.dumps(schema_of(found), indent=1, ensure_ascii=False) + "\n"
        (OUT / file_of(name)).write_text(text, "utf-8")


def file_of(schema: str) -> str:
    """`toolselect.report/1` is in toolselect.report-1.schema.json."""
    return f"{schema.replace('/', '-')}.schema.json"


if __name__ == "__main__":
    main()
