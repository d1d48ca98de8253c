"""`matching: bfcl`: the comparison rules of the Berkeley function-calling leaderboard's syntax-tree checker.

- strict types: `5` is an integer and neither 5.0 nor true; a number written with a fraction (`5.0`) is a float, for
  which an integer will do; a boolean is only a boolean;
- normalized strings: as `{loose: TEXT}` compares them; write `{literal: TEXT}` where the spelling counts;
- any order, exact count: references are `unordered` unless they name a mode;
- optional values: an argument may be left out only with `optional: true`, and one that is not listed may not be given.

The offered schema is not judged beside: the leaderboard's types are those of its answers (a variable's name may stand
for a number), and it compares no enumerations.
"""

from __future__ import annotations

from otel_toolselect.rules._literal import Literal
from otel_toolselect.rules._nodes import Scalar
from otel_toolselect.rules.match.loose import Loose
from otel_toolselect.rules.match.typed import Typed
from otel_toolselect.rules.profile import Comparer, Profile


def _scalar(node: Scalar) -> Comparer:
    if isinstance(node.value, str):
        return Loose.of(node.value)
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return Typed(node.value)
    return Literal.of(node)


PLUGIN = Profile("bfcl", _scalar, closed=True, schema=False, mode="unordered")
