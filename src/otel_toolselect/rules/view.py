"""A run as checks see it: names canonical, effects known, results beside their calls, read once per run.

Aliases are merged before anything is compared. A call is *consequential* unless the policy says that its tool is
metadata or a hand-off (R4); the first action is the first consequential call, or the no-call label of the final text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from otel_toolselect.model.runs import Run, ToolCall, ToolDefinition, ToolResult, Unknown
from otel_toolselect.model.values import canonical
from otel_toolselect.rules.infra import is_infra
from otel_toolselect.rules.patterns import Pattern
from otel_toolselect.rules.policy import Policy, Reading

if TYPE_CHECKING:
    from otel_toolselect.rules.asking import Asker, Asking

MIN_CONFIDENCE = 0.5  # below this the reading of a text without a call is for a person to check
_NOTHING: Mapping[str, Any] = {}


class Course:
    """What a run did, whatever a policy makes of it: its calls, each with its result. Views of one run share it.

    `known` calls have an outcome, `failed` of them a bad one. `memo`: what checks work out of the run alone, each under
    a key of its own. Treat as read-only.
    """

    __slots__ = ("_texts", "failed", "known", "memo", "steps")

    def __init__(self, run: Run) -> None:
        steps: dict[int, tuple[ToolCall, ToolResult | None]] = {}
        for event in run.events:
            if isinstance(event, ToolCall):
                steps[event.seq] = event, None
            elif isinstance(event, ToolResult) and event.call_seq in steps:
                steps[event.call_seq] = steps[event.call_seq][0], event
        self.steps = tuple(steps.values())
        outcomes = [None if result is None else result.ok for _, result in self.steps]
        self.failed = outcomes.count(False)
        self.known = len(outcomes) - outcomes.count(None)
        self.memo: dict[Any, Any] = {}
        self._texts: dict[int, str] = {}

    def arguments(self, call: ToolCall) -> str | None:
        """The canonical text of a call's arguments, None when they are not known."""
        if isinstance(call.args, Unknown):
            return None
        text = self._texts.get(call.seq)
        if text is None:
            text = self._texts[call.seq] = canonical(call.args)
        return text


class CallView:
    """One call. `ok` None: the trace does not say. `effect` None: the policy does not say. Treat as read-only."""

    __slots__ = (
        "ambiguous", "args", "call", "consequential", "effect", "ghost", "infra", "mutating", "name", "ok", "result",
        "seq", "turn",
    )  # fmt: skip

    def __init__(self, call: ToolCall, result: ToolResult | None, reading: Reading) -> None:
        self.call = call
        self.seq = call.seq
        self.turn = call.turn
        # mutating: a write, or a tool without a declared effect: what may have changed something counts as changing
        self.name, self.ambiguous, self.effect, self.consequential, self.mutating = reading
        self.args: dict[str, Any] | Unknown = call.args
        self.ghost = False
        self.ok = None if result is None else result.ok
        self.infra = False
        self.result = result

    def knew(self, other: CallView) -> bool:
        """Whether the result of another call was there when this one was decided (R27).

        Its result stands earlier in the run; without a recorded result: it was decided in an earlier turn. Calls of one
        message do not wait for each other. Where no model span shows either call, the clock of their spans decides.
        """
        result = other.result
        if result is None:
            return other.turn < self.turn
        if result.seq < self.seq:
            return True
        mine, theirs = self.call, other.call
        if mine.emitted or theirs.emitted or result.duration_ns is None or not theirs.start_ns:
            return False
        return theirs.start_ns + result.duration_ns <= mine.start_ns


class Seen:
    """A run's calls under a reading of their names. Treat as read-only.

    `names` are those that were called, `ghosts` the calls of tools that were not offered (where the catalog is known).
    `broken`: a call failed for the platform's reasons. `memo`: what is worked out of it, each under a key of its own.
    """

    __slots__ = ("_calls", "_whole", "course", "infra", "memo", "names", "offered", "readings")

    def __init__(
        self,
        course: Course,
        readings: tuple[Reading, ...],
        offered: Mapping[str, Any] | None,
        infra: tuple[Pattern, ...],
    ) -> None:
        self.course = course
        self.readings = readings
        self.offered = _NOTHING if offered is None else offered
        self.infra = infra
        self.memo: dict[Any, Any] = {}
        self.names = frozenset([reading.name for reading in readings])
        self._whole = offered is None or self.names <= offered.keys()
        self._calls: tuple[CallView, ...] | None = None

    @property
    def calls(self) -> tuple[CallView, ...]:
        """Made when they are asked for: what is counted of most runs can be told without them."""
        if self._calls is None:
            self._calls = self._viewed()
        return self._calls

    def _viewed(self) -> tuple[CallView, ...]:
        offered = self.offered
        calls = tuple([CallView(*step, read) for step, read in zip(self.course.steps, self.readings, strict=True)])
        if self.course.failed:
            for call in calls:
                if call.result is not None and is_infra(call.result, self.infra):
                    call.infra = True
        if not self._whole:
            for call in calls:
                call.ghost = call.name not in offered and call.call.name not in offered
        return calls

    @property
    def broken(self) -> bool:
        return self.course.failed > 0 and any(c.infra for c in self.calls)

    @property
    def ghosts(self) -> tuple[CallView, ...]:
        return () if self._whole else tuple([c for c in self.calls if c.ghost])


class Looks:
    """What a run did, and its calls as policies see them. A course knows nothing of those who look at it: objects in a
    circle stay, with all texts of the run, until the collector comes by.
    """

    __slots__ = ("_known", "course")

    def __init__(self, run: Run) -> None:
        self.course = Course(run)
        self._known: dict[tuple[tuple[Reading, ...], int, int], Seen] = {}

    def seen(self, tools: tuple[ToolDefinition, ...] | None, policy: Policy) -> Seen:
        """The calls under a policy; what was made for another one that reads, offers and excuses the same.

        Most rule files are about other tools than a run has, and read its calls as no policy at all would. The two ids
        are those of objects that the value holds, so that they name nothing else meanwhile.
        """
        read = policy.read
        readings = tuple([read(call.name, call.server) for call, _ in self.course.steps])
        offered = _NOTHING if tools is None else policy.offered(tools)
        key = readings, id(offered), id(policy.infra)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Seen(self.course, readings, None if tools is None else offered, policy.infra)
        return found


class RunView:
    """One run under one policy. Treat as read-only; it lives as long as the judgement of its run.

    `memo`: what several checks work out of it, each under a key of its own; what hangs on no policy belongs into the
    memo of `course`, and what hangs on the reading of calls alone into that of `seen`.

    `offered` holds the schemas (or None) of the offered tools by canonical name, empty when no catalog is known.
    `asker` answers questions about free text, None when nobody does; `asking` is made with the first question.
    """

    __slots__ = (
        "asker", "asking", "calls", "consequential", "course", "first", "first_action", "label", "memo", "offered",
        "policy", "run", "seen", "sure",
    )  # fmt: skip

    def __init__(self, run: Run, policy: Policy, looks: Looks | None = None) -> None:
        self.run = run
        self.policy = policy
        looks = Looks(run) if looks is None else looks
        self.course = looks.course
        self.memo: dict[Any, Any] = {}
        self.asker: Asker | None = None
        self.asking: Asking | None = None
        self.seen = seen = looks.seen(run.tools, policy)
        self.calls = seen.calls
        self.consequential = tuple([c for c in self.calls if c.consequential])
        self.first = self.consequential[0] if self.consequential else None
        self.offered = seen.offered
        self.label = run.no_call.label
        self.sure = run.no_call.confidence >= MIN_CONFIDENCE
        self.first_action = self.first.name if self.first is not None else self.label

    @property
    def observed_class(self) -> str:
        return "call" if self.first is not None else self.label

    @property
    def final_text(self) -> str:
        return self.run.final_text or ""

    @property
    def conversation(self) -> tuple[str, ...]:
        """What the user said, oldest first; the last is the request that the run answers. () when not recorded."""
        return () if self.run.request is None else (*self.run.history, self.run.request)
