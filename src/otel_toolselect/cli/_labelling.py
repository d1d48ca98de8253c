"""Labelling in a terminal: one run after the other, one line of keys for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from otel_toolselect.errors import UsageError

if TYPE_CHECKING:
    from otel_toolselect.app.labels import Desk
    from otel_toolselect.model.labels import Drawn
    from otel_toolselect.model.runs import Run
    from otel_toolselect.store import Store

_OUTCOMES = {"a": "none", "f": "ask_followup", "d": "refuse_no_tool"}
HELP = (
    "numbers of right first tools, or: a answered rightly, f should ask, d should decline (several parted by commas); "
    "w wrong, unsure what is right; s skip; q quit; text after ' # ' is a note"
)
Choice: TypeAlias = "tuple[str, ...] | Literal['skip', 'quit']"


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a labeller looks and types."""

    colour: bool
    width: int

    def show(self, text: str) -> None:
        print(text, flush=True)

    def ask(self, prompt: str) -> str:
        """A line; "q" at the end of input."""
        try:
            return input(prompt)
        except EOFError:
            return "q"


def parse_choice(text: str, names: Sequence[str]) -> Choice:
    """What was typed. () means wrong, with nothing better to name. Raises UsageError on anything else."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    if words == ["s"]:
        return "skip"
    if words == ["q"]:
        return "quit"
    if words == ["w"]:
        return ()
    chosen = []
    for word in words:
        if word in _OUTCOMES:
            chosen.append(_OUTCOMES[word])
        elif word.isascii() and word.isdigit() and 0 < int(word) <= len(names):
            chosen.append(names[int(word) - 1])
        else:
            raise UsageError(f"{word!r} is no choice: {HELP}")
    if not chosen:
        raise UsageError(HELP)
    return tuple(dict.fromkeys(chosen))


def session(desk: Desk, store: Store, waiting: Iterable[Drawn], by: str, terminal: Terminal) -> int:
    """Until all is labelled or the labeller has enough; how many runs were labelled."""
    from otel_toolselect import reports

    done = 0
    terminal.show(HELP)
    for drawn in waiting:
        runs = desk.runs([drawn.run_id])
        if not runs:
            continue  # late spans have made another run of it since it was drawn
        run, names = runs[0], desk.names(runs[0])
        terminal.show(reports.run_card(run, names, colour=terminal.colour, width=terminal.width))
        choice, note = _choice(terminal, names)
        if choice == "quit":
            break
        if isinstance(choice, tuple):
            desk.keep([desk.label(run, by, choice, note=note)])
            done += 1
            terminal.show("\n".join(_afterwards(store, run, by)) + "\n")
    terminal.show(f"{done} labelled by {by}")
    return done


def _choice(terminal: Terminal, names: Sequence[str]) -> tuple[Choice, str]:
    while True:
        typed, _, note = terminal.ask("expected> ").partition(" # ")
        try:
            return parse_choice(typed, names), note.strip()
        except UsageError as error:
            terminal.show(str(error))


def _afterwards(store: Store, run: Run, by: str) -> list[str]:
    """What was kept, and only now what others say."""
    from otel_toolselect.reports import label_says

    lines = []
    for label in store.labels.of_runs([run.run_id]):
        who = "kept" if label.source == "person" and label.labeller == by else f"{label.labeller} said"
        lines.append(f"  {who}: {label_says(label)}")
    if run.expected:
        lines.append(f"  the trace says: {', '.join(run.expected)}")
    return sorted(lines, key=lambda line: not line.startswith("  kept"))
