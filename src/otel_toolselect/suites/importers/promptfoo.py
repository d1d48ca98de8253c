"""`promptfoo`: the trajectory assertions of a promptfoo configuration (YAML or JSON).

    trajectory:tool-used         reference, superset; `min` repeats the tool, `max` is counted with `cel`;
                                 not-: never
    trajectory:tool-sequence     reference, ordered; `mode: exact` exact
    trajectory:tool-args-match   reference, superset, the listed arguments equal; `mode: exact` all of them
    trajectory:step-count        counted with `cel` (tool steps only)

A test gives one case per inline prompt, `{{variables}}` filled in; without inline prompts the text is the variable
called prompt, question, query, input or message. `defaultTest` assertions are added. Patterns with `*`, negated
sequences and assertions on the text are not carried over, and said. Partial arguments compare top-level arguments;
promptfoo also compares nested objects and lists partially.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import re2

from otel_toolselect.errors import InputError
from otel_toolselect.suites.document import Imported, exactly, unique
from otel_toolselect.suites.importing import Source

_VARIABLE = re2.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_TEXTS = ("prompt", "question", "query", "input", "message", "request")
_PREFIX = "trajectory:"


class _Promptfoo:
    name = "promptfoo"
    about = "promptfoo configurations: trajectory assertions on tools"

    def read(self, source: Source) -> Imported:
        config = source.plain()
        tests = config.get("tests") if isinstance(config, dict) else None
        if not isinstance(tests, list):
            raise InputError("a promptfoo configuration holds a list called tests", where=source.where)
        found = Imported(source.stem, [])
        if isinstance(config.get("description"), str) and config["description"]:
            found.suite = config["description"]
        prompts = [p for p in map(_inline, _list(config.get("prompts"))) if p]
        shared = _list(_dict(config.get("defaultTest")).get("assert"))
        taken: set[str] = set()
        for i, test in enumerate(tests):
            source.step()
            place = f"{source.where}: tests[{i}]"
            if not isinstance(test, dict):
                raise InputError("a test must be a mapping (tests in other files are not followed)", where=place)
            expect = _Expect(place, found.notes)
            for assertion in [*shared, *_list(test.get("assert"))]:
                expect.add(_dict(assertion))
            if not expect.made:
                found.notes.append(f"{place}: no trajectory assertion, left out")
                continue
            for text in _texts(test, prompts):
                case_id = unique(str(test.get("description") or f"test-{i + 1}"), taken)
                taken.add(case_id)
                prompt = {"prompt": text} if text else {}
                found.cases.append({"id": case_id, **prompt, "expect": expect.written()})
        return found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, (str, dict)) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _inline(prompt: Any) -> str | None:
    text = prompt.get("raw") if isinstance(prompt, dict) else prompt
    return text if isinstance(text, str) and not text.startswith(("file://", "exec:")) else None


def _texts(test: Mapping[str, Any], prompts: list[str]) -> Iterator[str | None]:
    variables = _dict(test.get("vars"))
    if prompts:
        for prompt in prompts:
            yield _VARIABLE.sub(lambda m: str(variables.get(m.group(1), m.group(0))), prompt)
        return
    texts = [variables[k] for k in _TEXTS if isinstance(variables.get(k), str)]
    texts = texts or [v for v in variables.values() if isinstance(v, str)]
    yield texts[0] if texts else None


class _Expect:
    """What the assertions of one test come to."""

    def __init__(self, place: str, notes: list[str]) -> None:
        self.place = place
        self.notes = notes
        self.references: list[dict[str, Any]] = []
        self.used: list[str] = []
        self.never: list[str] = []
        self.cel: list[str] = []

    @property
    def made(self) -> bool:
        return bool(self.references or self.used or self.never or self.cel)

    def written(self) -> dict[str, Any]:
        references = list(self.references)
        if self.used:
            references.append({"calls": self.used, "mode": "superset"})
        parts = {"reference": references, "never": self.never, "cel": self.cel}
        return {key: value for key, value in parts.items() if value}

    def add(self, assertion: Mapping[str, Any]) -> None:
        kind = str(assertion.get("type") or "")
        negated = kind.startswith("not-")
        plain = kind.removeprefix("not-").removeprefix(_PREFIX)
        value = assertion.get("value")
        if kind == "assert-set":
            for inner in _list(assertion.get("assert")):
                self.add(_dict(inner))
        elif plain == "tool-used":
            for entry in _list(value):
                self._used(entry, negated)
        elif plain == "tool-sequence" and not negated:
            self._sequence(value)
        elif plain == "tool-args-match" and not negated:
            self._args(_dict(value))
        elif plain == "step-count" and not negated:
            self._steps(_dict(value))
        else:
            self._left_out(kind or "an assertion without a type")

    def _left_out(self, what: str) -> None:
        self.notes.append(f"{self.place}: {what} is not carried over")

    def _name(self, entry: Any) -> str | None:
        name = entry if isinstance(entry, str) else _dict(entry).get("name") or _dict(entry).get("pattern")
        if not isinstance(name, str) or not name:
            raise InputError("a trajectory assertion names no tool", where=self.place)
        name = name.removeprefix("tool:")
        if "*" in name or "?" in name:
            self._left_out(f"the pattern {name!r}")
            return None
        return name

    def _used(self, entry: Any, negated: bool) -> None:
        name = self._name(entry)
        if name is None:
            return
        least, most = _dict(entry).get("min", 1), _dict(entry).get("max")
        if negated or most == 0:
            self.never.append(name)
            return
        self.used += [name] * (least if isinstance(least, int) else 1)
        if isinstance(most, int):
            self.cel.append(f"size(calls.filter(c, c.name == {_quoted(name)})) <= {most}")

    def _sequence(self, value: Any) -> None:
        steps = value if isinstance(value, list) else _list(_dict(value).get("steps"))
        names = [self._name(s) for s in steps]
        calls = [n for n in names if n is not None]
        if len(calls) < len(names):
            return
        if not calls:
            raise InputError("trajectory:tool-sequence lists no step", where=self.place)
        exact = _dict(value).get("mode") == "exact"
        self.references.append({"calls": calls, "mode": "exact" if exact else "ordered"})

    def _args(self, value: Mapping[str, Any]) -> None:
        name = self._name(value)
        args = value.get("args", value.get("arguments"))
        if not isinstance(args, dict):
            raise InputError("trajectory:tool-args-match has no args", where=self.place)
        if name is not None:
            call = {"tool": name, "args": {k: exactly(v) for k, v in args.items()}}
            matching = "exact" if value.get("mode") == "exact" else "listed"
            self.references.append({"calls": [call], "mode": "superset", "matching": matching})

    def _steps(self, value: Mapping[str, Any]) -> None:
        if value.get("type") not in (None, "tool") or value.get("pattern"):
            self._left_out("trajectory:step-count of other than tool steps")
            return
        for key, sign in (("min", ">="), ("max", "<=")):
            if isinstance(value.get(key), int):
                self.cel.append(f"size(calls) {sign} {value[key]}")


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


PLUGIN = _Promptfoo()
