import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from marchwarden.contract import Depth
from marchwarden.mcp.client import RemoteResearcher
from marchwarden.researchers.arxiv.server import serve_arxiv
from tests.world.world import World

pytestmark = pytest.mark.slow


async def test_a_server_process_answers_over_stdio(world: World, tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "MARCHWARDEN_HOME": str(tmp_path), **world.environ()}
    remote = RemoteResearcher.stdio([sys.executable, "-m", "marchwarden.researchers.arxiv"], env=environ)
    found = await remote.research("How deep was the scour hole at the eastern pier?", depth=Depth.SHALLOW)
    assert "2.3 metres" in found.answer
    assert (tmp_path / "traces" / f"{found.trace_id}.jsonl").exists()
    assert list((tmp_path / "arxiv").glob("turn-*"))


def test_an_invalid_setting_is_a_usage_error(tmp_path: Path) -> None:
    environ = {"MARCHWARDEN_HOME": str(tmp_path), "MARCHWARDEN_ARXIV_SECONDS": "often"}
    ended = CliRunner().invoke(serve_arxiv, [], env=environ)
    assert ended.exit_code == 2
    assert "MARCHWARDEN_ARXIV_SECONDS" in ended.output
