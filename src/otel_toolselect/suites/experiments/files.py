"""Experiment files: what is held, what is varied. Every mistake with its place.

    experiment: tools of the shop
    suite: suite.yaml                  # paths are relative to this file
    catalog: tools.json                # what is offered without any variation
    system: system.txt                 # default: the instructions in the catalog file, if any
    attempts: 3
    models:                            # the first is the one that others are held against
      - {name: gpt-4o-mini, base_url: https://api.openai.com/v1, key: OPENAI_API_KEY}    # a variable's name, no key
      - {name: llama, base_url: http://127.0.0.1:8000/v1}
    vary:
      - {name: reworded, descriptions: {refund_order: Pays money back. Needs an order id.}}
      - {name: new tools, catalog: tools-v2.json}
      - {name: size, distractors: others.json, size: [10, 20, 40]}
      - {name: retrieval, distractors: others.json, size: 40, retrieve: bm25, keep: [3, 5, 10], against: size 40}
      - {name: order, order: [1, 2, 3]}

One of `size`, `keep` and `order` may be a list: each of its values is a setting of its own, named with its value.
`against` names a setting further up; without it a setting is held against the base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from otel_toolselect.errors import InputError, SuiteError
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.rules.documents import Fields, Items, Node, Problems, read_document
from otel_toolselect.suites.runner.catalogs import Offer, read_offer

_KEYS = ("experiment", "suite", "catalog", "system", "attempts", "models", "vary")
_MODEL = ("name", "base_url", "key", "provider", "label")
_VARY = ("name", "catalog", "descriptions", "distractors", "size", "order", "retrieve", "keep", "against")
_LISTED = ("size", "keep", "order")


@dataclass(frozen=True, slots=True)
class Model:
    """`key` is the name of the environment variable that holds it."""

    name: str
    base_url: str
    key: str | None = None
    provider: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What is offered; every field left out is as in the base."""

    catalog: Offer | None = None
    descriptions: Mapping[str, str] = field(default_factory=dict)
    distractors: tuple[ToolDefinition, ...] = ()
    size: int | None = None
    order: int | None = None
    retrieve: str | None = None
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class Variation:
    """`settings` by the value that is varied, None where there is one setting. `against`: the name of the setting that
    they are held against, None for the base.
    """

    name: str
    settings: tuple[tuple[int | None, Setting], ...]
    against: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of its settings: the variation's, with the value where one is varied."""
        return tuple(self.name if value is None else f"{self.name} {value}" for value, _ in self.settings)


@dataclass(frozen=True, slots=True)
class Plan:
    name: str
    suite: str
    catalog: Offer
    system: str | None
    attempts: int
    models: tuple[Model, ...]
    variations: tuple[Variation, ...]


def load_experiment(path: str) -> Plan:
    """Raises InputError for files that cannot be read, SuiteError with every mistake."""
    root, problems = read_document(path)
    plan = _Reader(Path(path).parent, problems).plan(root)
    if problems.found or plan is None:
        raise SuiteError(problems.found)
    return plan


class _Reader:
    def __init__(self, folder: Path, problems: Problems) -> None:
        self._folder = folder
        self._problems = problems

    def plan(self, root: Node) -> Plan | None:
        problems = self._problems
        found = problems.fields(root, "an experiment", _KEYS)
        if found is None:
            return None
        for key, example in (
            ("suite", "suite.yaml"),
            ("catalog", "tools.json"),
            ("models", "[{name: ..., base_url: ...}]"),
        ):
            if key not in found:
                problems.add(root, f"the experiment has no {key}", f"write {key}: {example}")
        nodes = {key: node for key, (_, node) in found.items()}
        name = problems.text(nodes["experiment"], "experiment") if "experiment" in nodes else None
        suite = self._path(nodes["suite"], "suite") if "suite" in nodes else None
        catalog = self._offer(nodes["catalog"], "catalog") if "catalog" in nodes else None
        system = self._text_file(nodes["system"]) if "system" in nodes else catalog.system if catalog else None
        attempts = problems.whole(nodes["attempts"], "attempts", least=1) if "attempts" in nodes else 1
        models = self._models(nodes["models"]) if "models" in nodes else ()
        variations = self._variations(nodes["vary"], catalog) if "vary" in nodes else ()
        if not variations and len(models) < 2 and not problems.found:
            problems.add(root, "nothing is varied", "write vary: [...], or name several models")
        if suite is None or catalog is None:
            return None
        return Plan(name or Path(problems.path).stem, suite, catalog, system, attempts or 1, models, variations)

    def _models(self, node: Node) -> tuple[Model, ...]:
        models: list[Model] = []
        for entry in self._problems.items(node, "models", example="[{name: ..., base_url: ...}]"):
            found = self._problems.fields(entry, "a model", _MODEL)
            if found is None:
                continue
            texts = {key: self._problems.text(value, key) for key, (_, value) in found.items()}
            for key in ("name", "base_url"):
                if key not in found:
                    self._problems.add(entry, f"a model has no {key}")
            if all(texts.get(key) for key in ("name", "base_url")):
                models.append(Model(**{k: v for k, v in texts.items() if v is not None}))
        shown = [model.label or model.name for model in models]
        for twice in sorted({name for name in shown if shown.count(name) > 1}):
            self._problems.add(node, f"two models are called {twice!r}", "give each a label")
        return tuple(models)

    def _variations(self, node: Node, base: Offer | None) -> tuple[Variation, ...]:
        made: dict[str, Variation] = {}
        for entry in self._problems.items(node, "vary", example="[{name: size, distractors: FILE, size: [10, 20]}]"):
            found = self._problems.fields(entry, "a variation", _VARY)
            if found is None:
                continue
            nodes = {key: value for key, (_, value) in found.items()}
            name = self._problems.text(nodes["name"], "name") if "name" in nodes else None
            if name is None:
                if "name" not in nodes:
                    self._problems.add(entry, "a variation has no name", "write name: size")
                continue
            if name in made:
                self._problems.add(entry, f"two variations are called {name!r}")
            against = self._against(nodes["against"], made) if "against" in nodes else None
            made[name] = Variation(name, self._settings(entry, nodes, base), against)
        return tuple(made.values())

    def _against(self, node: Node, made: Mapping[str, Variation]) -> str | None:
        """A setting that stands further up."""
        names = [name for variation in made.values() for name in variation.names]
        if not names:
            self._problems.add(node, "against must name a setting further up, and there is none")
            return None
        return self._problems.choice(node, "against", names)

    def _settings(
        self, entry: Node, nodes: Mapping[str, Node], base: Offer | None
    ) -> tuple[tuple[int | None, Setting], ...]:
        problems = self._problems
        fixed: dict[str, Any] = {}
        listed: tuple[str, tuple[int, ...]] | None = None
        for key in _LISTED:
            if key in nodes and isinstance(nodes[key], Items):
                if listed is not None:
                    problems.add(nodes[key], f"{listed[0]} and {key} are both lists", "vary one of them")
                listed = (key, self._wholes(nodes[key], key))
            elif key in nodes:
                fixed[key] = problems.whole(nodes[key], key, least=0 if key == "order" else 1)
        if "catalog" in nodes:
            fixed["catalog"] = self._offer(nodes["catalog"], "catalog")
        if "distractors" in nodes:
            offer = self._offer(nodes["distractors"], "distractors")
            fixed["distractors"] = offer.tools if offer is not None else ()
        if "descriptions" in nodes:
            fixed["descriptions"] = self._descriptions(nodes["descriptions"], fixed.get("catalog") or base)
        if "retrieve" in nodes:
            fixed["retrieve"] = self._retriever(nodes["retrieve"])
        self._together(entry, nodes)
        if listed is None:
            return ((None, Setting(**fixed)),)
        key, values = listed
        return tuple((value, Setting(**{**fixed, key: value})) for value in values)

    def _together(self, entry: Node, nodes: Mapping[str, Node]) -> None:
        for one, other in (
            ("size", "distractors"),
            ("distractors", "size"),
            ("retrieve", "keep"),
            ("keep", "retrieve"),
        ):
            if one in nodes and other not in nodes:
                self._problems.add(nodes[one], f"{one} needs {other}")
        if not nodes.keys() - {"name", "against"}:
            self._problems.add(entry, "a variation varies nothing", f"known: {', '.join(_VARY[1:-1])}")

    def _wholes(self, node: Node, what: str) -> tuple[int, ...]:
        least = 0 if what == "order" else 1
        entries = self._problems.items(node, what)
        values = [self._problems.whole(entry, f"an entry of {what}", least=least) for entry in entries]
        if not entries:
            self._problems.add(node, f"{what} is an empty list")
        return tuple(dict.fromkeys(value for value in values if value is not None))

    def _descriptions(self, node: Node, offer: Offer | None) -> dict[str, str]:
        if not isinstance(node, Fields):
            self._problems.add(node, "descriptions must be a mapping", "write {TOOL: a new description}")
            return {}
        names = {tool.name for tool in offer.tools} if offer is not None else set()
        given = self._problems.fields(
            node, "descriptions (tools of the catalog)", names or [k.text for k, _ in node.entries]
        )
        texts = {name: self._problems.text(value, name) for name, (_, value) in (given or {}).items()}
        return {name: text for name, text in texts.items() if text is not None}

    def _retriever(self, node: Node) -> str | None:
        from otel_toolselect.suites.experiments.varied import retrievers

        return self._problems.choice(node, "retrieve", retrievers())

    def _path(self, node: Node, what: str) -> str | None:
        text = self._problems.text(node, what)
        return None if text is None else str(self._folder / text)

    def _offer(self, node: Node, what: str) -> Offer | None:
        path = self._path(node, what)
        try:
            return None if path is None else read_offer(path)
        except InputError as error:
            self._problems.add(node, str(error))
            return None

    def _text_file(self, node: Node) -> str | None:
        path = self._path(node, "system")
        try:
            return None if path is None else Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self._problems.add(node, f"{path} cannot be read: {error}")
            return None
