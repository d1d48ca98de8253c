"""A file -> a Suite, or one SuiteError with all of its mistakes, each with file, line, column and a way out.

`.jsonl` files, and `.json` files whose first character is `[` or that hold several JSON lines, are the tiny forms;
everything else is YAML (JSON is YAML). Reading is bounded: size, depth, values and pattern lengths have limits.
"""

from __future__ import annotations

from pathlib import Path

from otel_toolselect.errors import InputError, SuiteError
from otel_toolselect.rules._json import read_json
from otel_toolselect.rules._nodes import Fields, Node, clip
from otel_toolselect.rules._yaml import MAX_BYTES, read_yaml
from otel_toolselect.rules.cases import parse_case
from otel_toolselect.rules.policy import Policy, parse_policy
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.profile import JSON_VALUES, Profile, parse_matching
from otel_toolselect.rules.suite import Case, Suite
from otel_toolselect.rules.tiny import parse_tiny, read_lines, read_list

_KEYS = ("suite", "version", "policy", "cases", "matching")


def load_suite(path: str | Path) -> Suite:
    """Reads a suite of any form. Raises SuiteError with every problem, InputError when the file cannot be read."""
    return parse_suite(read_text(path), path=str(path))


def parse_suite(text: str, *, path: str) -> Suite:
    """The same from a text; the form follows from the path's ending and the first character."""
    problems = Problems(path)
    nodes = _tiny_nodes(text, path, problems)
    if nodes is not None:
        suite = _tiny_suite(nodes, path, problems)
    else:
        body = text.removeprefix("\ufeff")
        root = read_json(body) or read_yaml(body, problems)
        suite = _suite(root, path, problems)
    if problems.found:
        raise SuiteError(list(dict.fromkeys(problems.found)))
    return suite


def read_text(path: str | Path) -> str:
    """The text of a user's file, bounded. Raises InputError, with the path, on what cannot be read."""
    where, path = str(path), Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"{size:,} bytes, a suite file may have {MAX_BYTES:,}", where=where)
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"not UTF-8 at byte {error.start}", where=f"{where}:{line}") from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=where) from error


def _tiny_nodes(text: str, path: str, problems: Problems) -> list[Node] | None:
    """The records of a tiny form, None when the file is a YAML (or JSON) suite."""
    ending = Path(path).suffix.lower()
    body = text.removeprefix("\ufeff")
    start = body.lstrip()[:1]
    if ending == ".jsonl" or (ending == ".json" and start == "{" and _is_lines(body)):
        return read_list(body, problems) if start == "[" else read_lines(body, problems)
    return read_list(body, problems) if ending == ".json" and start == "[" else None


def _is_lines(body: str) -> bool:
    """Several objects, one per line, in a file called .json; or one object that has no `cases`."""
    first, _, rest = body.strip().partition("\n")
    first = first.strip()
    return first.endswith("}") and (rest.lstrip().startswith("{") or (not rest and '"cases"' not in first))


def _tiny_suite(nodes: list[Node], path: str, problems: Problems) -> Suite:
    cases = parse_tiny(nodes, problems)
    if not nodes and not problems.found:
        problems.at(1, 1, "suite has no cases", 'write one JSON object per line: {"prompt": "...", "expected": "TOOL"}')
    return Suite(Path(path).stem, tuple(cases), path=path)


def _suite(root: Node | None, path: str, problems: Problems) -> Suite:
    empty = Suite("", (), path=path)
    if root is None:
        if not problems.found:
            problems.at(1, 1, "suite has no cases: the file is empty", "write suite: NAME and cases: [...]")
        return empty
    if isinstance(root, Fields) and root.get("rules") is not None and root.get("suite") is None:
        said = "this is a rules file, for traffic without labels"
        problems.add(root, said, "write suite: NAME, or see `toolselect rules --help`")
        return empty
    found = problems.fields(root, "the suite", _KEYS)
    if found is None:
        return empty
    name = problems.text(found["suite"][1], "suite") if "suite" in found else None
    if "suite" not in found and "cases" in found:
        problems.add(root, "the suite has no name", "write suite: NAME")
    version = problems.text(found["version"][1], "version") if "version" in found else None
    profile = parse_matching(found["matching"][1], problems) if "matching" in found else None
    policy = parse_policy(found["policy"][1] if "policy" in found else None, version or "", problems)
    cases = _cases(found["cases"][1], policy, problems, profile or JSON_VALUES) if "cases" in found else []
    if "cases" not in found:
        problems.add(root, "suite has no cases", "write cases: [...]")
    return Suite(name or "", tuple(cases), policy, version or "", path)


def _cases(node: Node, policy: Policy, problems: Problems, profile: Profile) -> list[Case]:
    entries = problems.items(node, "cases", example="[{id: ..., prompt: ..., expect: {...}}]")
    if not entries:
        problems.add(node, "suite has no cases", "a suite without cases proves nothing")
    found: list[Case] = []
    lines: dict[str, int] = {}
    for entry in entries:
        case = parse_case(entry, policy, problems, profile)
        if case is None:
            continue
        if case.id in lines:
            first = lines[case.id]
            said = f"the case id {clip(case.id)!r} stands twice"
            problems.add(_id_node(entry), said, f"first on line {first}; ids are unique")
            continue
        lines[case.id] = case.line
        found.append(case)
    return found


def _id_node(entry: Node) -> Node:
    return (entry.get("id") if isinstance(entry, Fields) else None) or entry
