"""The database researcher as an MCP server in a subprocess, and its usage errors."""

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from marchwarden.mcp.client import RemoteResearcher
from marchwarden.researchers.database.server import serve_database

pytestmark = pytest.mark.slow


async def test_server_answers_over_mcp(shop: Path, tmp_path: Path):
    env = {**os.environ, "MARCHWARDEN_TRACE_DIR": str(tmp_path / "traces"), "MARCHWARDEN_DB": str(shop)}
    remote = RemoteResearcher.stdio([sys.executable, "-m", "marchwarden.researchers.database"], env=env)
    result = await remote.research("How many customers are in Brazil?")
    assert result.answer.startswith("The number of customers whose country is Brazil is 2. [1]")


def test_unknown_database_type_is_a_usage_error():
    ended = CliRunner().invoke(serve_database, ["--db", "ftp://ann:secret@host/shop"])
    assert ended.exit_code == 2
    assert "unknown database type ftp://" in ended.output
    assert "secret" not in ended.output
