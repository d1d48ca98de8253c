"""The tiny forms (R11): `{"prompt", "expected"}` and `{"id", "request", "expected", "env"}`, JSON lines or one JSON
list.

`expected` is a tool, a no-call label, or a list of allowed ones; `none` (or null) means any outcome without a call.
There is no policy: names are taken as they are. A line without an id gets one from its text and a digest of it, which
other lines do not change; the second line with the same text gets `-2`, and so on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.rules._nodes import Node, Scalar, clip, from_json
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.expect import compile_expectation
from otel_toolselect.rules.policy import Policy
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, Tool
from otel_toolselect.rules.suite import Case

_KEYS = ("id", "prompt", "request", "expected", "env")
_MAX_DEPTH = 64


def read_lines(text: str, problems: Problems) -> list[Node]:
    """One JSON value per line; blank lines are skipped."""
    found: list[Node] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            _decode(line, number, 1, problems, found)
    return found


def read_list(text: str, problems: Problems) -> list[Node]:
    """The elements of one JSON list, each with its own position."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        _bad(error, 1, problems)
        return []
    if not isinstance(whole, list):
        problems.at(1, 1, "the file must hold a JSON list of cases")
        return []
    return [
        _node(value, line, column, problems) for value, (line, column) in zip(whole, _positions(text), strict=False)
    ]


def _decode(line: str, number: int, column: int, problems: Problems, found: list[Node]) -> None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        _bad(error, number, problems)
        return
    found.append(_node(value, number, column, problems))


def _bad(error: Exception, line: int, problems: Problems) -> None:
    if isinstance(error, json.JSONDecodeError):
        problems.at(line + error.lineno - 1, error.colno, f"not valid JSON: {error.msg}")
    else:
        problems.at(line, 1, f"not readable JSON: {clip(str(error))}")


def _node(value: object, line: int, column: int, problems: Problems) -> Node:
    if _depth(value) > _MAX_DEPTH:
        problems.at(line, column, f"nested deeper than {_MAX_DEPTH} levels")
        value = None
    return from_json(value, line, column)  # type: ignore[arg-type]


def _depth(value: object) -> int:
    """Depth of a JSON value, without recursion: hostile input may be deep."""
    deepest, stack = 0, [(value, 0)]
    while stack:
        top, depth = stack.pop()
        deepest = max(deepest, depth)
        if isinstance(top, dict):
            stack += [(v, depth + 1) for v in top.values()]
        elif isinstance(top, list):
            stack += [(v, depth + 1) for v in top]
    return deepest


def _positions(text: str) -> Iterator[tuple[int, int]]:
    """Line and column of each element of the JSON list that `text` is known to be."""
    decoder = json.JSONDecoder()
    at, line, start = text.index("[") + 1, 1, 0
    line += text.count("\n", 0, at)
    start = text.rfind("\n", 0, at) + 1
    while True:
        before = at
        while text[at] in " \t\r\n,":
            at += 1
        line += text.count("\n", before, at)
        start = max(start, text.rfind("\n", 0, at) + 1)
        if text[at] == "]":
            return
        yield line, at - start + 1
        _, end = decoder.raw_decode(text, at)
        line += text.count("\n", at, end)
        at = end


def parse_tiny(nodes: list[Node], problems: Problems) -> list[Case]:
    """Cases of the records; every mistake is recorded."""
    taken: dict[str, int] = {}
    used: set[str] = set()
    found = []
    for node in nodes:
        case = _case(node, problems, taken, used)
        if case is not None:
            found.append(case)
    return found


def _case(node: Node, problems: Problems, taken: dict[str, int], used: set[str]) -> Case | None:
    fields = problems.fields(node, "a case", _KEYS)
    if fields is None:
        return None
    prompt_key = next((k for k in ("prompt", "request") if k in fields), None)
    if prompt_key is None:
        problems.add(node, "a case has no prompt", 'write {"prompt": "...", "expected": "TOOL"}')
    if "expected" not in fields:
        problems.add(node, "a case has no expected action", 'write {"prompt": "...", "expected": "TOOL"}')
    if prompt_key is None or "expected" not in fields:
        return None
    prompt = problems.text(fields[prompt_key][1], prompt_key)
    first = _expected(fields["expected"][1], problems)
    env = problems.text(fields["env"][1], "env") if "env" in fields else None
    written = problems.text(fields["id"][1], "id") if "id" in fields else None
    if prompt is None or not first:
        return None
    case_id = written if written is not None else _made_id(prompt, taken)
    if case_id in used:
        problems.add(node, f"the case id {clip(case_id)!r} stands twice", "give each case an id of its own")
        return None
    used.add(case_id)
    draft = Draft(problems, Policy())
    draft.configs["first"] = first
    return Case(case_id, compile_expectation(draft), prompt=prompt, env=env, line=node.line)


def _expected(node: Node, problems: Problems) -> tuple[Selector, ...]:
    if isinstance(node, Scalar):
        if node.value is None:
            return (NoCallOutcome("none", any_label=True),)
        text = problems.text(node, "expected")
        return (_selector(text),) if text is not None else ()
    texts = [text for text, _ in problems.texts(node, "expected")]
    if not texts:
        problems.add(node, "expected allows no action", 'write a tool, "none", "ask_followup" or "refuse_no_tool"')
    return tuple(dict.fromkeys(_selector(text) for text in texts))


def _selector(text: str) -> Selector:
    if text in NO_CALL_LABELS:
        return NoCallOutcome(text, any_label=text == "none")
    return Tool(text)


def _made_id(prompt: str, taken: dict[str, int]) -> str:
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in prompt.lower()).split()
    short = "-".join(words[:5])[:40].strip("-")
    digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    base = f"{short}-{digest}" if short else digest
    taken[base] = taken.get(base, 0) + 1
    return base if taken[base] == 1 else f"{base}-{taken[base]}"
