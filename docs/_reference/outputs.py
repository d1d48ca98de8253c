"""The JSON that commands print: the members of each document, found in what the commands print for the packaged example
and for small files beside it (`shapes` makes JSON Schemas of the same).
"""

from __future__ import annotations

import inspect
import json
import re
import tempfile
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docs._reference._markdown import code, table
from tests.docs import scenes
from tests.docs.shell import Session

from otel_toolselect import app
from otel_toolselect.judge import taxonomy
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import LAYERS
from otel_toolselect.registry import discover
from otel_toolselect.rules import load_suite
from otel_toolselect.stats.risk import WEIGHTS

RUN = "toolselect score traces/runs.pb --suite suite.yaml --format json -o report.json"
DOCUMENTS = {
    "score, eval": (
        "toolselect score traces/runs.pb --suite suite.yaml --format json",
        "toolselect score figures.jsonl --suite figures.yaml --format json",
    ),
    "gate": ("toolselect gate report.json --baseline baseline.yaml --format json",),
    "compare": ("toolselect compare report.json before.json --format json",),
    "confusion": ("toolselect confusion report.json --format json",),
    "flips": ("toolselect flips report.json --format json",),
    "triage": ("toolselect triage traces --suite suite.yaml --format json",),
    "diagnose": ("toolselect diagnose refund_order get_invoice traces --suite suite.yaml --format json",),
    "doctor": ("toolselect doctor traces --format json",),
    "catalog list": ("toolselect catalog list traces --format json",),
    "catalog lint": ("toolselect catalog lint traces --suite suite.yaml --format json",),
    "rules check": ("toolselect rules check suite.yaml shop.yaml --format json",),
    "rules judge": ("toolselect rules judge traces --rules policies.yaml --format json",),
    "rules test": ("toolselect rules test guard.test.yaml --format json",),
    "suite lint": ("toolselect suite lint suite.yaml --format json",),
}
LINE = "One document a line; what does not apply is absent."
LINES = {
    "events": "toolselect events traces --format json",
    "events --runs": "toolselect events traces --runs --format json",
}
TEST = """files: [policies.yaml]
tests:
  - {name: a guess, given: {events: [{call: refund, ok: true}]}, expect: [{rule: look-first, status: pass}]}
"""
OPAQUE = ("args", "effects", "evidence", "schema", "tags", "value")
"""Members that hold what the user's tools and rules say."""


def page() -> str:
    parts = []
    for title, found in documents().items():
        named = found[0].get("schema")
        link = f"[{named}](../schema/outputs/{named.replace('/', '-')}.schema.json)" if named else ""
        parts.append(f"## {title}\n\n{f'JSON Schema: {link}' if named else LINE}\n\n{_members(found)}")
    return "\n".join(parts)


def documents(wanted: Collection[str] = ()) -> dict[str, list[dict[str, Any]]]:
    """What each command prints, one or several documents; of all commands where none is named."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        try:
            return _printed(session, wanted)
        finally:
            session.close()


def _printed(session: Session, wanted: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    scenes.billing(session)
    scenes.figures(session)
    scenes.write(session, policies__yaml=scenes.POLICIES, shop__yaml="suite: shop\ncases: 3\n")
    session.write("guard.test.yaml", TEST)
    session.output(RUN)
    session.output("toolselect baseline accept report.json -o baseline.yaml --by ann --reviewer raj")
    found = {
        title: [json.loads(session.output(command)) for command in commands]
        for title, commands in DOCUMENTS.items()
        if not wanted or title in wanted
    }
    for title, command in LINES.items():
        if not wanted or title in wanted:
            lines = session.output(command).splitlines()
            found[title] = [json.loads(line) for line in lines if line.startswith("{")]
    return found


def _members(documents: list[Any]) -> str:
    found: dict[str, set[str]] = {}
    for document in documents:
        for path, kind in _walk(document, ""):
            found.setdefault(path, set()).add(kind)
    return table(("member", "value"), [(code(path), " or ".join(sorted(kinds))) for path, kinds in found.items()])


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in shared(value).items():
            here = f"{path}.{name}" if path else name
            yield here, _kind(inner)
            if name not in OPAQUE:
                yield from _walk(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, f"{path}[]")


@cache
def _given() -> frozenset[str]:
    """Names that come from the user's files, or that are values elsewhere: an object with such members is a table."""
    suite = load_suite(str(app.example_folder("billing-support") / "suite.yaml"))
    ours = {*LAYERS, *NO_CALL_LABELS, *WEIGHTS, *discover("otel_toolselect.dialects")}
    failures = set(re.findall(r'"([a-z]+(?:_[a-z]+)+)"', inspect.getsource(taxonomy)))
    shop = {"find", "invoice", "refund", *(case for case, *_ in scenes.RUNS)}
    return frozenset({*ours, *failures, *shop, *suite.policy.tools, *(case.id for case in suite.cases)})


def shared(value: dict[str, Any]) -> dict[str, Any]:
    """The members of an object; where all are objects of one form, as of tools or layers by name, one for all."""
    if value and value.keys() <= _given():
        return {"NAME": next(iter(value.values()))}
    forms = {tuple(inner) if isinstance(inner, dict) else None for inner in value.values()}
    if len(value) > 1 and len(forms) == 1 and None not in forms:
        return {"NAME": next(iter(value.values()))}
    return value


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "object"}
    return "null" if value is None else kinds[type(value)]
