"""Answers kept by content: one small file per prompt and model, so that judging again asks nothing and says the same.

A file that cannot be read is as good as none, and a folder that cannot be written costs the keeping, never the answer.
Prompts quote traces: the folder is for its owner alone.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from otel_toolselect.model.values import digest


class Cache:
    """Replies by prompt and model; only replies that decide are kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, model: str, system: str, prompt: str) -> str | None:
        try:
            found = json.loads(self._path(model, system, prompt).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        same = isinstance(found, dict) and found.get("prompt") == prompt and found.get("model") == model
        reply = found.get("reply") if same else None
        return reply if isinstance(reply, str) else None

    def put(self, model: str, system: str, prompt: str, reply: str) -> None:
        path = self._path(model, system, prompt)
        draft = path.with_suffix(f".{os.getpid()}.part")
        text = json.dumps({"model": model, "prompt": prompt, "reply": reply}, ensure_ascii=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            draft.write_bytes(text.encode("utf-8", "surrogatepass"))
            draft.replace(path)
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def _path(self, model: str, system: str, prompt: str) -> Path:
        key = digest([model, system, prompt]).removeprefix("sha256:")
        return self.folder / key[:2] / f"{key}.json"
