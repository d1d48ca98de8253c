"""The exact tier of R26: a value that must be equal, types strict, as JSON Schema compares
(`model.values.json_equal`)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from otel_toolselect.model.values import JSON, canonical, json_equal
from otel_toolselect.rules._nodes import Node, Scalar, to_json

_PLAIN = frozenset({str, int, float, bool, type(None)})


def brief(value: object, width: int = 120) -> str:
    """A value as JSON, short enough for a sentence."""
    text = canonical(value)  # type: ignore[arg-type]
    return text if len(text) <= width else text[: width - 1] + "…"


@dataclass(frozen=True, slots=True)
class Literal:
    """`unquoted`: an unquoted scalar that looks like a number, a boolean or null but keeps its text; explained if it
    differs."""

    value: JSON
    describe: str
    unquoted: bool = False
    absent_ok: bool = False
    json_only: bool = True

    @staticmethod
    def of(node: Node) -> Literal:
        value = to_json(node)
        unquoted = isinstance(node, Scalar) and node.plain and isinstance(value, str)
        return Literal(value, brief(value), unquoted)

    def mismatch(self, value: JSON, scope: object) -> str | None:
        wanted = self.value
        # of one plain type, Python's equality is JSON's
        same = value == wanted if type(value) is type(wanted) and type(value) in _PLAIN else json_equal(wanted, value)
        if same:
            return None
        return f"expected {self.describe}, got {brief(value)}{self._why(value)}"

    def _why(self, value: JSON) -> str:
        """What makes two values differ that look alike."""
        if isinstance(self.value, str) and isinstance(value, str):
            if unicodedata.normalize("NFC", self.value) == unicodedata.normalize("NFC", value):
                return " (they differ in Unicode form only; {text: ...} compares normalized)"
            if self.value.casefold() == value.casefold():
                return " (they differ in case only; {text: ...} compares normalized)"
            return ""
        if self.unquoted and not isinstance(value, (dict, list)):
            return f" (unquoted {self.describe[1:-1]} keeps its text; JSON writes the value differently)"
        if isinstance(self.value, str) != isinstance(value, str) and brief(self.value).strip('"') == brief(value).strip(
            '"'
        ):
            return " (a text is not a number or boolean)"
        return ""
