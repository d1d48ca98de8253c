"""`answer`: what the final answer must hold (R34), outcome layer.

- `contains`, `not_contains`: phrases, blind to case, Unicode form and spacing, from the start of a word; a phrase that
  is a number is found in any spelling.
- `cites_results: true`: the answer holds at least one *telling* value that a call of the run returned: a number of two
  digits or more, or with a fraction, or a text of three characters or more. Failed calls return nothing. Without any
  such value there was nothing to cite, and the check fails as well.
- `consistent: true` (implied by `cites_results`): the answer contradicts no returned value, as far as that can be told
  without reading: (a) a member's name followed closely by another number ("the total is 89.90", returned
  `{"total": 79.9}`); (b) an id that looks like returned ones, same letters, same digits, but is none of them. A value
  that stands anywhere in the conversation, in arguments or in results contradicts nothing. Other contradictions need a
  judge.

The first 50,000 characters of the answer and the first 5,000 returned values are compared. A run without a final text
fails by what is missing, so an incomplete one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.remembered import remembered
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.normal import has_phrase, normal
from otel_toolselect.rules.sources import ID, Leaf, Source, id_shape, leaves, readings
from otel_toolselect.rules.view import RunView

NAME = "answer"
_LAYER: Layer = "outcome"
_NEAR = 24  # characters between a member's name and the value that is said of it
_SHORTEST = 3
_READ = 50_000  # characters of an answer, and returned values, that are compared: their product is the work
_VALUES = 5_000
_STATED = re.compile(rf"^[^0-9.;!?\n]{{0,{_NEAR}}}?([0-9][0-9.,'’]*)")
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    contains: tuple[str, ...]
    not_contains: tuple[str, ...]
    cites: bool
    consistent: bool
    name: str = NAME
    layer: Layer = _LAYER
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if not view.final_text:
            absent: dict[str, object] = {"missing": ["a final answer"]}
            return (Finding(NAME, _LAYER, "fail", "the run has no final answer", absent),)
        answer = Source([view.final_text[:_READ]])
        faults: list[str] = []
        evidence: dict[str, Any] = {}
        lacking = [p for p in self.contains if not _says(answer, p)]
        if lacking:
            evidence["not_said"] = lacking
            faults.append(f"the answer does not say {' or '.join(map(repr, lacking))}")
        banned = [p for p in self.not_contains if _says(answer, p)]
        if banned:
            evidence["said_but_forbidden"] = banned
            faults.append(f"the answer says {' and '.join(map(repr, banned))}")
        if self.cites:
            self._cite(view, answer, evidence, faults)
        if self.consistent:
            wrong = contradictions(view, answer)
            if wrong:
                evidence["contradictions"] = wrong
                faults += [f"the answer says {w['said']} where {w['where']} returned {w['returned']}" for w in wrong]
        if faults:
            return (Finding(NAME, _LAYER, "fail", "; ".join(faults), evidence),)
        return (Finding(NAME, _LAYER, "pass", "the answer says what it must", evidence),)

    def _cite(self, view: RunView, answer: Source, evidence: dict[str, Any], faults: list[str]) -> None:
        values = [leaf for _, _, leaf in returned(view) if _telling(leaf)]
        cited = next((v for v in values if answer.holds(v)), None)
        if cited is not None:
            evidence["cited"] = cited
        else:
            evidence["cited"] = None
            faults.append("the answer cites nothing that a tool returned" if values else "no tool returned a value")


def _says(answer: Source, phrase: str) -> bool:
    return has_phrase(answer.text, phrase) or (phrase[:1].isdigit() and answer.holds(phrase))


def _telling(value: Leaf) -> bool:
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return abs(value) >= 10 or value % 1 > 0
    return len(value.strip()) >= _SHORTEST


def returned(view: RunView) -> list[tuple[str, str, Leaf]]:
    """(tool, member, scalar) of what calls returned that did not fail."""
    known: list[tuple[str, str, Leaf]] | None = view.memo.get("returned")
    if known is None:
        known = view.memo["returned"] = []
        for call in view.calls:
            result = call.result
            if result is not None and call.ok is not False and not isinstance(result.value, Unknown):
                known += [(call.name, key, leaf) for key, leaf in leaves(result.value)[: _VALUES - len(known)]]
    return known


def contradictions(view: RunView, answer: Source) -> list[dict[str, Any]]:
    """What the answer says against a returned value; see the module's definition."""
    values = returned(view)
    if not values:
        return []
    suspects = _misstated(values, answer) + _strange_ids(values, answer)
    if not suspects:
        return []
    known = _known(view)
    wrong = [w for w in suspects if not known.holds(w["token"])]
    return [{k: v for k, v in w.items() if k != "token"} for w in {w["said"]: w for w in wrong}.values()]


def _known(view: RunView) -> Source:
    """Everything that the answer may rightly hold: conversation, arguments, results."""
    texts = list(view.conversation)
    values: list[Any] = [c.args for c in view.calls if not isinstance(c.args, Unknown)]
    values += [c.result.value for c in view.calls if c.result and not isinstance(c.result.value, Unknown)]
    return Source([*texts, Source.of_values(values).text])


def _misstated(values: Sequence[tuple[str, str, Leaf]], answer: Source) -> list[dict[str, Any]]:
    """(a): a number said of a member that no call returned for it."""
    numbers: dict[str, tuple[str, list[float]]] = {}
    for tool, key, leaf in values:
        if isinstance(leaf, (int, float)) and not isinstance(leaf, bool):
            label = _label(key)
            if label in answer.text and len(label) >= _SHORTEST:
                numbers.setdefault(label, (f"{tool}.{key}", []))[1].append(leaf)
    found = []
    for label, (where, right) in numbers.items():
        at = answer.text.find(label)
        while at >= 0:
            stated = _STATED.search(answer.text[at + len(label) : at + len(label) + _NEAR + 40])
            token = stated.group(1).rstrip(".,'’") if stated is not None else ""
            if token and not readings(token).intersection(right):
                found.append({"said": f"{label} {token}", "where": where, "returned": right[0], "token": token})
            at = answer.text.find(label, at + 1)
    return found


@remembered(4_096, 256)
def _label(key: str) -> str:
    """A member's name in words: `itemCount` and `item_count` as `item count`."""
    return normal(_CAMEL.sub(r"\1 \2", key).replace("_", " ").replace("-", " "))


def _strange_ids(values: Sequence[tuple[str, str, Leaf]], answer: Source) -> list[dict[str, Any]]:
    """(b): an id of a returned one's shape that is known from nowhere."""
    tokens = {t for t in ID.findall(answer.text) if not t.isalpha() and not t.isdigit()}
    if not tokens:
        return []
    texts = [(f"{tool}.{key}", leaf) for tool, key, leaf in values if isinstance(leaf, str) and not leaf.isalpha()]
    tokens.difference_update([normal(leaf) for _, leaf in texts])
    if not tokens:
        return []
    shapes: dict[str | None, tuple[str, str]] = {}
    for where, leaf in texts:
        shapes.setdefault(id_shape(leaf), (where, leaf))
    shapes.pop(None, None)
    found = []
    for token in sorted(tokens):
        shape = id_shape(token)
        if shape in shapes:
            where, leaf = shapes[shape]
            found.append({"said": token, "where": where, "returned": leaf, "token": token})
    return found


_KEYS = ("contains", "not_contains", "cites_results", "consistent")


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found = draft.problems.fields(node, NAME, _KEYS)
        if found is None:
            return
        if not found:
            draft.problems.add(node, "answer expects nothing", "write answer: {contains: [...]}")
        phrases = {name: _phrases(found[name][1], name, draft) for name in _KEYS[:2] if name in found}
        both = set(phrases.get("contains", ())) & set(phrases.get("not_contains", ()))
        if both:
            draft.problems.add(node, f"answer wants and forbids {sorted(both)[0]!r}")
        flags: Mapping[str, bool | None] = {
            name: draft.problems.boolean(found[name][1], f"answer.{name}") for name in _KEYS[2:] if name in found
        }
        cites = bool(flags.get("cites_results"))
        consistent = flags.get("consistent", cites)
        draft.configs[NAME] = AnswerCheck(
            phrases.get("contains", ()), phrases.get("not_contains", ()), cites, bool(consistent)
        )

    def finish(self, draft: Draft) -> Check | None:
        check: AnswerCheck | None = draft.configs.get(NAME)
        return check


def _phrases(node: Node, what: str, draft: Draft) -> tuple[str, ...]:
    found = []
    for text, item in draft.problems.texts(node, f"answer.{what}"):
        phrase = normal(text)
        if phrase:
            found.append(phrase)
        else:
            draft.problems.add(item, f"an entry of answer.{what} holds no word")
    return tuple(found)


PLUGIN = _Kind()
