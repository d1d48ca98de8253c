"""Preflight (R55): do the tools that an agent is offered answer, as their contracts say, and are they what was pinned?

Nothing here runs the agent or asks a model. `load` reads the file, `ask` asks the servers (the only part with a network
or a process), `inspect` and `contracts` judge what they said and are pure, `pins` keeps a catalog to compare with.
"""

from otel_toolselect.preflight.contracts import concerns_of
from otel_toolselect.preflight.files import Check, Plan, Server, load
from otel_toolselect.preflight.inspect import inspect
from otel_toolselect.preflight.pins import Pins, read_pins, written

__all__ = ["Check", "Pins", "Plan", "Server", "concerns_of", "inspect", "load", "read_pins", "written"]
