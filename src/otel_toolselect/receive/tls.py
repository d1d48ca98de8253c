"""Certificates of the ports, read again when their files change; TLS 1.2 at least.

With a certificate authority for clients, every client must show a certificate that it signed.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from otel_toolselect.errors import InputError
from otel_toolselect.receive.watched import Watched


@dataclass(frozen=True, slots=True)
class Loaded:
    """One state of the files: the context of HTTP, the bytes for gRPC. Both were tried."""

    context: ssl.SSLContext
    certificate: bytes
    key: bytes
    client_ca: bytes | None


class Certificates:
    """Safe for threads. Raises InputError when the files cannot be used at the start."""

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None, failed: Callable[[], None]) -> None:
        self.client_ca = client_ca
        paths = (certificate, key) if client_ca is None else (certificate, key, client_ca)
        self._files = Watched(paths, lambda: _load(certificate, key, client_ca), failed)

    def context(self) -> ssl.SSLContext:
        """For a new connection over HTTP."""
        return self._files.get().context

    def loaded(self) -> Loaded:
        """For a new connection over gRPC: the same object as before while nothing changed."""
        return self._files.get()


def _load(certificate: Path, key: Path, client_ca: Path | None) -> Loaded:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"certificate and key ({key}) cannot be used: {_reason(error)}", where=str(certificate)
        ) from None
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except (OSError, ssl.SSLError) as error:
            raise InputError(f"no certificates of authorities: {_reason(error)}", where=str(client_ca)) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return Loaded(
        context, certificate.read_bytes(), key.read_bytes(), client_ca.read_bytes() if client_ca is not None else None
    )


def _no_password() -> str:
    raise InputError("the key is encrypted; write it without a passphrase, for example with openssl pkey -in KEY")


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return error.strerror or str(error)
