"""One browser for the tests of a module, and the page open in it, over the researchers the command has."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from marchwarden.cli.commands.ui import ui_dependencies
from marchwarden.settings import Settings
from tests.ui.deployments import served
from tests.ui.driving import a_library
from tests.ui.tab import Tab


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with Tab.started(tmp_path_factory.mktemp("profile"), 1280, 900) as started:
        yield started


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return a_library(tmp_path)


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    settings = Settings.from_environ({"MARCHWARDEN_HOME": str(home / "home")})
    with served(ui_dependencies(settings, settings.trace_dir)) as there:
        yield there


@pytest.fixture
def page(tab: Tab, address: str) -> Iterator[str]:
    """The page, open; its address without the secret. Whatever a test does there, the browser has nothing to say."""
    tab.resize(1280)
    tab.emulate(prefers_color_scheme="light")
    tab.events.clear()
    tab.visit(address)
    assert tab.evaluate("location.pathname + location.search") == "/"
    yield address.partition("/?")[0]
    said = tab.complaints()
    # Left before its server goes: a stream that ends would be tried again.
    tab.visit("about:blank")
    assert said == []
