"""Makes the committed corpus anew: `python -m tests.fuzz.keep [TARGET...]`, after `make fuzz`.

From what is committed and what the fuzzer added in build/fuzz, the smallest inputs that together take every step from
line to line which any of them takes. Two kinds stay whatever they cover: `found-...` were findings once, `seed-...` are
whole requests, from which mutators make richer inputs than from the smallest.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import otel_toolselect
from tests.fuzz import targets

SOURCE = str(Path(otel_toolselect.__file__).parent)
CORPUS = Path(__file__).parent / "corpus"
WORK = Path("build/fuzz")
Step = tuple[str, int, int]


def steps_of(run: Callable[[], None]) -> set[Step]:
    """The steps between lines of our own source that `run` takes."""
    steps: set[Step] = set()

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        last = frame.f_lineno

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            steps.add((frame.f_code.co_filename, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return steps


def keep(name: str) -> str:
    folder = CORPUS / name
    paths = [path for place in (folder, WORK / name) if place.is_dir() for path in place.iterdir()]
    fixed = {path.name: path.read_bytes() for path in paths if path.name.startswith(("found-", "seed-"))}
    others = sorted({path.read_bytes() for path in paths} - set(fixed.values()), key=lambda data: (len(data), data))
    chosen, covered = dict(fixed), set[Step]()
    for data in (*fixed.values(), *others):
        steps = steps_of(lambda data=data: targets.run(name, data))  # type: ignore[misc]
        if steps <= covered:
            continue
        covered |= steps
        if data not in fixed.values():
            chosen[hashlib.sha256(data).hexdigest()[:16]] = data
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for file, data in chosen.items():
        (folder / file).write_bytes(data)
    return f"{name}: {len(chosen)} of {len(paths)} inputs kept, {sum(map(len, chosen.values()))} bytes"


if __name__ == "__main__":
    for wanted in sys.argv[1:] or sorted(targets.TARGETS):
        print(keep(wanted), flush=True)
