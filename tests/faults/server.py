"""A `toolselect serve` of one's own that is started again and again on the same folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

WAIT_S = 60


class Server:
    """`environment` adds variables; those of `tests.faults.child` make faults. Only one process at a time."""

    def __init__(
        self, folder: Path, *, store: str | None = None, spool: Path | None = None, **environment: str
    ) -> None:
        self.dsn = store or f"chdb://{folder}/store"
        self.spool = spool or folder / "store" / "toolselect-spool"
        self.folder = folder
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "COV_"))}
        self._environment = clean | {"TOOLSELECT_STORE": self.dsn, "TOOLSELECT_SPOOL": str(self.spool)} | environment
        self._process: subprocess.Popen[str] | None = None
        self.grpc = ""
        """Address of the receiver that runs, "" while none does."""
        self.http = ""

    def launch(self) -> None:
        """Starts the process and does not wait for its ports."""
        ports = ["--grpc-port", "0", "--http-port", "0", "--format", "json"]
        with (self.folder / "serve.log").open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.child", "serve", *ports],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
                cwd=Path(__file__).parents[2],
            )

    def await_ports(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"serve did not start: {self.said()}"
        ports = json.loads(line)
        self.grpc, self.http = ports["grpc"], ports["http"]

    def start(self) -> None:
        self.launch()
        self.await_ports()

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """As a power cut would, for the process: it gets no chance to do anything."""
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        """Gracefully: what was acknowledged is in the store afterwards."""
        assert self.end(signal.SIGTERM) == 0, self.said()

    def end(self, number: int) -> int:
        """The exit code; 0 when none runs."""
        self.grpc = ""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.send_signal(number)
        process.communicate(timeout=WAIT_S)
        return process.returncode

    def said(self) -> str:
        return (self.folder / "serve.log").read_text("utf-8")

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Another command of toolselect on the same store and spool."""
        return subprocess.run(
            [sys.executable, "-m", "otel_toolselect.cli", *args],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            env=self._environment,
            cwd=self.folder,
        )

    def stored(self) -> Stored:
        """What readers of the store see, by a process of its own; a server that runs lends it the store."""
        done = subprocess.run(
            [sys.executable, "-m", "tests.faults.stored", self.dsn],
            stdout=subprocess.PIPE,
            text=True,
            timeout=WAIT_S,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        found = json.loads(done.stdout)
        return Stored(found["ids"], found["spans"])


class Stored:
    """`ids`: of every span, by reading all traces. `spans`: what the overview counts."""

    def __init__(self, ids: list[str], spans: int) -> None:
        self.ids = ids
        self.spans = spans

    def check(self, acknowledged: set[str]) -> list[str]:
        """What is wrong, in words: nothing when each acknowledged span is there once, for every reader."""
        distinct = set(self.ids)
        found = {
            "acknowledged spans are missing": len(acknowledged - distinct),
            "spans are read twice": len(self.ids) - len(distinct),
            "spans are counted twice by the overview": self.spans - len(distinct),
        }
        return [f"{n} {what}" for what, n in found.items() if n]
