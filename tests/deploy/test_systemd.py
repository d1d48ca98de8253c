"""deploy/systemd: systemd itself reads the unit, and its limits fit the settings."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy._files import DEPLOY, OUR_VARIABLES, settings

UNIT = DEPLOY / "systemd" / "toolselect.service"
TEXT = UNIT.read_text("utf-8")
systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


def values(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", TEXT, re.MULTILINE)


@systemd
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    # the program is not installed here under /opt
    unit.write_text(re.sub(r"^ExecStart=.*", "ExecStart=/bin/true", TEXT, flags=re.MULTILINE), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert unit.name not in done.stderr


@systemd
def test_it_is_hardened_by_systemds_own_measure() -> None:
    # tenths: 20 of 100 is "OK", a unit without any of it has about 96
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(UNIT)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout[-300:]


def test_a_stop_may_take_as_long_as_the_spool_needs() -> None:
    (stop,) = values("TimeoutStopSec")
    assert int(stop.removesuffix("s")) > settings(UNIT.with_name("toolselect.toml")).spool.stop_s


def test_variables_exist_and_data_lies_in_the_state_folder() -> None:
    assert set(re.findall(r"TOOLSELECT_[A-Z_]+", TEXT)) <= OUR_VARIABLES
    (folder,) = values("StateDirectory")
    found = settings(UNIT.with_name("toolselect.toml"))
    assert found.receive.spool.startswith(f"/var/lib/{folder}/")
    assert found.store.startswith(f"chdb:///var/lib/{folder}/")
    assert f"/var/lib/{folder}" in values("WorkingDirectory")
