"""Files of ours that browsers load: named by their content, so that they may be kept for a year."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from otel_toolselect.web.problems import NotFoundError

FOLDER = Path(__file__).with_name("static")
PREFIX = "/static"
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Static:
    name: str
    """With a part of the hash of the content: app.1f0c9a2b33d1.css"""
    content: bytes
    media_type: str


@cache
def files() -> dict[str, Static]:
    """By the name without the hash. A few files of ours, held in memory."""
    found = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in (".css", ".js", ".svg"):
            content = path.read_bytes()
            mark = hashlib.sha256(content).hexdigest()[:12]
            kind = mimetypes.types_map[path.suffix]
            found[path.name] = Static(f"{path.stem}.{mark}{path.suffix}", content, kind)
    return found


@cache
def _by_full_name() -> dict[str, Static]:
    return {static.name: static for static in files().values()}


async def serve(request: Request) -> Response:
    static = _by_full_name().get(request.path_params["name"])
    if static is None:
        raise NotFoundError("there is no such file; load the page again")
    return Response(static.content, media_type=static.media_type, headers={"cache-control": _FOR_EVER})
