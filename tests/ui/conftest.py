"""Fixtures: one browser per test module, and the page of `marchwarden ui` opened in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from marchwarden.cli.commands.ui import ui_dependencies
from marchwarden.settings import Settings
from tests.ui.tab import Tab
from tests.ui.ui_server import serve_in_thread
from tests.ui.user_actions import make_library


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with Tab.started(tmp_path_factory.mktemp("profile"), 1280, 900) as started:
        yield started


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_library(tmp_path)


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(home / "home")})
    with serve_in_thread(ui_dependencies(settings, settings.trace_dir)) as url:
        yield url


@pytest.fixture
def page(tab: Tab, address: str) -> Iterator[str]:
    """Open the page and yield its URL without the secret. The browser must log nothing during the test."""
    tab.resize(1280)
    tab.emulate(prefers_color_scheme="light")
    tab.events.clear()
    yield tab.log_in(address)
    logged = tab.console_messages()
    # Leave the page before its server stops: otherwise it would try to reconnect to the event stream.
    tab.visit("about:blank")
    assert logged == []
