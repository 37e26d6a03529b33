"""The compose file of the operating guide, checked without Docker."""

import re
from pathlib import Path
from typing import Any

import pytest

from marchwarden.cli.commands.worker import worker
from tests.temporal.temporal_server import ROOT

pytestmark = pytest.mark.slow

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")


@pytest.fixture
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "docs/operating/compose.yaml").read_text())["services"]
    return services


def test_the_worker_command_of_the_compose_file_is_valid(services):
    name, *arguments = services["worker"]["command"]
    assert name == "worker"
    with worker.make_context(name, arguments) as context:
        assert context.params["temporal"] == "temporal:7233"
        drain = context.params["drain"]
    assert int(services["worker"]["stop_grace_period"].removesuffix("s")) > drain


def test_the_image_uses_our_dockerfile_and_existing_extras(services):
    build = services["worker"]["build"]
    context = (ROOT / "docs/operating" / build["context"]).resolve()
    assert 'ENTRYPOINT ["marchwarden"]' in (context / "Dockerfile").read_text()
    project = Path(context / "pyproject.toml").read_text()
    for extra in re.findall(r"\w+", build["args"]["EXTRAS"]):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE), extra


def test_services_wait_for_services_with_a_health_check(services):
    for service in services.values():
        for name, wait in service.get("depends_on", {}).items():
            assert wait["condition"] != "service_healthy" or "healthcheck" in services[name]
            if wait["condition"] == "service_completed_successfully":
                assert services[name]["restart"].startswith("on-failure"), f"{name} never ends"


def test_the_file_contains_no_password():
    text = (ROOT / "docs/operating/compose.yaml").read_text()
    for name, value in re.findall(r"(\w*(?:PASSWORD|PWD|KEY)\w*): (.*)", text):
        assert value.startswith("${"), name
