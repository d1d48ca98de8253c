"""The commands of a block, and what the page shows after them."""

from __future__ import annotations

import re
from dataclasses import dataclass

SECONDS = 120.0
"""How long one command may take on a machine that does much else."""
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


@dataclass(frozen=True)
class Command:
    """One command with what the page shows after it. `code`: how it says that it ends."""

    text: str
    code: int = 0
    shows: str | None = None


def commands_of(text: str) -> list[Command]:
    """The commands of an `sh` block: a line each, or several that a backslash or a here-document joins."""
    found: list[Command] = []
    for line in _joined(text.splitlines()):
        code = re.search(r" # exit code (\d)\b", line)
        if line.strip() and not line.startswith("#"):
            found.append(Command(line, int(code[1]) if code else 0))
    return found


def commands_and_output(text: str) -> list[Command]:
    """The commands of a `console` block with their output; `echo $?` says the code of the one before it."""
    found: list[Command] = []
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        lines = _joined(part.splitlines())
        said = "\n".join(lines[1:])
        if lines[0].strip() == "echo $?":
            found[-1] = Command(found[-1].text, int(said.strip()), found[-1].shows)
        else:
            code = re.search(r" # exit code (\d)\b", lines[0])
            found.append(Command(lines[0], int(code[1]) if code else 0, said))
    return found


def _joined(lines: list[str]) -> list[str]:
    found: list[str] = []
    rest = iter(lines)
    for line in rest:
        while line.endswith("\\"):
            line = f"{line}\n{next(rest)}"
        if document := _HEREDOC.search(line):
            while line.splitlines()[-1] != document[1]:
                line = f"{line}\n{next(rest)}"
        found.append(line)
    return found


def shown_as(printed: str, shown: str) -> bool:
    """Whether a page may show this for what was printed: `...` stands for any text, alone on a line for any lines."""
    said = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern_of(shown), said) is not None


def pattern_of(shown: str) -> str:
    pattern = ""
    for line in shown.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + "\n"
    return pattern
