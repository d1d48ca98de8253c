"""The cookies of a browser: who it is to forms, its session, what it is told once, its theme."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from otel_toolselect.web.site import Site

_BROWSER_S = 400 * 86_400


class Cookies:
    """Names and ways of setting them. Over TLS the prefix `__Host-` keeps others of the same domain from setting them.

    A session that a token began stays within our own pages (Strict). One of a provider comes with the way back from
    there, so its cookie is Lax: sent when a link elsewhere is followed, never with what such a page posts.
    """

    def __init__(self, site: Site) -> None:
        self._secure = site.secure
        self._path = f"{site.root}/"
        prefix = "__Host-" if site.secure and not site.root else ""
        self.session = f"{prefix}toolselect-session"
        self.browser = f"{prefix}toolselect-browser"
        self.said = f"{prefix}toolselect-said"
        self.oidc = f"{prefix}toolselect-oidc"

    def set_session(self, answer: Response, value: str, seconds: int, *, strict: bool) -> None:
        self._set(answer, self.session, value, seconds, "strict" if strict else "lax")

    def set_browser(self, answer: Response, value: str) -> None:
        self._set(answer, self.browser, value, _BROWSER_S, "lax")

    def set_said(self, answer: Response, value: str) -> None:
        self._set(answer, self.said, value, 60, "lax")

    def set_oidc(self, answer: Response, value: str) -> None:
        self._set(answer, self.oidc, value, 600, "lax")

    def drop(self, answer: Response, name: str) -> None:
        answer.delete_cookie(name, path=self._path, secure=self._secure, httponly=True)

    def _set(self, answer: Response, name: str, value: str, seconds: int, same_site: str) -> None:
        answer.set_cookie(
            name,
            value,
            max_age=seconds,
            path=self._path,
            secure=self._secure,
            httponly=True,
            samesite=same_site,  # type: ignore[arg-type]  # strict or lax
        )


def theme_of(cookies: Mapping[str, str]) -> str:
    """Light or dark when the reader chose; "" follows the system. Set by the page's script."""
    theme = cookies.get("toolselect-theme", "")
    return theme if theme in ("light", "dark") else ""
