"""`marchwarden ui` as a process: it prints a working address and ends on Ctrl-C."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.in_process import bare_environment
from tests.ui.ui_server import TIMEOUT_SEC

pytestmark = pytest.mark.slow

START = (
    "import os; from marchwarden.cli.commands.ui import ui; from marchwarden.settings import Settings;"
    "ui.main(['--no-open', *{arguments}], obj=Settings.from_environ(os.environ))"
)


def start_ui(tmp_path: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", START.format(arguments=list(arguments))],
        env={**bare_environment(), "MARCHWARDEN_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_printed_address_works_and_ctrl_c_ends_the_command_silently(tmp_path):
    with start_ui(tmp_path) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=TIMEOUT_SEC) as response:
            assert "No API key: using the built-in extractive mode" in response.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                address.partition("?")[0], timeout=TIMEOUT_SEC
            )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_SEC)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_in_use_is_reported_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with start_ui(tmp_path, "--port", str(port)) as process:
            _, err = process.communicate(timeout=TIMEOUT_SEC)
    assert f"cannot listen on 127.0.0.1:{port}" in err and "choose another address or port" in err


def test_an_unwritable_home_folder_is_replaced_while_the_command_runs(tmp_path):
    (tmp_path / "file").touch()
    with start_ui(tmp_path / "file") as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=TIMEOUT_SEC) as response:
            assert "No API key" in response.read().decode()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_SEC)
    assert process.returncode == 0
    (warning,) = err.splitlines()
    assert "Not a directory" in warning and "new runs are kept until this command ends" in warning
