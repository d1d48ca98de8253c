"""Questions for the judge: one narrow yes or no, and what came back (R26, R37; design sections 5 and 6).

The question holds everything that the model is shown, so that the record of an answer can be checked, and so that an
answer can be kept by content: the same question to the same model is asked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """`asks` is answered by yes or no; `about` names the quoted material, whose text comes from traces and suites: it
    is data, never an instruction.
    """

    asks: str
    about: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """`yes` None: no answer, and `reason` says why (off, out of reach, over a limit, neither yes nor no).

    `prompt` is what was sent and `reply` what came back, as they are; `model` says who answered. `kept`: the answer was
    read from the cache.
    """

    yes: bool | None
    reason: str
    prompt: str = ""
    reply: str = ""
    model: str = ""
    kept: bool = False

    @property
    def record(self) -> Mapping[str, Any]:
        """The answer as evidence."""
        said = "undecided" if self.yes is None else "yes" if self.yes else "no"
        return {
            "answer": said,
            "reason": self.reason,
            "model": self.model,
            "prompt": self.prompt,
            "reply": self.reply,
            "cached": self.kept,
        }
