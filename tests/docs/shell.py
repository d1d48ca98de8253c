"""Runs the commands of a page as its reader would type them, one after the other in one folder.

A plain command line of ours runs in this process, which is the same and much faster; whatever needs a shell (pipes,
variables, other programs) and whatever must be a process of its own gets one.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect import config
from otel_toolselect.cli import main
from otel_toolselect.errors import StoreError
from otel_toolselect.store import open_store
from tests.docs.background import Running
from tests.docs.commands import SECONDS, Command, pattern_of, shown_as

_NEEDS_SHELL = re.compile(r"[|&;<>$`*?~(){}]|\[\w")
_ALONE = re.compile(r"toolselect demo\b")  # sets what a process has once: the global tracer provider
_STAYS = re.compile(r"^(\w+=\S+ )*toolselect (serve|monitor run)\b(?!.*--(help|once))")
_PORTS = re.compile(r"OTLP over (gRPC|HTTP) +(?:http://)?(\S+?)(?:/v1\S*)?(?:,|$)", re.MULTILINE)
_FOREIGN = "sudo pip pip3 pipx uv npm npx docker kubectl kustomize helm systemctl make git apt apt-get"
_NEVER = re.compile(rf"(\w+=\S+ )*({_FOREIGN.replace(' ', '|')})\b")
OWN = f"{Path(sys.executable).parent}"


@dataclass
class Session:
    """A terminal: a folder, an environment, and what runs in the background.

    `own_processes`: every command is a process, as for a user.
    """

    folder: Path
    own_processes: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    background: list[Running] = field(default_factory=list)
    ports: dict[str, str] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "docs"})
    """What the page's Python knows."""
    prelude: str = ""
    """Python of a page that must run in a process of its own begins with this."""

    def run(self, command: Command, where: str) -> None:
        """Runs one command; fails the test when it ends or prints otherwise than the page says."""
        if _NEVER.match(command.text):
            pytest.fail(f"{where}: no test runs `{command.text}`; mark the block, see docs/writing.md")
        text = self._with_ports(command.text)
        if text.startswith("export "):
            for assignment in shlex.split(text, comments=True)[1:]:
                name, _, value = assignment.partition("=")
                self.environment[name] = value
            return
        if _STAYS.match(text):
            printed, code = self._background(text.removesuffix("&").strip(), command.shows), 0
        elif not self.own_processes and (words := _plain(text)) is not None:
            printed, code = self._within(words)
        else:
            printed, code = self._shell(text)
        if code != command.code:
            pytest.fail(f"{where}: `{command.text}` ended with {code}, not {command.code}:\n{printed}")
        if command.shows is not None and not shown_as(printed, command.shows):
            pytest.fail(f"{where}: `{command.text}` printed\n{printed}\nand the page shows\n{command.shows}")

    def output(self, command: str) -> str:
        """What a command of ours prints on standard output, whatever its exit code."""
        out, other = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        told = contextlib.redirect_stdout(out), contextlib.redirect_stderr(other)
        with told[0], told[1], self.inside(), pytest.raises(SystemExit):
            main(shlex.split(command)[1:])
        return out.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def python(self, text: str, where: str) -> None:
        """Runs a block of Python."""
        text = self._with_ports(text)
        if not self.prelude:
            with self.inside():
                exec(compile(text, where, "exec", dont_inherit=True), self.names)
            return
        done = subprocess.run(
            [sys.executable, "-c", self.prelude + text], cwd=self.folder, env=self._env(),
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if done.returncode or done.stderr:
            pytest.fail(f"{where}: ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def sql(self, text: str, where: str) -> None:
        """Runs statements on the page's store, which a running `serve` may hold."""
        with self.inside():
            store: Any = open_store(config.load().dsn)
            try:
                for statement in re.split(r";\s*$", text, flags=re.MULTILINE):
                    if re.sub(r"--.*", "", statement).strip():
                        store._session.execute(statement)
            except StoreError as error:
                pytest.fail(f"{where}: {error}")
            finally:
                store.close()

    def doctest(self, text: str, where: str) -> None:
        """Runs an interactive session and compares what it prints."""
        test = doctest.DocTestParser().get_doctest(text, self.names, where, where, 0)
        told = io.StringIO()
        with self.inside():
            result = doctest.DocTestRunner().run(test, out=told.write, clear_globs=False)
        self.names |= test.globs
        if result.failed:
            pytest.fail(told.getvalue())

    def stop(self, said: str) -> None:
        """Ctrl-C for what runs in the background: `serve`, `monitor`, `monitor once FILE is there`."""
        program, _, awaited = said.partition(" once ")
        if awaited:
            self._there(self.folder / awaited.removesuffix(" is there"))
        (one,) = [running for running in self.background if f"toolselect {program}" in str(running.process.args)]
        self.background.remove(one)
        one.stop()

    def _there(self, path: Path) -> None:
        """Waits for a file with something in it."""
        last = time.monotonic() + SECONDS
        while not (path.exists() and path.stat().st_size):
            if time.monotonic() > last:
                pytest.fail(f"{path.name} does not come")
            time.sleep(0.05)

    def close(self) -> None:
        for one in self.background:
            one.stop()

    def _with_ports(self, text: str) -> str:
        for usual, port in self.ports.items():
            text = re.sub(rf"(?<=:){usual}\b", port, text)
        return text

    def _env(self, **more: str) -> dict[str, str]:
        base = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "XDG_"))}
        path = f"{OWN}{os.pathsep}{base.get('PATH', '')}"
        # a width of its own, whoever runs the tests; no colour
        fixed = {"HOME": str(self.folder), "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        return {**base, **fixed, **self.environment, **more}

    def _within(self, words: list[str]) -> tuple[str, int]:
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        told = contextlib.redirect_stdout(out), contextlib.redirect_stderr(out)
        with told[0], told[1], self.inside(), pytest.raises(SystemExit) as ended:
            main(words)
        out.flush()
        return out.buffer.getvalue().decode("utf-8"), int(ended.value.code or 0)  # type: ignore[attr-defined]

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """This process as if it were started in the folder and the environment of the session."""
        wanted = self._env()
        with pytest.MonkeyPatch.context() as patch, contextlib.chdir(self.folder):
            for name in set(os.environ) - set(wanted):
                patch.delenv(name)
            for name, value in wanted.items():
                patch.setenv(name, value)
            yield

    def _shell(self, text: str) -> tuple[str, int]:
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail\n{text}"],
            cwd=self.folder, env=self._env(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        return done.stdout, done.returncode

    def _background(self, text: str, shows: str | None) -> str:
        """Starts it; what it has printed once that is all that the page shows."""
        serve = "toolselect serve" in text
        free = {"TOOLSELECT_GRPC_PORT": "0", "TOOLSELECT_HTTP_PORT": "0"} if serve else {}
        process = subprocess.Popen(
            ["bash", "-c", f"exec {text}" if "=" not in text.split()[0] else f"exec env {text}"],
            cwd=self.folder, env=self._env(**free), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        running = Running(process)
        self.background.append(running)
        if not serve:
            return running.until(pattern_of(shows)) if shows else ""
        printed = running.until("look at it: ")
        found = {kind: address.rpartition(":")[2] for kind, address in _PORTS.findall(printed)}
        self.ports = {"4317": found["gRPC"], "4318": found["HTTP"]}
        return printed.replace(f":{found['gRPC']}", ":4317").replace(f":{found['HTTP']}", ":4318")


def _plain(text: str) -> list[str] | None:
    """The words of a command line of ours that needs no shell."""
    bare = re.sub(r"'[^']*'|\"[^\"$`]*\"", "Q", text.split(" # ")[0])
    if not bare.startswith("toolselect ") or _NEEDS_SHELL.search(bare) or _ALONE.match(bare):
        return None
    return shlex.split(text, comments=True)[1:]
