"""`cel`: expressions of the Common Expression Language, for what the vocabulary cannot say. All of them must be true.

    cel:
      - size(calls.filter(c, c.name == 'search_orders')) <= 2
      - {expr: "duration_s < 5.0", says: answered within five seconds, layer: efficiency}

An expression reads `calls` (each `name`, `args`, `turn`, `seq`, `ok`, `effect`, `result`, `error_type`, `emitted`,
`executed`; what the trace does not say is null), `request`, `answer` (a text, empty when there is none),
`first_action`, `outcome`, `tools_offered`, `duration_s`, `tokens`, `cost_usd`, `agent` and `model`. `layer` is
selection unless given.

Expressions are compiled at load, where syntax, unknown names and unbounded work are errors. CEL has no loops but its
macros (`all`, `exists`, `exists_one`, `map`, `filter`), and nesting them multiplies: so at most two stand within one
another, `MAX_LENGTH` bounds the lists that an expression writes itself, and a run whose calls would make more than
`MAX_STEPS` evaluations is not evaluated (needs_review). An expression that fails at run time, or gives no boolean, is
needs_review with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import re2

from otel_toolselect.model.runs import Run, Unknown
from otel_toolselect.model.verdicts import LAYERS, Finding, Layer
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.extras import available
from otel_toolselect.rules.kinds._cel_calls import names_asked
from otel_toolselect.rules.problems import Problems, suggest
from otel_toolselect.rules.sources import leaves
from otel_toolselect.rules.view import CallView, RunView

NAME = "cel"
MAX_LENGTH = 2_000
MAX_NESTING = 2
MAX_STEPS = 100_000
_MAX_DEPTH = 40
_MACROS = ("all", "exists", "exists_one", "map", "filter")
# texts first (raw ones have no escapes), so that nothing inside them is taken for a macro, and nothing hidden by them
_TOKEN = re2.compile(
    r"""(?s)[rR][bB]?(?:\"[^"]*"|'[^']*')|\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
    r"""|//[^\n]*|[A-Za-z_][A-Za-z0-9_]*|[()\[\]{},.]"""
)


@dataclass(frozen=True, slots=True)
class Expression:
    """`nesting`: macros at the deepest nesting; `longest`: elements of the longest list that it writes; `reads`: the
    variables; `about`: names of the calls that matter, None for any.
    """

    text: str
    says: str
    layer: Layer
    nesting: int
    longest: int
    program: Any = field(compare=False, repr=False)
    reads: frozenset[str] = frozenset()
    about: frozenset[str] | None = None
    idle: list[Finding] = field(default_factory=list, compare=False, repr=False)
    passed: list[Finding] = field(default_factory=list, compare=False, repr=False)

    def judge(self, view: RunView) -> Finding:
        """Of a run that calls none of the tools that it is about, it says the same each time, and is asked once."""
        if self.about is None or self.reads != _CALLS or not self.about.isdisjoint(view.seen.names):
            return self._judged(view)
        if not self.idle:
            self.idle.append(self._judged(view))
        return self.idle[0]

    def _judged(self, view: RunView) -> Finding:
        evidence: dict[str, object] = {"cel": [self.text]}
        calls = [c for c in view.calls if self.about is None or c.name in self.about]
        steps = max(self.longest, size_of(view, calls)) ** max(1, self.nesting)
        if steps > MAX_STEPS:
            why = f"not evaluated: some {steps:,} steps over this run, the limit is {MAX_STEPS:,}"
            return Finding(NAME, self.layer, "needs_review", f"{self.says}: {why}", evidence)
        try:
            value = self.program.execute(self._context(view, calls))
        except BaseException as error:  # a panic in the library is no Exception
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            why = f"cannot be evaluated: {clip(str(error), 200)}"
            return Finding(NAME, self.layer, "needs_review", f"{self.says}: {why}", evidence)
        if value is True:
            return self._true()
        if value is False:
            return Finding(NAME, self.layer, "fail", f"{self.says}: false", evidence)
        why = f"gives {clip(str(value))}, not true or false"
        return Finding(NAME, self.layer, "needs_review", f"{self.says}: {why}", evidence)

    def _true(self) -> Finding:
        """The commonest finding, made once."""
        if not self.passed:
            self.passed.append(Finding(NAME, self.layer, "pass", f"{self.says}: true", {"cel": [self.text]}))
        return self.passed[0]

    def _context(self, view: RunView, calls: Sequence[CallView]) -> Any:
        """What it reads of the run, turned into CEL's values once for all expressions that read the same."""
        import cel  # late: an extra

        key = ("cel", self.reads, self.about)
        context = view.memo.get(key)
        if context is None:
            context = view.memo[key] = cel.Context(variables=context_of(view, self.reads, calls))
        return context


@dataclass(frozen=True, slots=True)
class CelCheck:
    expressions: tuple[Expression, ...]
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        return [e.judge(view) for e in self.expressions]


def size_of(view: RunView, calls: Sequence[CallView]) -> int:
    """The most elements that a macro may go over: calls, or the values of one call's arguments or result."""
    sizes = [len(calls), len(view.run.tools or ())]
    for c in calls:
        sizes.append(_leaves(c.args))
        sizes.append(_leaves(c.result.value) if c.result is not None else 0)
    return max(sizes)


def _leaves(value: Any) -> int:
    return len(leaves(value)) if isinstance(value, (dict, list)) else 1


def _known(value: Any) -> Any:
    return None if isinstance(value, Unknown) else value


_READERS: dict[str, Callable[[RunView], Any]] = {
    "request": lambda view: view.run.request or "",
    "answer": lambda view: view.final_text,
    "first_action": lambda view: view.first_action,
    "outcome": lambda view: view.label,
    "tools_offered": lambda view: list(view.run.tools_offered or ()),
    "duration_s": lambda view: None if view.run.duration_ns is None else view.run.duration_ns / 1e9,
    "tokens": lambda view: _tokens(view.run),
    "cost_usd": lambda view: view.run.cost_usd,
    "agent": lambda view: view.run.agent,
    "model": lambda view: view.run.model,
}
_CALLS = frozenset({"calls"})
_VARIABLES = _CALLS | _READERS.keys()


def context_of(view: RunView, reads: Iterable[str], calls: Iterable[CallView]) -> dict[str, Any]:
    """The variables that are read."""
    found = {name: _READERS[name](view) for name in reads if name != "calls"}
    return {**found, "calls": [_call(c) for c in calls]} if "calls" in reads else found


def _tokens(run: Run) -> int | None:
    known = [n for n in (run.input_tokens, run.output_tokens) if n is not None]
    return sum(known) if known else None


def _call(call: CallView) -> dict[str, Any]:
    result = call.result
    return {
        "name": call.name,
        "args": _known(call.args),
        "turn": call.turn,
        "seq": call.seq,
        "ok": call.ok,
        "effect": call.effect,
        "result": None if result is None else _known(result.value),
        "error_type": None if result is None else result.error_type,
        "emitted": call.call.emitted,
        "executed": call.call.executed,
    }


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        if not available("cel", "cel", key, "cel", draft.problems):
            return
        entries = draft.problems.items(node, NAME, example='["size(calls) <= 3"]')
        parsed = (_expression(entry, draft.problems) for entry in entries)
        draft.configs[NAME] = tuple(e for e in parsed if e is not None)

    def finish(self, draft: Draft) -> Check | None:
        found = draft.configs.get(NAME, ())
        return CelCheck(found) if found else None


def _expression(node: Node, problems: Problems) -> Expression | None:
    says, layer, source = None, "selection", node
    if isinstance(node, Fields):
        found = problems.fields(node, "an entry of cel", ("expr", "says", "layer"))
        if found is None or "expr" not in found:
            problems.add(node, "an entry of cel has no 'expr'", "write {expr: size(calls) <= 3}")
            return None
        source = found["expr"][1]
        says = problems.text(found["says"][1], "says") if "says" in found else None
        layer = problems.choice(found["layer"][1], "layer", LAYERS) or "" if "layer" in found else layer
    text = problems.text(source, "an expression of cel")
    if text is None or layer not in LAYERS:
        return None
    shape = _bounded(text, source, problems)
    program = _compiled(text, source, problems) if shape is not None else None
    if shape is None or program is None:
        return None
    reads = frozenset(program.variables()) & _VARIABLES
    return Expression(
        text, says or clip(text), next(n for n in LAYERS if n == layer), *shape, program, reads, names_asked(text)
    )


def _bounded(text: str, node: Node, problems: Problems) -> tuple[int, int] | None:
    """(nesting of macros, elements of the longest list) of an expression that can only take bounded time."""
    if len(text) > MAX_LENGTH:
        problems.add(node, f"an expression of {len(text):,} characters; the limit is {MAX_LENGTH:,}")
        return None
    opened: list[bool] = []
    nesting = depth = commas = 0
    before: tuple[str, str] = ("", "")
    for word in _words(text):
        if word in ("(", "[", "{"):
            opened.append(word == "(" and before[1] in _MACROS and before[0] == ".")
            nesting, depth = max(nesting, sum(opened)), max(depth, len(opened))
        elif word in (")", "]", "}") and opened:
            opened.pop()
        commas += word == ","
        before = (before[1], word)
    if depth > _MAX_DEPTH:
        problems.add(node, f"an expression nested deeper than {_MAX_DEPTH} levels")
        return None
    if nesting > MAX_NESTING:
        said = f"{nesting} macros within one another might not end; the limit is {MAX_NESTING}"
        problems.add(node, said, "split the expression")
        return None
    return nesting, commas + 1


def _words(text: str) -> list[str]:
    """Names, texts and brackets, comments left out."""
    return [word for word in _TOKEN.findall(text) if not word.startswith("//")]


def _compiled(text: str, node: Node, problems: Problems) -> Any:
    import cel  # late: an extra

    try:
        program = cel.compile(text)
    except BaseException as error:  # whatever the parser raises, panics too, is a mistake in the file
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        said = str(error).split(": ERROR: ")[-1].splitlines()[0] if str(error) else type(error).__name__
        problems.add(node, f"cel cannot read {clip(text, 60)!r}: {clip(said, 160)}")
        return None
    names = set(program.variables()) - _VARIABLES - _bound(text)
    for name in sorted(names):
        problems.add(node, f"cel does not know {clip(name)!r}", suggest(name, _VARIABLES))
    return None if names else program


def _bound(text: str) -> set[str]:
    """The names that macros bind: the word after `.map(` and its like."""
    words = _words(text)
    return {words[i + 2] for i in range(len(words) - 2) if words[i] in _MACROS and words[i + 1] == "("}


PLUGIN = _Kind()
