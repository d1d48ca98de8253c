"""`{text: T}`: the same text after normalizing (R26): Unicode form, case, spacing.

Options narrow it: `unicode: NFC` (default NFKC), `ignore_case: false`, `ignore_space: false`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope
from otel_toolselect.rules.normal import Form, normal

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True, slots=True)
class Text:
    wanted: str
    form: Form
    fold: bool
    spaces: bool
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if isinstance(value, str) and normal(value, form=self.form, fold=self.fold, spaces=self.spaces) == self.wanted:
            return None
        return f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "text"
    options = frozenset({"unicode", "ignore_case", "ignore_space"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        problems = draft.problems
        text = problems.text(node, "text")
        form = problems.choice(options["unicode"], "unicode", _FORMS) if "unicode" in options else "NFKC"
        flags = {
            name: problems.boolean(options[name], name) if name in options else True
            for name in ("ignore_case", "ignore_space")
        }
        fold, spaces = flags["ignore_case"], flags["ignore_space"]
        if text is None or form is None or fold is None or spaces is None:
            return None
        chosen = cast("Form", form)
        wanted = normal(text, form=chosen, fold=fold, spaces=spaces)
        return Text(wanted, chosen, fold, spaces, f"the text {brief(text)} (normalized)")


PLUGIN = _Kind()
