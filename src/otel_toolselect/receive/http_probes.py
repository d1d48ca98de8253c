"""/healthz, /readyz and /metrics beside OTLP. The first two are open to everybody and say one word."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from otel_toolselect.receive.health import Health
from otel_toolselect.telemetry.metrics import Metrics

HEALTHZ, READYZ, METRICS = "/healthz", "/readyz", "/metrics"
OPEN = frozenset({HEALTHZ, READYZ})
"""Paths that ask for no token."""
PROBES = OPEN | {METRICS}


def routes(health: Health, metrics: Metrics) -> list[BaseRoute]:
    async def healthz(_: Request) -> Response:
        return _word("ok", good=True) if health.alive else _word("stuck", good=False)

    async def readyz(_: Request) -> Response:
        word = health.readiness
        return _word(word, good=word == "ready")

    async def scrape(http: Request) -> Response:
        # in a thread: a collector may wait, and spans must not wait for it
        body, content_type = await asyncio.to_thread(metrics.render, http.headers.get("accept", ""))
        return Response(body, headers={"content-type": content_type})

    return [
        Route(HEALTHZ, healthz, methods=["GET"]),
        Route(READYZ, readyz, methods=["GET"]),
        Route(METRICS, scrape, methods=["GET"]),
    ]


def _word(word: str, *, good: bool) -> Response:
    return JSONResponse({"status": word}, 200 if good else 503)
