"""Standard output: JSON lines, for pipes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.errors import NotifyError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.notifiers._options import Options
from otel_toolselect.monitor.notifiers._texts import lines


@dataclass(frozen=True, slots=True)
class Stdout:
    name: str

    def send(self, notifications: Sequence[Notification]) -> None:
        try:
            sys.stdout.write(lines(notifications))
            sys.stdout.flush()
        except (OSError, ValueError) as error:  # closed
            raise NotifyError("nobody reads standard output any more", retryable=False) from error

    def close(self) -> None:
        pass


class _Kind:
    name = "stdout"

    def make(self, name: str, options: Mapping[str, Any]) -> Stdout:
        Options(options).done()
        return Stdout(name)


PLUGIN = _Kind()
