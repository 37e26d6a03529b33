"""`marchwarden ui` as a person starts it: an address that works, and a Ctrl-C that ends it and says what was left."""

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
from tests.ui.deployments import PATIENT

START = (
    "import os; from marchwarden.cli.commands.ui import ui; from marchwarden.settings import Settings;"
    "ui.main(['--no-open', *{arguments}], obj=Settings.from_environ(os.environ))"
)


def started(tmp_path: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", START.format(arguments=list(arguments))],
        env={**bare_environment(), "MARCHWARDEN_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_prints_an_address_that_lets_in_and_ends_quietly_when_told_to(tmp_path):
    with started(tmp_path) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=PATIENT) as answer:
            assert "No API key: the extractive mode is used" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                address.partition("?")[0], timeout=PATIENT
            )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENT)
    assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken_is_refused_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started(tmp_path, "--port", str(port)) as process:
            _, err = process.communicate(timeout=PATIENT)
    assert f"cannot listen on 127.0.0.1:{port}" in err and "choose another address or port" in err
