"""A ClickHouse server's HTTP interface in front of a real chDB engine, for tests only.

It behaves as ClickHouse 25.11 to 26.x does on the wire, written from its documentation and sources and sharing nothing
with the product's own gateway (`web/gateway.py`), so that a mistake in one of them cannot hide in the other.

    engine.py    statements on chDB, each on a connection of its own: settings, parameters, sessions, read-only users
    request.py   what a request asks for: address, body, multipart form, content codings, who asks
    answer.py    how an answer goes out: headers, chunks, codings, exceptions before and after the status line
    faults.py    what may go wrong with one request, and which requests it hits
    server.py    the server

Not spoken, as no client of ours asks for it: native compression (`compress=1`), external tables, HTTP/2.
"""

from .faults import Fault, Faults
from .request import User
from .server import Endpoint, endpoint

__all__ = ["Endpoint", "Fault", "Faults", "User", "endpoint"]
