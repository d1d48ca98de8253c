"""Exporters: a suite -> a file of another tool. One file each in `exporters/`, found by scanning and entry points.

Formats say less than a suite does: every expectation that does not fit is named in the notes, never dropped silently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from otel_toolselect import registry
from otel_toolselect.errors import UsageError
from otel_toolselect.rules import load_suite
from otel_toolselect.rules.matching import matchers
from otel_toolselect.rules.plain import read_plain
from otel_toolselect.rules.problems import suggest
from otel_toolselect.suites.importing import importers, open_source

EXPORTERS_PACKAGE = "otel_toolselect.suites.exporters"
NO_CALL = ("none", "ask_followup", "refuse_no_tool")


@dataclass(frozen=True, slots=True)
class Step:
    """One expected call; `args` None where the suite expects none, or none that is a plain value."""

    tool: str
    args: Mapping[str, Any] | None


@dataclass(slots=True)
class PlainCase:
    """A case as written. `kept` collects the keys of `expect` that an exporter could use."""

    id: str
    prompt: str | None
    expect: Mapping[str, Any]
    kept: set[str] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)

    @property
    def first(self) -> list[str]:
        """The allowed first actions, from `first` or from the class."""
        listed = self.expect.get("first")
        self.kept |= {"first", "class"} & self.expect.keys()
        if isinstance(listed, list):
            return [str(name) for name in listed]
        implied = {"none": "none", "clarify": "ask_followup", "refuse": "refuse_no_tool"}
        decision = implied.get(str(self.expect.get("class")))
        return [decision] if decision else []

    def steps(self) -> tuple[list[Step], str] | None:
        """The expected calls and their mode: of the reference, else the one tool that must come first."""
        reference = self.expect.get("reference")
        if isinstance(reference, dict):
            self.kept |= {"reference"}
            if "class" in self.expect:
                self.kept |= {"class"}
            self.lost += [f"reference.{key}" for key in ("among", "max_distance") if key in reference]
            return [self._step(c) for c in reference.get("calls", ())], str(reference.get("mode", "ordered"))
        first = [name for name in self.first if name not in NO_CALL]
        if len(first) > 1 or any(name.startswith("effect:") for name in first):
            return None
        return [self._step({"tool": name, "args": self._args(name)}) for name in first], "ordered"

    def _args(self, tool: str) -> Any:
        by_tool = self.expect.get("args")
        if isinstance(by_tool, dict) and tool in by_tool:
            self.kept |= {"args"}
            return by_tool[tool]
        return None

    def _step(self, call: Any) -> Step:
        if isinstance(call, str):
            return Step(call, None)
        args = call.get("args")
        if not isinstance(args, dict):
            return Step(str(call["tool"]), None)
        plain: dict[str, Any] = {}
        for name, value in args.items():
            if isinstance(value, dict) and value.keys() == {"literal"}:
                plain[name] = value["literal"]
            elif _is_plain(value):
                plain[name] = value
            else:
                self.lost.append(f"the matcher of {call['tool']}.{name}")
        return Step(str(call["tool"]), plain)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return not (value.keys() & {*matchers(), "optional"}) and all(map(_is_plain, value.values()))
    return not isinstance(value, list) or all(map(_is_plain, value))


class Exporter(Protocol):
    """`write` marks what it used of each case (`PlainCase.kept`); the rest becomes a note."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    def write(self, suite: str, cases: list[PlainCase]) -> str: ...


@cache
def exporters() -> Mapping[str, Exporter]:
    return cast("Mapping[str, Exporter]", registry.discover(EXPORTERS_PACKAGE))


def export_suite(kind: str, path: str) -> tuple[str, list[str]]:
    """The text in the other format, and what it could not hold. Raises UsageError, SuiteError, InputError."""
    exporter = exporters().get(kind)
    if exporter is None:
        raise UsageError(f"unknown kind {kind!r}: {suggest(kind, exporters())}".rstrip(": "))
    suite = load_suite(path)  # every mistake is said before anything is written
    cases = _plain_cases(path)
    text = exporter.write(suite.name, cases)
    notes = []
    for case in cases:
        lost = [*sorted(case.expect.keys() - case.kept), *dict.fromkeys(case.lost)]
        if lost:
            notes.append(f"{case.id}: not exported: {', '.join(lost)}")
    return text, notes


def _plain_cases(path: str) -> list[PlainCase]:
    source = open_source(path)
    is_tiny = Path(path).suffix.lower() == ".jsonl" or source.text.lstrip()[:1] == "["
    if is_tiny:
        written = importers()["tiny"].read(source).cases
    else:
        whole = read_plain(source.text, path=path)
        written = cast("list[dict[str, Any]]", whole["cases"] if isinstance(whole, dict) else [])
    return [PlainCase(str(c["id"]), c.get("prompt"), c["expect"]) for c in written]
