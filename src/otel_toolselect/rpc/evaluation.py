"""`toolselect.v1.EvaluationService`: messages to questions of `app`, answers to messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from otel_toolselect.app import evaluating, label_trial
from otel_toolselect.app.audit import Origin
from otel_toolselect.app.backing import Backing
from otel_toolselect.app.judging_process import Processes
from otel_toolselect.app.label_trial import Opinion
from otel_toolselect.app.visible import Visible
from otel_toolselect.errors import InputError, NotFoundError, TooLargeError
from otel_toolselect.model.answers import Evaluation
from otel_toolselect.model.runs import Run
from otel_toolselect.receive.access import CALLER, Sender
from otel_toolselect.receive.status import ForbiddenError
from otel_toolselect.rpc import encoding
from otel_toolselect.rpc.bounds import bounded
from otel_toolselect.rpc.gen import evaluation_service_pb2 as pb
from otel_toolselect.rpc.gen.evaluation_service_pb2_grpc import EvaluationServiceServicer
from otel_toolselect.rpc.rooms import Clock, Room, within

_FOR_OTHERS = "admin"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What runs are held to: by name, or as text."""

    name: str = ""
    text: str = ""
    file_name: str = ""


class EvaluationService(EvaluationServiceServicer):
    """Evaluations wait for each other in a room of their own; `seconds`: how long each may take."""

    def __init__(self, backing: Backing, room: Room, processes: Processes, seconds: float) -> None:
        self._backing = backing
        self._room = room
        self._processes = processes
        self._seconds = seconds

    async def ListSuites(self, request: pb.ListSuitesRequest, context: Any) -> pb.ListSuitesResponse:
        return encoding.served(evaluating.served(self._backing.panel()))

    async def EvaluateRun(self, request: pb.EvaluateRunRequest, context: Any) -> pb.EvaluateRunResponse:
        asked = _asked(request.expectations)
        visible = self._visible(CALLER.get())

        def work(clock: Clock) -> pb.EvaluateRunResponse:
            found, beside = self._stored(visible, request.run, clock)
            evaluation = self._held(asked, beside, [run.run_id for run in found], clock)
            return _bounded(pb.EvaluateRunResponse(evaluation=encoding.evaluation_of(evaluation)))

        return await self._room.run(work, within(context, self._seconds))

    async def EvaluateSpans(self, request: pb.EvaluateSpansRequest, context: Any) -> pb.EvaluateSpansResponse:
        asked = _asked(request.expectations)
        if not request.traces_data:
            raise InputError("holds no spans; send a serialized TracesData", where="traces_data")
        tenant = CALLER.get().tenant

        def work(clock: Clock) -> pb.EvaluateSpansResponse:
            given = request.traces_data, request.logs_data
            runs, warnings = evaluating.read_spans(*given, tenant, self._backing.settings)
            clock.check()
            evaluation = evaluating.with_warnings(self._held(asked, runs, None, clock), warnings)
            return _bounded(pb.EvaluateSpansResponse(evaluation=encoding.evaluation_of(evaluation)))

        return await self._room.run(work, within(context, self._seconds))

    async def EvaluateLabel(self, request: pb.EvaluateLabelRequest, context: Any) -> pb.EvaluateLabelResponse:
        sender = CALLER.get()
        opinion = Opinion(tuple(request.expected), _labeller(request, sender), request.note, request.allow_not_offered)
        visible = self._visible(sender)
        store, settings = self._backing.store, self._backing.settings
        origin = Origin(sender.name, "bearer" if sender.name else "open", _address(context), sender.tenant)

        def work(clock: Clock) -> pb.EvaluateLabelResponse:
            found, beside = self._stored(visible, request.run, clock)
            run = next((run for run in found if run.parent_run_id is None), found[0])
            if request.store:
                made = label_trial.kept(store, settings, run, beside, opinion, origin)
            else:
                made = label_trial.outcome(store, settings, run, beside, opinion)
            return _bounded(encoding.label_outcome(made))

        return await self._room.run(work, within(context, self._seconds))

    def _visible(self, sender: Sender) -> Visible:
        return Visible(self._backing.store, self._backing.settings, sender.tenant)

    def _stored(self, visible: Visible, asked: pb.RunReference, clock: Clock) -> tuple[list[Run], list[Run]]:
        """The runs that are asked about, and all beside them; looked for again once what was just sent is stored."""

        def look() -> tuple[list[Run], list[Run]]:
            if asked.WhichOneof("id") == "run_id":
                run, beside = visible.run(asked.run_id, clock.check)
                return [run], beside
            return visible.trace(asked.trace_id, clock.check)

        if asked.WhichOneof("id") is None or not (asked.run_id or asked.trace_id):
            raise InputError("names neither a run nor a trace", where="run")
        try:
            return look()
        except NotFoundError:
            self._backing.settle()
            clock.check()
            return look()

    def _held(self, asked: _Asked, runs: Sequence[Run], only: Sequence[str] | None, clock: Clock) -> Evaluation:
        if asked.name:
            held = evaluating.named(self._backing.panel(), asked.name)
            return evaluating.held_to(held, runs, only, clock.check)
        return self._processes.judge(asked.text, asked.file_name, runs, only, clock.check)


def _address(context: Any) -> str:
    """Of the client, as grpc writes it: ipv4:127.0.0.1:51000."""
    kind, _, rest = str(context.peer()).partition(":")
    return unquote(rest.rpartition(":")[0]).strip("[]") if kind in ("ipv4", "ipv6") else ""


def _asked(expectations: pb.Expectations) -> _Asked:
    which = expectations.WhichOneof("source")
    if which == "name" and expectations.name:
        return _Asked(name=expectations.name)
    if which == "text":
        given = expectations.text
        if len(given.text) > evaluating.TEXT_BYTES:
            raise TooLargeError(f"a suite in a request may have {evaluating.TEXT_BYTES:,} bytes", where="text")
        file_name = given.file_name or "suite.yaml"
        if not file_name.isprintable() or len(file_name) > _LONGEST_NAME:
            raise InputError(f"a name of up to {_LONGEST_NAME} characters that can be shown", where="file_name")
        return _Asked(text=given.text, file_name=file_name)
    raise InputError("names no suite or rule file and holds none", where="expectations")


_LONGEST_NAME = 200


def _labeller(request: pb.EvaluateLabelRequest, sender: Sender) -> str:
    """Who is said to say so. Raises ForbiddenError for what the caller may not."""
    named = request.labeller.strip()
    if request.store:
        if "label" not in sender.scopes:
            raise ForbiddenError(f"{sender.name} may not label: it is not in its scopes")
        if named and named != sender.name and _FOR_OTHERS not in sender.scopes:
            raise ForbiddenError(f"{sender.name} may label in its own name only")
    return named or sender.name


_Answer = TypeVar("_Answer", pb.EvaluateRunResponse, pb.EvaluateSpansResponse, pb.EvaluateLabelResponse)


def _bounded(answer: _Answer) -> _Answer:
    bounded(answer.ByteSize())
    return answer
