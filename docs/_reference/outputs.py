"""The JSON that commands print: the members of each document, found in what the commands print for the packaged example
and for small files beside it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs._reference._markdown import code, table
from tests.docs import scenes
from tests.docs.shell import Session

RUN = "toolselect score traces/runs.pb --suite suite.yaml --format json -o report.json"
DOCUMENTS = {
    "score, eval": "toolselect score traces/runs.pb --suite suite.yaml --format json",
    "gate": "toolselect gate report.json --baseline baseline.yaml --format json",
    "compare": "toolselect compare report.json before.json --format json",
    "confusion": "toolselect confusion report.json --format json",
    "flips": "toolselect flips report.json --format json",
    "triage": "toolselect triage traces --suite suite.yaml --format json",
    "diagnose": "toolselect diagnose refund_order get_invoice traces --suite suite.yaml --format json",
    "doctor": "toolselect doctor traces --format json",
    "catalog list": "toolselect catalog list traces --format json",
    "catalog lint": "toolselect catalog lint traces --suite suite.yaml --format json",
    "rules check": "toolselect rules check suite.yaml shop.yaml --format json",
    "rules judge": "toolselect rules judge traces --rules policies.yaml --format json",
    "rules test": "toolselect rules test guard.test.yaml --format json",
    "suite lint": "toolselect suite lint suite.yaml --format json",
}
LINES = {
    "events": "toolselect events traces --format json",
    "events --runs": "toolselect events traces --runs --format json",
}
TEST = """files: [policies.yaml]
tests:
  - {name: a guess, given: {events: [{call: refund, ok: true}]}, expect: [{rule: look-first, status: pass}]}
"""
OPAQUE = ("args", "effects", "evidence", "tags", "value")
"""Members that hold what the user's tools and rules say."""


def page() -> str:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        try:
            return "\n".join(_sections(session))
        finally:
            session.close()


def _sections(session: Session) -> Iterator[str]:
    scenes.billing(session)
    scenes.write(session, policies__yaml=scenes.POLICIES, shop__yaml="suite: shop\ncases: 3\n")
    session.write("guard.test.yaml", TEST)
    session.output(RUN)
    session.output("toolselect baseline accept report.json -o baseline.yaml --by ann --reviewer raj")
    for title, command in DOCUMENTS.items():
        document = json.loads(session.output(command))
        schema = document.get("schema", "")
        yield f"## {title}\n\n" + (f"`schema`: `{schema}`\n\n" if schema else "") + _members([document])
    for title, command in LINES.items():
        lines = [json.loads(line) for line in session.output(command).splitlines() if line.startswith("{")]
        yield f"## {title}\n\nOne document a line; what does not apply is absent.\n\n" + _members(lines)


def _members(documents: list[Any]) -> str:
    found: dict[str, set[str]] = {}
    for document in documents:
        for path, kind in _walk(document, ""):
            found.setdefault(path, set()).add(kind)
    return table(("member", "value"), [(code(path), " or ".join(sorted(kinds))) for path, kinds in found.items()])


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in _shared(value).items():
            here = f"{path}.{name}" if path else name
            yield here, _kind(inner)
            if name not in OPAQUE:
                yield from _walk(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, f"{path}[]")


def _shared(value: dict[str, Any]) -> dict[str, Any]:
    """The members of an object; where all are objects of one form, as of tools or layers by name, one for all."""
    forms = {tuple(inner) if isinstance(inner, dict) else None for inner in value.values()}
    if len(value) > 1 and len(forms) == 1 and None not in forms:
        return {"NAME": next(iter(value.values()))}
    return value


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "object"}
    return "null" if value is None else kinds[type(value)]
