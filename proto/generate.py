"""Makes the Python stubs of `proto/` in `src/otel_toolselect/rpc/gen`, or says whether they are fresh.

    python proto/generate.py            writes them
    python proto/generate.py --check    exit code 1 when they are not what it would write

The generated modules import each other as `toolselect.v1`; in the package they live elsewhere, so that is put right.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "otel_toolselect" / "rpc" / "gen"
_IMPORT = re.compile(r"^from toolselect\.v1 import", re.MULTILINE)
_INIT = '"""Made from proto/ by `make proto`. Do not edit."""\n'


def generate() -> dict[str, str]:
    """File name -> text. Raises SystemExit with protoc's own messages."""
    sources = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        kinds = [f"--{kind}_out={folder}" for kind in ("python", "grpc_python")]
        kinds += [f"--{kind}_out=quiet:{folder}" for kind in ("mypy", "mypy_grpc")]
        names = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
        plugins = [f"--plugin={name}={_beside_python(name)}" for name in names]
        include = [f"-I{HERE}", f"-I{files('grpc_tools') / '_proto'}"]
        # a process of its own: protoc waits for its plugins by select(), which knows no descriptor beyond 1023
        command = [sys.executable, "-m", "grpc_tools.protoc", *include, *kinds, *plugins, *sources]
        done = subprocess.run(command, check=False, cwd=HERE)  # noqa: S603 - our own arguments
        if done.returncode:
            raise SystemExit(done.returncode)
        made = {path.name: _IMPORT.sub("from otel_toolselect.rpc.gen import", path.read_text("utf-8"))
                for path in Path(folder).rglob("*.py*")}  # fmt: skip
    without_service = [name for name in made if name.endswith("_grpc.py") and "Stub" not in made[name]]
    for name in without_service:
        del made[name], made[f"{name}i"]
    return {"__init__.py": _INIT} | made


def _beside_python(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed: it is in the dependency group `check`")
    return found


def differences(made: dict[str, str]) -> list[str]:
    """What is not there, is something else, or is there and should not be."""
    there = {path.name: path.read_text("utf-8") for path in TARGET.glob("*.py*")}
    return sorted(name for name in {*made, *there} if made.get(name) != there.get(name))


def main(arguments: list[str]) -> int:
    made = generate()
    stale = differences(made)
    if "--check" in arguments:
        if stale:
            print(f"not what proto/ says: {', '.join(stale)}; run `make proto`", file=sys.stderr)
        return int(bool(stale))
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in made:
            (TARGET / name).write_text(made[name], "utf-8")
        else:
            (TARGET / name).unlink()
    print(f"{len(stale)} of {len(made)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
