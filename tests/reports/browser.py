"""Debian's Chromium, headless, driven over the DevTools protocol through a pipe: no port, no driver package.

The browser is started without background networking and behind a proxy that does not exist, so whatever the page asks
for fails, and is seen.
"""

from __future__ import annotations

import base64
import json
import os
import selectors
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 60.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--proxy-server=127.0.0.1:9",
    "--remote-debugging-pipe",
)


def program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """One page. `log` collects console messages and exceptions, `requests` every address that was asked for."""

    def __init__(self, executable: str, profile: Path) -> None:
        self.log: list[str] = []
        self.requests: list[str] = []
        self._number = 0
        self._buffer = b""
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()
        self._answers = selectors.DefaultSelector()  # not select(), which knows no descriptor beyond 1023
        self._answers.register(self._read, selectors.EVENT_READ)

        def wire() -> None:  # the browser reads commands from 3 and answers on 4
            spare = os.dup(command_read), os.dup(answer_write)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=wire,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(profile), "DBUS_SESSION_BUS_ADDRESS": "disabled:"},
        )
        os.close(command_read)
        os.close(answer_write)
        self._session = ""
        targets = self._call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path: Path, *, width: int = 1280, height: int = 900) -> None:
        self.size(width, height)
        self._call("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete' && !!document.title")

    def size(self, width: int, height: int = 900) -> None:
        phone = width < 600
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def wait(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, name: str) -> None:
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if name == "Enter" else {}
        facts = {"key": name, "code": name, "windowsVirtualKeyCode": codes[name], **text}
        self._call("Input.dispatchKeyEvent", type="keyDown", **facts)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=codes[name])

    def screenshot(self, path: Path, *, full: bool = True) -> None:
        data = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        path.write_bytes(base64.b64decode(data))

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        self._answers.close()
        os.close(self._read)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._buffer:
            ready = self._answers.select(max(0.0, end - time.monotonic()))
            chunk = os.read(self._read, 1 << 20) if ready else b""
            assert chunk, "the browser does not answer"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.log.append(json.dumps(params)[:500])
            case "Network.requestWillBeSent":
                self.requests.append(str(params["request"]["url"]))
