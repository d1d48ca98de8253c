"""What docs/access.md shows is what the program reads."""

from __future__ import annotations

import re
from pathlib import Path

from otel_toolselect.config import Limits, load
from otel_toolselect.receive.tokens import Quota, read_tokens

DOCS = Path(__file__).parents[2] / "docs" / "access.md"


def blocks() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)


def test_the_settings(tmp_path) -> None:
    receive, _, limits = blocks()
    path = tmp_path / "toolselect.toml"
    path.write_text(receive + limits, "utf-8")
    settings = load(env={"TOOLSELECT_CONFIG": str(path)})
    assert settings.receive.tokens == "/etc/toolselect/tokens.toml"
    assert settings.limits == Limits()  # it shows the defaults


def test_the_tokens(tmp_path) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(blocks()[1], "utf-8")
    path.chmod(0o600)
    team, prometheus, agents = read_tokens(path)
    assert team.quota == Quota(spans_per_second=500, bytes_per_second=2_000_000, burst_seconds=10)
    assert dict(team.attributes) == {"toolselect.tenant": "team-a"}
    assert prometheus.scopes == {"read"}
    assert (agents.digest, agents.certificate, agents.scopes) == (None, "agents.example.com", {"send"})
