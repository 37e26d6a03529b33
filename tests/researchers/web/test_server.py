import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from marchwarden.contract import Depth
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.researchers.web.server import serve_web
from tests.world.world import World

pytestmark = pytest.mark.slow


async def test_a_server_process_answers_over_stdio(world: World, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "MARCHWARDEN_TRACE_DIR": str(tmp_path), **world.environ()}
    remote = RemoteResearcher.stdio([sys.executable, "-m", "marchwarden.researchers.web"], env=environ)
    found = await remote.research("How long is the main span of the Alder Bridge?", depth=Depth.SHALLOW)
    assert "212 metres" in found.answer
    assert (tmp_path / f"{found.trace_id}.jsonl").exists()


def test_an_invalid_setting_is_a_usage_error(tmp_path: Path) -> None:
    environ = {"MARCHWARDEN_TRACE_DIR": str(tmp_path), "MARCHWARDEN_ALLOW_HOSTS": "everything"}
    ended = CliRunner().invoke(serve_web, [], env=environ)
    assert ended.exit_code == 2
    assert "host:port" in ended.output
