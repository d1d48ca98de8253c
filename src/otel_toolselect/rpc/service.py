"""The services put together, for `serve` to mount."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from otel_toolselect.app.backing import Backing
from otel_toolselect.app.judging_process import Processes
from otel_toolselect.receive.extras import GrpcServices
from otel_toolselect.rpc.confusion import ConfusionService
from otel_toolselect.rpc.evaluation import EvaluationService
from otel_toolselect.rpc.figures import RpcCollector
from otel_toolselect.rpc.gen import confusion_service_pb2, evaluation_service_pb2, verdict_service_pb2
from otel_toolselect.rpc.gen.confusion_service_pb2_grpc import add_ConfusionServiceServicer_to_server
from otel_toolselect.rpc.gen.evaluation_service_pb2_grpc import add_EvaluationServiceServicer_to_server
from otel_toolselect.rpc.gen.verdict_service_pb2_grpc import add_VerdictServiceServicer_to_server
from otel_toolselect.rpc.rooms import Room
from otel_toolselect.rpc.streaming import Rhythm, VerdictService

_READERS = 2
"""The embedded engine answers one question at a time; a second reader builds messages meanwhile."""
_QUEUE = 8
NAMES = tuple(
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (evaluation_service_pb2, "EvaluationService"),
        (confusion_service_pb2, "ConfusionService"),
        (verdict_service_pb2, "VerdictService"),
    )
)


@contextmanager
def services(backing: Backing, rhythm: Rhythm | None = None) -> Iterator[GrpcServices]:
    """All services of `toolselect.v1`; at the end what is still under way is given up."""
    wanted = backing.settings.rpc
    evaluations = Room("evaluation", wanted.evaluations, queue=_QUEUE)
    readers = Room("confusion", _READERS, queue=_QUEUE)
    streams = Room("stream", _READERS, queue=wanted.streams)
    processes = Processes()

    verdicts = VerdictService(backing, streams, wanted.streams, rhythm or Rhythm())

    def add(server: Any) -> None:
        evaluation = EvaluationService(backing, evaluations, processes, wanted.seconds)
        add_EvaluationServiceServicer_to_server(evaluation, server)
        add_ConfusionServiceServicer_to_server(ConfusionService(backing, readers, wanted.seconds), server)
        add_VerdictServiceServicer_to_server(verdicts, server)

    try:
        yield GrpcServices(NAMES, add, RpcCollector((evaluations, readers, streams), lambda: verdicts.open))
    finally:
        processes.close()
        for room in (evaluations, readers, streams):
            room.close()
