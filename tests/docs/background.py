"""A command that goes on while others run."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from dataclasses import dataclass, field

import pytest

from tests.docs.commands import SECONDS


@dataclass
class Running:
    """A command that goes on in the background, and what it has printed."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    grown: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.grown:
                self.lines.append(line)
                self.grown.notify_all()
        with self.grown:
            self.lines.append("")
            self.grown.notify_all()

    @property
    def ended(self) -> bool:
        return "" in self.lines

    def until(self, pattern: str) -> str:
        """What was printed once it holds the pattern; fails when the process ends or too much time passes."""
        with self.grown:
            came = self.grown.wait_for(
                lambda: self.ended or re.search(pattern, "".join(self.lines)) is not None, timeout=SECONDS
            )
        text = "".join(self.lines)
        if not came or re.search(pattern, text) is None:
            pytest.fail(f"{self.process.args!r} did not print {pattern!r}, but:\n{text}")
        return text

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.reader.join(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
