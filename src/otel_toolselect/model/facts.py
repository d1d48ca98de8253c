"""Facts of a run that no expectation decides: who answered, at what price, with which tools (R20, R22, R49).

They stand beside the verdicts, by run id, so that a comparison can show cost and latency beside accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is not recorded is None. Tool names are canonical (the policy's aliases merged).

    `tools_offered` None: no catalog was recorded, which is not an empty one. `tools_used`: called, each once.
    `effects`: of the used tools, those whose effect the policy declares. `redundant`: see `rules.repeats`.
    """

    agent: str | None = None
    provider: str | None = None
    duration_ns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    tools_offered: tuple[str, ...] | None = None
    tools_used: tuple[str, ...] = ()
    effects: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0
    redundant: int = 0


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """The metamorphic group of a case (R16); `relation` is `same` or `different`."""

    id: str
    relation: str
